"""A real browser for the pages: the chromium of the system, driven by Playwright; what it says and asks for is kept."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.opened import Opened, opened

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser, once a process; tests that need it are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        yield started
        started.close()


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
