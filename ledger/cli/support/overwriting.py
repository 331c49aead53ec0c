"""What `-o` never replaces: a mirror, a log of another session, what people authored beside logs."""

from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.cli.support.output import shown
from ledger.reading.side_files import AUTHORED

_DATABASE = b"SQLite format 3\0"
_HEAD = 1 << 16


def check_overwriting(target: Path, source: Path | None = None) -> None:
    """Raise LedgerError if a file is too good to be replaced; a log that begins as `source` does may be."""
    place = canonical(target)
    if not place.is_file():
        return
    with place.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(_DATABASE) or place.name == "run.json" or place.name.endswith(AUTHORED):
        raise LedgerError(f"{shown(target)} is no place for this: it may hold what nothing else has; name another file")
    if place.suffix == ".jsonl" and head.startswith(b"{"):
        if source is not None:
            with source.open("rb") as file:
                if file.read(_HEAD).split(b"\n", 1)[0] == head.split(b"\n", 1)[0]:
                    return
        raise LedgerError(f"{shown(target)} holds another log; name another file, or remove that first")
