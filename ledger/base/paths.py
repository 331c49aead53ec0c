"""Paths and addresses as they are shown, and as they name one file whichever way it is reached."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ledger.base.errors import LedgerError, reason_of

_PASSWORD = re.compile(r"^(?P<before>[^:/?#]+://[^:/?#]*):.*@", re.DOTALL)
_SECRET_PARAMETER = re.compile(r"(?<=[?&])(?:ssl)?password=[^&]*&?", re.IGNORECASE)


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


def without_password(address: str) -> str:
    """Take the password out of an address as it was typed; a path, and an address without one, stay as they are."""
    if "://" not in address:
        return address
    bare = _SECRET_PARAMETER.sub("", _PASSWORD.sub(r"\g<before>@", address))
    return bare if bare == address else bare.rstrip("?&")


def for_others(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the environment for programs that are not ours: what they measure or print must not hold the password."""
    mirror = environment.get("LEDGER_DB")
    return dict(environment) if mirror is None else {**environment, "LEDGER_DB": without_password(mirror)}
