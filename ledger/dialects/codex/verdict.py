"""Whether a `codex` loop may go on (protocols.md 5)."""

from ledger.fold.replay import TERMINAL
from ledger.fold.state import State
from ledger.fold.verdict import Verdict


def judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by the history's last event; its limits stand in run.json, and the tool that owns it ends it."""
    segment = state.current()
    word = "concluded" if state.status in TERMINAL else "continue"
    return Verdict(0, segment.runs, segment.streak.current, state.status, 0, word)
