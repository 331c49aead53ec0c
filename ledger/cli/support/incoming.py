"""What people accepted of a log that git is merging, on either of its branches."""

import os
from collections.abc import Iterator
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.loop.git.repository import Git
from ledger.reading import accepted
from ledger.reading.accepted import Acceptance, Key

_HEAD = "GITHEAD_"


def decisions_on(path: str) -> dict[Key, Acceptance]:
    """Read the decisions on a log, named from the repository's top, which is the current folder for a merge driver.

    Those of our branch stand in the working tree; those of the other are still in its commits. Raises LedgerError for
    a file of decisions that cannot be read.
    """
    log = Path(path)
    found = accepted.read(log)
    git = Git(Path.cwd())
    for commit in _incoming(git):
        if (data := git.blob(commit, accepted.file_of(log).as_posix())) is not None:
            found = {**accepted.in_force(accepted.file_of(log), data), **found}
    return found


def _incoming(git: Git) -> Iterator[str]:
    """Name the commits that are merged, as far as git tells a driver: a merge by its environment, a rebase by a file.

    While it picks a commit it tells nothing.
    """
    yield from (name.removeprefix(_HEAD) for name in os.environ if name.startswith(_HEAD))
    try:
        tip = git.private() / "rebase-merge" / "orig-head"
    except LedgerError:  # called by hand, outside of any repository
        return
    if tip.is_file():
        yield tip.read_text("ascii").strip()
