"""What people decide about a log: a file beside it, one JSON object a line, only ever added to, to be committed."""

from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import append, create
from ledger.base.paths import show_path
from ledger.log.jsontext import decode, dump
from ledger.log.source import DECISIONS, read_small

AUTHORED = (".repairs.jsonl", DECISIONS, ".bak")
"""What the names of the files end with that hold what people decided about a log, or repaired in it."""


def side_file(log: Path, what: str) -> Path:
    """Name a log's side file: `autoresearch.jsonl.accepted.jsonl` holds what is `accepted` of `autoresearch.jsonl`."""
    return log.with_name(f"{log.name}.{what}.jsonl")


def records(path: Path, data: bytes) -> list[tuple[int, dict[str, Any]]]:
    """Read the records of a side file with these bytes, each with its line.

    Raises LedgerError for a line that is no object: what people decided is never skipped in silence.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        decoded = decode(line.strip())
        if decoded.notes or not isinstance(decoded.value, dict):
            raise LedgerError(f"{show_path(path)}:{number} is no record of one JSON object; mend or remove the line")
        found.append((number, decoded.value))
    return found


def add_record(log: Path, what: str, record: dict[str, Any]) -> None:
    """Add a record at the end of a log's side file, durably; the caller holds the log's lock. Raises LedgerError.

    A new one may be read and written by whom the log may be.
    """
    path = side_file(log, what)
    line = dump(record).encode() + b"\n"
    data = read_small(path)
    if data is None:
        create(path, line, mode_beside(log))
    else:
        append(path, line if data.endswith(b"\n") or not data else b"\n" + line, len(data))


def mode_beside(log: Path) -> int:
    """Give the mode of a file that tells what is in a log: the log's own, as that of a file that is written to."""
    return log.stat().st_mode & 0o666 | 0o200


def whoami() -> str:
    """Give the name that this process's user goes by; a number where the system knows none."""
    import getpass
    import os

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"
