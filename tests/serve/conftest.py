"""The browser that the tests of the written pages drive too, here with a server; and logs to serve."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import HEADER, SAMPLES, lines, log, run
from tests.support.opened import Opened, opened
from tests.support.serving import Server, served

HOSTILE = "</script><script>alert(1)</script>\"'\u202eevil\x1b[31m"


@pytest.fixture
def tab(browser: Any) -> Iterator[Opened]:
    with opened(browser) as one:
        yield one


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of logs: a good one, a damaged one, one with names that would like to be markup, an empty one."""
    top = tmp_path_factory.mktemp("served").resolve()
    log(top / "good", lines(HEADER, run(1, 100), run(2, 104.5, "discard"), run(3, 90)))
    log(top / "bad", lines(HEADER | {"name": "bad"}, run(1, 100), b'{"run":2,"metric":NaN}'))
    header = HEADER | {"name": HOSTILE, "metricName": HOSTILE, "metricUnit": "<i>"}
    log(top / "<b>hostile", lines(header, run(1, 5, description=HOSTILE, asi={HOSTILE: HOSTILE})))
    log(top / "empty", b"")
    for name in ("events.jsonl", "run.json"):
        data = (SAMPLES / "table-reader" / "autoresearch-results" / name).read_bytes()
        log(top / "codex", data, f"autoresearch-results/{name}")
    return top


@pytest.fixture(scope="module")
def server(logs: Path) -> Iterator[Server]:
    with served(logs, ".") as one:
        yield one
