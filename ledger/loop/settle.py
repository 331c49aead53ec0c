"""Wait until nothing is under way on a session, and undo what a kill left undecided: then it can be ended."""

from ledger.appending import is_locked, locked
from ledger.loop.attempt import LOCK
from ledger.loop.background import inside, stop_and_wait
from ledger.loop.git import Git
from ledger.loop.iterate import Say, Step
from ledger.loop.recover import abandon
from ledger.loop.session import Session

FOREVER = 1e9
"""Seconds; Ctrl-C ends the wait."""


def settle(session: Session, say: Say) -> None:
    """Ask a live loop to stop, wait for it and for a run, and undo or finish a half-done iteration.

    The loop's own agent and hooks do not wait, since it waits for them.
    """
    stop_and_wait(session, say)
    if inside(session):
        return
    if is_locked(session.side(LOCK)):
        say("waiting for the ledger run that is measuring here")
    with locked(session.side(LOCK), FOREVER):
        git = Git(session.workdir, session.own())
        if git.top() is not None:
            abandon(Step(session, git, say, lambda name: None, lambda entry: None))


def check_quiet(session: Session) -> None:
    """Raise LedgerError while a run is measuring: what is marked now would come before it in the log."""
    if not inside(session):
        with locked(session.side(LOCK), 1.0, busy="a ledger run is measuring here; wait for it, or interrupt it"):
            pass
