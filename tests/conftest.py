"""What every test process needs before it starts others, and the mirror that property tests share."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mirroring import Mirror, mirror_at

# Under nohup, or in the background of a script, SIGINT is ignored, and every child would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    with mirror_at(tmp_path_factory.mktemp("mirror") / "mirror.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs").resolve()
