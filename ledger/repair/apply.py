"""A repair made, and taken back: under the writers' lock, the original kept, the repair written down."""

from collections.abc import Sequence
from pathlib import Path

from ledger.appending import lock_of, locked
from ledger.errors import LedgerError
from ledger.repair.carry import Outcome, carry_out
from ledger.repair.plan import Item, Plan
from ledger.repair.records import backup_of, last_repair, note_repair, note_undo, sha256
from ledger.repair.replace import content, keep_copy, put
from ledger.repair.text import Text
from ledger.source import show_path


def repaired(log: Path, plan: Plan, items: Sequence[Item], dialect: str | None = None) -> Outcome:
    """Carry a plan's items out in memory. Raises LedgerError if the log is not the one that the plan is for."""
    text = Text.read(log, dialect)
    if len(text.data) != plan.size or sha256(text.data) != plan.sha256:
        raise LedgerError(f"{show_path(log)} has changed since the plan was made; make the plan again")
    if text.dialect != plan.dialect and dialect is None:
        text = Text.read(log, plan.dialect)  # the plan was made with --dialect
    return carry_out(text, items, plan.options)


def repair(log: Path, plan: Plan, items: Sequence[Item], dialect: str | None = None) -> Outcome:
    """Make a repair: nothing is replaced if the outcome has a refusal, or brings about nothing.

    The original is kept beside the log. Raises LedgerError, the log being as it was, if anything cannot be written.
    """
    with locked(lock_of(log)):
        outcome = repaired(log, plan, items, dialect)
        before, after = outcome.before, outcome.text.data
        if outcome.refusal is None and before != after:
            keep_copy(log, before, backup_of(log, before))
            note_repair(log, before, after, outcome.done)
            put(log, before, after)
        return outcome


def undo(log: Path) -> Path:
    """Bring back what a log was before its last repair, and give the copy that it came from.

    Raises LedgerError if there was no repair, if the log was written to since, or if the copy is gone or changed.
    """
    with locked(lock_of(log)):
        before = content(log)
        last = last_repair(log, before)
        if not last.backup.is_file():
            raise LedgerError(f"the original {show_path(last.backup)} is gone; the repair cannot be undone")
        after = content(last.backup)
        if sha256(after) != last.before:
            raise LedgerError(f"{show_path(last.backup)} is no longer what the log was; the repair is not undone")
        note_undo(log, before, after)
        put(log, before, after)
        return last.backup
