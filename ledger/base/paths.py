"""Paths as they are shown, and as they name one file whichever way it is reached."""

import os
from pathlib import Path

from ledger.base.errors import LedgerError, reason_of


def show_path(path: Path | str) -> str:
    """Write a path so that no byte of it can fool a terminal or break a line."""
    return visible(os.fsencode(path).decode("utf-8", "backslashreplace"))


def visible(text: str) -> str:
    """Write what cannot be seen in a text as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def canonical(path: Path) -> Path:
    """Give the path that is a log's identity: absolute, links resolved."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise LedgerError(f"cannot read {show_path(path)}: its symbolic links form a loop") from None


def cannot_write(path: Path, error: OSError, then: str = "") -> LedgerError:
    """Say that a file cannot be written, why, and in `then` what became of it."""
    return LedgerError(f"cannot write {show_path(path)}: {reason_of(error)}{then}")
