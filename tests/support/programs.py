"""The programs that tests drive and pip cannot bring: a test that needs one says so here, and is skipped without it.

`scripts/system` installs them. Where CI=true says that they must all be there, such a test fails instead.
"""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

import pytest

_REASON = "needs {}, which scripts/system installs"
_ELSEWHERE = {
    "chromium": (
        "chromium-browser",
        "google-chrome",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ),
    "soffice": ("/Applications/LibreOffice.app/Contents/MacOS/soffice",),
}
"""Other names and places of a program, as scripts/system knows them too."""


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test that drives these programs."""
    return pytest.mark.needs(*names)


def need(name: str) -> str:
    """Give the path of a program, for a fixture or a test that is to drive it."""
    found = (shutil.which(place) for place in (name, *_ELSEWHERE.get(name, ())))
    return next(filter(None, found), None) or lack(name)


def lack(name: str) -> NoReturn:
    """Skip the test that is running for want of a program; fail it with CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, but {name} is not installed; scripts/system installs it", pytrace=False)
    pytest.skip(_REASON.format(name))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*programs): about programs that scripts/system installs")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            need(name)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Say last of all, below the line that counts, how many tests were skipped for want of which programs."""
    yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not session.config.option.collectonly:
        terminal.write_line(_told(terminal.stats.get("skipped", [])))


def _told(skipped: list[pytest.TestReport]) -> str:
    reasons = [one.longrepr[2] for one in skipped if isinstance(one.longrepr, tuple)]
    stated = re.compile(_REASON.format(r"(\S+)"))
    lacking = Counter(found[1] for reason in reasons if (found := stated.search(reason)))
    if not lacking:
        return "0 tests were skipped for want of a program."
    names = ", ".join(f"{name} ({count})" for name, count in sorted(lacking.items()))
    return f"{lacking.total()} tests were skipped for want of a program; scripts/system installs it: {names}."
