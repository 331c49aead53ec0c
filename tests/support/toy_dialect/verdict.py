"""Whether a toy loop may go on."""

from ledger.fold.state import State
from ledger.fold.verdict import Verdict


def judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by the bell and the card's limit."""
    segment = state.current()
    limit = max_iterations or segment.settings.get("limit", 0)
    word = "concluded" if state.marker else "max_iterations" if 0 < limit <= segment.runs else "continue"
    return Verdict(segment.ordinal, segment.runs, segment.streak.current, state.status, 0, word)
