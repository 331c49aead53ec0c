"""How a loop ends: which marker its log gets, and the status that it prints (PROTOCOLS 7)."""

from typing import NamedTuple

from ledger.base.times import now_ms
from ledger.fold.state import State
from ledger.fold.verdict import Verdict
from ledger.loop.iteration.experiment import Say
from ledger.session import new_records
from ledger.session.files import Session
from ledger.session.history import History
from ledger.session.writer import concluded, writing
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
_BY_CONCLUSION = {
    "done": "DONE",
    "cancelled": "CANCELLED",
    "wall": "WALL",
    "blocked": "BLOCKED",
    "complete": "DONE (complete)",
    "stopped": "DONE (stopped)",
    "error": "ERROR",
    "stopped by a decision": "DONE (stop)",
}


def closed(state: State, verdict: Verdict, max_iterations: int | None) -> Ending | None:
    """Say how a loop has to end; None while it may go on.

    A codex run is limited by run.json; an option may end it earlier.
    """
    if verdict.verdict in _BY_VERDICT:
        return _BY_VERDICT[verdict.verdict]
    if (how := concluded(state)) is not None:
        if state.dialect == "codex" and how == "stopped" and _is_spent(state):
            return Ending("DONE (max_iterations)")
        return Ending(_BY_CONCLUSION[how])
    if state.dialect == "codex" and max_iterations and state.current().runs >= max_iterations:
        return Ending("DONE (max_iterations)", "done", f"max_iterations: {max_iterations} by option")
    return None


def _is_spent(state: State) -> bool:
    limit = (state.replay.config or {}).get("max_iterations")
    return type(limit) is int and state.replay.iterations[0] >= limit


def close(session: Session, history: History, ending: Ending, verdict: Verdict, say: Say) -> Ending:
    """Append the marker of an ending; a state-protocol log has none, since its verdict follows from its records."""
    if not ending.marker:
        return ending
    with writing(history) as pen:
        state = pen.state
        if state.dialect == "state-protocol" or concluded(state) is not None:
            return ending
        if state.dialect == "codex":
            pen.append(new_records.ending(state, "stopped", ending.reason or ending.status, now_ms()))
        else:
            ack = verdict.segment_runs if verdict.verdict == "backstop" else None
            pen.append(new_records.marker(state, ending.marker, now_ms(), ack, ending.reason or None))
        if problem := snapshots.refresh(session, pen.history):
            say(problem)
    return ending
