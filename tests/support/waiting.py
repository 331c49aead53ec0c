"""Wait for what another process does, and look at processes, in the tests of loops at work."""

import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.project import NUMBER, Project, project

PATIENCE = 20.0
LEDGER = f"'{sys.executable}' -m ledger"
"""The command line, for an agent."""

GATED = f"""
number=$(cat {NUMBER})
if [ "$number" = 90 ]; then
  sleep 300 & echo $! > "$HOME/child"
  echo $$ > "$HOME/begun"
  while [ ! -e "$HOME/go" ]; do sleep 0.05; done
fi
"""
"""A benchmark that says when it measures a 90, with a child of its own, and waits until it may go on."""


def twin(template: Project, folder: Path) -> Project:
    """Copy a project, so that a test need not start its own."""
    shutil.copytree(template.folder, folder, symlinks=True)
    made = Project(folder.resolve(), template.dialect)
    made.git("status")  # git looks at the files anew
    return made


def hear_hang_ups() -> None:
    """Make a hang-up end a process that is about to start: under nohup all that the tests start ignore it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def ignore_hang_ups() -> None:
    """Make a process that is about to start ignore a hang-up, as nohup does."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def until(done: Callable[[], object], what: str) -> None:
    """Wait until something is so, and fail if it does not come."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def gate(one: Project, last: str = "echo METRIC total_ms=$number; echo METRIC mem=5\n") -> None:
    """Give a project the gated benchmark, and time enough for it."""
    (one.folder / "bench.sh").write_text(GATED + last)
    (one.folder / ".claude" / "autoresearch-ai-plugin.local.md").write_text("---\nbenchmark_timeout: 30\n---\n")
    one.git("commit", "--quiet", "-am", "bench")


def gated(folder: Path) -> Project:
    """Make a project with the gated benchmark, and its baseline."""
    made = project(folder)
    gate(made)
    assert made.ledger("run", "--baseline").code == 0
    return made


def begun(one: Project) -> None:
    """Wait until the gated benchmark measures."""
    until(lambda: (one.home / "begun").exists() and (one.home / "begun").read_text().strip(), "the benchmark")


def is_dead(file: Path) -> bool:
    """Tell whether the process whose number a file has is gone; one that nobody has buried yet counts as gone."""
    try:
        status = Path("/proc", file.read_text().strip(), "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"
