"""What is under way on a session: refused, or waited for and undone, so that the session can be ended."""

from ledger.base.errors import LedgerError
from ledger.base.locks import is_locked, locked
from ledger.loop.driving.background import inside, live, stop_and_wait
from ledger.loop.iteration import journal
from ledger.loop.iteration.experiment import Say, Step
from ledger.loop.iteration.recovery import abandon
from ledger.loop.project import open_project
from ledger.session.files import RUN_LOCK, Session

FOREVER = 1e9
"""Seconds; Ctrl-C ends the wait."""


def stop_and_finish(session: Session, say: Say) -> None:
    """Ask a live loop to stop, wait for it and for a run, and undo or finish a half-done iteration.

    The loop's own agent and hooks do not wait, since it waits for them.
    """
    stop_and_wait(session, say)
    if inside(session):
        return
    if is_locked(session.side(RUN_LOCK)):
        say("waiting for the ledger run that is measuring here")
    with locked(session.side(RUN_LOCK), FOREVER), open_project(session) as project:
        if project.git.top() is not None:
            abandon(Step(*project, say, lambda name: None, lambda entry: None))


def check_no_run(session: Session) -> None:
    """Raise LedgerError while a run is measuring: what is marked now would come before it in the log."""
    if not inside(session):
        with locked(session.side(RUN_LOCK), 1.0, busy="a ledger run is measuring here; wait for it, or interrupt it"):
            pass


def check_nothing_under_way(session: Session) -> None:
    """Raise LedgerError, with what to do, if something works on the session or left it half done."""
    if (loop := live(session)) is not None:
        raise LedgerError(f"a loop is at work on this session (process {loop.pid}): end it with ledger stop first")
    if is_locked(session.side(RUN_LOCK)):
        raise LedgerError("a run of this session is being measured: wait for it to end")
    if journal.load(session) is not None:
        raise LedgerError("an iteration of this session is half done: ledger run finishes or undoes it first")
