"""Whether an `autoresearch` loop may go on (protocols.md 5)."""

from ledger.fold.state import State
from ledger.fold.verdict import BACKSTOP, CONCLUDED, WALL, Verdict


def judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by what follows the last header, in the segment that the last run states; no limit of its own."""
    limit = max_iterations or 0
    region = state.region
    runs, streak = region.runs.get(region.stated, 0), region.streak
    if region.last_status in CONCLUDED:
        word = "concluded"
    elif 0 < limit <= runs:
        word = "max_iterations"
    elif streak > WALL:
        word = "wall"
    elif not limit and runs and runs % BACKSTOP == 0 and region.backstop_ack < runs:
        word = "backstop"
    else:
        word = "continue"
    return Verdict(region.stated, runs, streak, region.last_status or "none", region.backstop_ack, word)
