"""A repair made, and taken back: under the writers' lock, the original kept, the repair written down."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.locks import lock_of, locked
from ledger.base.paths import show_path
from ledger.repair.carried_out import FixedLog, carry_out
from ledger.repair.log_text import Text
from ledger.repair.plan import Item, RepairPlan
from ledger.repair.repairs_made import backup_of, last_repair, note, note_repair, sha256
from ledger.repair.replace import check_replaceable, content, keep_copy, put

Choice = tuple[RepairPlan, Sequence[Item]]
"""A plan and those of its items that are to be carried out."""


def repaired(log: Path, plan: RepairPlan, items: Sequence[Item], dialect: str | None = None) -> FixedLog:
    """Carry a plan's items out in memory. Raises LedgerError if the log is not the one that the plan is for."""
    return _carried(log, Text.read(log, dialect), plan, items, dialect)


def _carried(log: Path, text: Text, plan: RepairPlan, items: Sequence[Item], dialect: str | None) -> FixedLog:
    if not is_for(plan, text):
        raise LedgerError(
            f"{show_path(log)} has changed since the plan was made, or is another log; make the plan again"
        )
    if text.dialect != plan.dialect and dialect is None:
        text = Text.read(log, plan.dialect)  # the plan was made with --dialect
    return carry_out(text, items, plan.options)


def is_for(plan: RepairPlan, text: Text) -> bool:
    """Tell whether a log has the bytes that a plan was made for."""
    return (plan.size, plan.sha256) == (len(text.data), sha256(text.data))


def repair(
    log: Path, plan: RepairPlan, items: Sequence[Item], dialect: str | None = None,
    again: Callable[[Text], Choice] | None = None,
) -> FixedLog:  # fmt: skip
    """Make a repair: nothing is replaced if the outcome has a refusal, or brings about nothing.

    The original is kept beside the log. `again` plans anew for a log that was written to since the plan was made, where
    nobody has seen that plan. Raises LedgerError, the log being as it was, if anything cannot be written.
    """
    if not items:  # which takes neither the lock nor the right to write
        text = Text.read(log, dialect)
        if again is not None and not is_for(plan, text):
            plan, items = again(text)
        if not items:
            return _carried(log, text, plan, items, dialect)
    check_replaceable(log)
    with locked(lock_of(log)):
        text = Text.read(log, dialect)
        if again is not None and not is_for(plan, text):
            plan, items = again(text)
        outcome = _carried(log, text, plan, items, dialect)
        before, after = outcome.before.data, outcome.text.data
        if outcome.refusal is None and before != after:
            keep_copy(log, before, backup_of(log, before))
            note_repair(log, before, after, outcome.done)
            put(log, before, after)
        return outcome


def undo(log: Path) -> Path:
    """Bring back what a log was before its last repair, and give the copy that it came from.

    Raises LedgerError if there was no repair, if the log was written to since, or if the copy is gone or changed.
    """
    check_replaceable(log)
    with locked(lock_of(log)):
        before = content(log)
        last = last_repair(log, before)
        if not last.backup.is_file():
            raise LedgerError(f"the original {show_path(last.backup)} is gone; the repair cannot be undone")
        after = content(last.backup)
        if sha256(after) != last.before:
            raise LedgerError(f"{show_path(last.backup)} is no longer what the log was; the repair is not undone")
        note(log, "undo", before, after)
        put(log, before, after)
        return last.backup
