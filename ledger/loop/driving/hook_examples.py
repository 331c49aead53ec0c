"""The example hooks that come with the program: scripts to start from, one for each pattern (protocols.md 7)."""

import os
from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import cannot_write, show_path
from ledger.loop.driving.hooks import STAGES
from ledger.session.files import Session

FOLDER = Path(__file__).with_name("examples")


class Example(NamedTuple):
    """Name a script, the stage whose hook it is, and its purpose, which is the first line of its header comment."""

    name: str
    stage: str
    purpose: str
    path: Path


def list_examples() -> list[Example]:
    """List the examples by stage and name."""
    found = []
    for stage in STAGES:
        for path in sorted((FOLDER / stage).glob("*.sh")):
            header = path.read_text("utf-8").splitlines()[1]
            found.append(Example(path.stem, stage, header.partition(": ")[2], path))
    return found


def find(name: str) -> Example:
    """Find an example. Raises LedgerError, naming all, if there is none of this name."""
    known = {example.name: example for example in list_examples()}
    if name not in known:
        raise LedgerError(f"there is no example {name!r}; there are {', '.join(known)}")
    return known[name]


def install(session: Session, example: Example) -> Path:
    """Make an example the session's hook of its stage and give the hook's path.

    Raises LedgerError if the stage has a hook, in either of the folders that hooks are looked for in.
    """
    target, there = session.folder / session.layout.hooks / f"{example.stage}.sh", session.hook(example.stage)
    if (taken := next((path for path in (there, target) if os.path.lexists(path)), None)) is not None:
        raise LedgerError(
            f"{show_path(taken)} is there already and stays as it is;"
            f" move it away first, or add what you want of ledger hook examples --show {example.name}"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o777)
        with os.fdopen(descriptor, "wb") as file:
            file.write(example.path.read_bytes())
    except OSError as error:
        raise cannot_write(target, error) from None
    return target
