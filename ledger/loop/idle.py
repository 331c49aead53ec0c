"""A session that nothing works on: what rearranges it waits until no loop runs and no iteration is half done."""

from ledger.appending import is_locked
from ledger.errors import LedgerError
from ledger.loop import journal
from ledger.loop.attempt import LOCK
from ledger.loop.background import live
from ledger.loop.session import Session


def check_idle(session: Session) -> None:
    """Raise LedgerError, with what to do, if something works on the session or left it half done."""
    if (loop := live(session)) is not None:
        raise LedgerError(f"a loop is at work on this session (process {loop.pid}): end it with ledger stop first")
    if is_locked(session.side(LOCK)):
        raise LedgerError("a run of this session is being measured: wait for it to end")
    if journal.load(session) is not None:
        raise LedgerError("an iteration of this session is half done: ledger run finishes or undoes it first")
