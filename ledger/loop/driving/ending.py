"""How a loop ends: which record its log gets, and the status that it prints (protocols.md 7)."""

from typing import NamedTuple

from ledger.base.times import now_ms
from ledger.dialects import policy_of
from ledger.fold.state import State
from ledger.fold.verdict import Verdict
from ledger.loop.iteration.experiment import Say
from ledger.session.files import Session
from ledger.session.history import History
from ledger.session.writer import writing
from ledger.telling import snapshots


class Ending(NamedTuple):
    """Hold the status, the marker that goes with it (empty: none), why, and whether Ctrl-C was the reason."""

    status: str
    marker: str = ""
    reason: str = ""
    interrupted: bool = False


_BY_VERDICT = {
    "max_iterations": Ending("DONE (max_iterations)", "done", "max_iterations"),
    "max_minutes": Ending("DONE (max_minutes)", "done", "max_minutes"),
    "wall": Ending("WALL", "wall"),
    "backstop": Ending("BACKSTOP", "running"),
}


def closed(state: State, verdict: Verdict, max_iterations: int | None) -> Ending | None:
    """Say how a loop has to end; None while it may go on.

    Where the verdict heeds no option, the option's limit may end it earlier.
    """
    if verdict.verdict in _BY_VERDICT:
        return _BY_VERDICT[verdict.verdict]
    policy = policy_of(state)
    if policy.concluded(state) is not None:
        return Ending(policy.final_status(state))
    if not policy.verdict_takes_limit and max_iterations and state.current().runs >= max_iterations:
        return Ending("DONE (max_iterations)", "done", f"max_iterations: {max_iterations} by option")
    return None


def close(session: Session, history: History, ending: Ending, verdict: Verdict, say: Say) -> Ending:
    """Append the record of an ending, unless the session is concluded or the verdict follows without it."""
    if not ending.marker:
        return ending
    with writing(history) as pen:
        state = pen.state
        policy = policy_of(state)
        if policy.concluded(state) is not None:
            return ending
        ack = verdict.segment_runs if verdict.verdict == "backstop" else None
        made = policy.end(state, ending.marker, ending.reason, now_ms(), ack)
        if made is None:
            return ending
        pen.append(made)
        if problem := snapshots.refresh(session, pen.history):
            say(problem)
    return ending
