"""The verdict on a session, with the limit that its settings state (protocols.md 5)."""

from ledger.dialects import of
from ledger.fold.state import State
from ledger.fold.verdict import Verdict
from ledger.session.files import Session


def judge_session(state: State, session: Session | None, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge a session; `max_iterations` is an option's (0: no limit), None leaves it to the settings.

    A log without a session, as standard input is, has no settings. A header's `max_runs` yields to an explicit option
    only. `now_ms` is UTC milliseconds.
    """
    if session is not None and max_iterations is None and "max_runs" not in state.current().settings:
        max_iterations = session.settings.max_iterations
    return of(state).judge(state, max_iterations, now_ms)
