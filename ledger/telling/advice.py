"""The advice to who takes a session up again, by its verdict (protocols.md 5, 7)."""

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.text import counted
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.state import State
from ledger.fold.verdict import WALL, Verdict
from ledger.session.files import Session
from ledger.session.history import History


def advice(history: History, session: Session, verdict: Verdict) -> str:
    """Say what who resumes the session has to do, in a sentence or two."""
    if not history.log.ok:
        errors = sum(found.is_error for found in history.log.diagnostics)
        return (
            f"Stop: the log has {counted(errors, 'error')}. Run `ledger check`, tell a person, and go on only once they"
            " are repaired."
        )
    state = history.state
    if verdict.verdict == "concluded":
        return _concluded(state)
    if verdict.verdict == "continue":
        return (
            f"Continue: read {prompt_name(session)}, run `ledger brief`, then make run {next_run(state)}:"
            " change the code in scope and run `ledger run --description TEXT`."
        )
    return f"{_REASONS[verdict.verdict]} {_end(state, verdict)}"


def prompt_name(session: Session) -> str:
    """Name the prompt file, relative to the session's folder."""
    path = session.file("prompt")
    return show_path(path.relative_to(session.folder) if path.is_relative_to(session.folder) else path)


_REASONS = {
    "max_iterations": "Stop: the segment has as many runs as were asked for.",
    "max_minutes": "Stop: the time is up.",
    "wall": f"Stop: more than {WALL} runs in a row failed, so this direction is stuck.",
    "backstop": "Pause: a loop without a limit asks a person before it goes on.",
}


def _concluded(state: State) -> str:
    """Say how the session was concluded, and the one way on that the writers leave open."""
    try:
        policy_of(state).check_open(state)
    except LedgerError as closed:
        said = str(closed)
        return f"Do not resume without being asked to: {said}."
    return "Do not resume without being asked to: the session is concluded."


def _end(state: State, verdict: Verdict) -> str:
    """Say what to write down about a loop that has to stop."""
    if verdict.verdict == "backstop":
        return f"Once told to go on: `ledger mark running --backstop-ack {verdict.segment_runs}`."
    return policy_of(state).say_report(verdict.verdict)
