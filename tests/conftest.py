"""What every test process needs before it starts others, and what tests share: mirrors, a server, a real browser."""

import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from ledger.mirror.location import Location, mirror_location
from tests.support import cli, postgres
from tests.support.mirroring import Mirror, mirror_at
from tests.support.programs import need, pytest_configure, pytest_runtest_setup, pytest_sessionfinish  # noqa: F401 - hooks

# Under nohup, or in the background of a script, SIGINT is ignored, and every child would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is, not whether what is claimed holds.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the chromium of the system, once a process."""
    program = need("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Postgres]:
    """Run a PostgreSQL server, once a process; tests that need it are skipped where none can be had."""
    postgres.need()
    with postgres.running() as started:
        yield started


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_mirror(request: pytest.FixtureRequest) -> Callable[[Path], Location]:
    """Give what makes a place for a mirror: a file in a folder, or a database of the server."""
    if request.param == "sqlite":
        return lambda folder: folder / "mirror.db"
    server: postgres.Postgres = request.getfixturevalue("server")
    return lambda _: mirror_location(server.database())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def mirror_of(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Say where the mirror of a folder's commands is: a file in it, or a database of the server for each folder."""
    if request.param == "sqlite":
        return cli.mirror_of
    server: postgres.Postgres = request.getfixturevalue("server")
    return cache(lambda folder: server.database(filled=False))


@pytest.fixture
def each_mirror(mirror_of: Callable[[Path], str]) -> Iterator[None]:
    """Let a test's commands use either kind of mirror."""
    with cli.mirrors_at(mirror_of):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Drop the second run, on a server, of a test that is about a mirror's file."""
    items[:] = [
        item
        for item in items
        if not (
            item.get_closest_marker("of_a_file")
            and isinstance(item, pytest.Function)
            and item.callspec.params.get("mirror_of") == "postgresql"
        )
    ]


@pytest.fixture(scope="module")
def mirror(new_mirror: Callable[[Path], Location], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    with mirror_at(new_mirror(tmp_path_factory.mktemp("mirror"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs").resolve()
