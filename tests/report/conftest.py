"""Pages in the real browser; what it says and asks for is kept."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.opened import Opened, opened


@pytest.fixture
def page(browser: Any) -> Iterator[Opened]:
    """Give a page to open files in; that it was quiet, and stayed on the disk, is asserted at the end."""
    with opened(browser) as one:
        yield one
        assert one.quiet()


@pytest.fixture
def phone(browser: Any) -> Iterator[Opened]:
    """Give such a page on a narrow screen, in the dark."""
    with opened(browser, viewport={"width": 360, "height": 740}, color_scheme="dark") as one:
        yield one
        assert one.quiet()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages").resolve()
