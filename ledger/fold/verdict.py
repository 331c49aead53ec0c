"""Say whether the loop may go on (protocols.md 5)."""

from typing import NamedTuple

from ledger.base.numbers import decimal
from ledger.fold.replay import TERMINAL
from ledger.fold.state import State

CONCLUDED = frozenset(("done", "cancelled", "wall", "blocked"))
WALL = 8
"""More failed runs in a row than this are a wall."""
BACKSTOP = 200
"""An unlimited loop asks a person each time a segment has this many more runs."""


class Verdict(NamedTuple):
    """Hold the six values that a loop acts on, in the order they are printed; `verdict` is `continue` or why not."""

    segment: int
    segment_runs: int
    streak: int
    last_status: str
    backstop_ack: int
    verdict: str


def judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge a folded log. `max_iterations` is that of the options or settings: 0 is no limit, None nobody's word.

    `now_ms` is UTC milliseconds; only a state-protocol log with a limit of minutes asks for it.
    """
    if state.dialect == "codex":
        return _judge_codex(state)
    if state.dialect == "state-protocol":
        return _judge_state_protocol(state, max_iterations, now_ms)
    return _judge_autoresearch(state, max_iterations or 0)


def _judge_autoresearch(state: State, limit: int) -> Verdict:
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


def _judge_state_protocol(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    segment = state.current()
    runs, streak = segment.runs, segment.streak.current
    limit = segment.settings.get("max_runs", 0) if max_iterations is None else max_iterations
    minutes, start = decimal(segment.settings.get("max_minutes", 0)), segment.created_ms
    if state.stopped:
        word = "concluded"
    elif 0 < limit <= runs:
        word = "max_iterations"
    elif minutes and start is not None and now_ms - start >= minutes * 60_000:
        word = "max_minutes"
    elif streak > WALL:
        word = "wall"
    else:
        word = "continue"
    return Verdict(0, runs, streak, "none", 0, word)


def _judge_codex(state: State) -> Verdict:
    segment = state.current()
    word = "concluded" if state.status in TERMINAL else "continue"
    return Verdict(0, segment.runs, segment.streak.current, state.status, 0, word)


def lines(verdict: Verdict) -> str:
    """Write the six lines that a shell can read, `NAME=value` each."""
    return "".join(f"{name.upper()}={value}\n" for name, value in verdict._asdict().items())
