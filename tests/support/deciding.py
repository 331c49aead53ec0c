"""Write down what people decided about a log, as `review` and `repair` do, by one person at one time."""

from pathlib import Path
from typing import Any

from ledger.reading import accepted
from ledger.reading.accepted import Acceptance
from ledger.reading.side_files import add_record
from ledger.reading.whole_log import read_log

BY, AT = "ada", "2026-01-02T03:04:05.000Z"


def accept(log: Path, *codes: str, reason: str = "known") -> None:
    """Accept the findings of these codes, or all."""
    found = [one for one in read_log(log).diagnostics if one.code in codes or not codes]
    for (_, line, _), key in sorted(accepted.keys_of(log, found).items(), key=lambda pair: pair[0][1:]):
        add_record(log, accepted.WHAT, accepted.record_of("accept", Acceptance(key, line, reason, BY, AT)))


def drop(log: Path, *codes: str) -> None:
    """Take the decisions on these codes back."""
    for key, made in accepted.read(log).items():
        if key.code in codes:
            add_record(log, accepted.WHAT, accepted.record_of("drop", made))


def note_repair(log: Path, action: str = "repair") -> None:
    """Tell of a repair."""
    items: list[Any] = [{"code": "L106", "line": 3, "applicability": "unsafe", "description": "write 0"}]
    hashes = {"before": "0" * 64, "after": "f" * 64, "backup": f"{log.name}.00000000.bak"}
    record = {"action": action, "at": AT, "by": BY, **hashes, "items": items}
    add_record(log, "repairs", record)
