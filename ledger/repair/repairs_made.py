"""The side file that tells of a log's repairs: when, by whom, what was done, and the bytes before and after."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.times import iso, now_ms
from ledger.log.source import read_small
from ledger.reading.side_files import add_record, records, side_file, whoami
from ledger.repair.plan import Item


class Repair(NamedTuple):
    """Hold what undoing a repair needs: the SHA-256 of the log before it, and the copy that was kept."""

    before: str
    backup: Path


def backup_of(log: Path, data: bytes) -> Path:
    """Name the copy of a log with this content."""
    return log.with_name(f"{log.name}.{sha256(data)[:8]}.bak")


def sha256(data: bytes) -> str:
    """Hash bytes as everything about repairs does."""
    return hashlib.sha256(data).hexdigest()


def note_repair(log: Path, before: bytes, after: bytes, items: Sequence[Item]) -> None:
    """Write down a repair that is about to be made.

    It comes first, so that no repaired log is without its record; one whose `after` never came to be was interrupted.
    """
    done = [
        {
            "code": item.found[0].code,
            "line": item.line,
            "findings": [{"code": one.code, "line": one.line} for one in item.found],
            "applicability": item.fix.applicability.value,
            "description": item.fix.description.encode("utf-8", "replace").decode(),
        }
        for item in items
    ]
    note(log, "repair", before, after, backup=backup_of(log, before).name, items=done)


def note(log: Path, action: str, before: bytes, after: bytes, **more: Any) -> None:
    """Write down that a repair is about to be made (`repair`), or taken back (`undo`)."""
    record = {
        "action": action, "at": iso(now_ms()), "by": whoami(), "before": sha256(before), "after": sha256(after),
        "before_size": len(before), "after_size": len(after), **more,
    }  # fmt: skip
    add_record(log, "repairs", record)


def last_repair(log: Path, data: bytes) -> Repair:
    """Find the repair that made a log what it is. Raises LedgerError if there is none, or it was written to since."""
    digest, file, any_repair = sha256(data), side_file(log, "repairs"), False
    found: Repair | None = None
    for number, record in records(file, read_small(file) or b""):
        if record.get("action") != "repair":
            continue
        texts = [record.get(key) for key in ("before", "after", "backup")]
        if not all(isinstance(text, str) and text for text in texts) or Path(str(texts[2])).name != texts[2]:
            raise LedgerError(f"{show_path(file)}:{number} is no record of a repair; mend or remove the line")
        any_repair = True
        if record["after"] == digest:
            found = Repair(record["before"], log.with_name(record["backup"]))
    if found is None:
        name = show_path(log)
        if any_repair:
            raise LedgerError(
                f"{name} is not as a repair left it: its repair is undone already, or undoing it would lose what came"
                " since; the originals stand beside it, as .bak files"
            )
        raise LedgerError(f"there is no repair of {name} to undo")
    return found
