"""What a loop acts on: whether it may go on (protocols.md 5). Each protocol judges by rules of its own."""

from typing import NamedTuple

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


def lines(verdict: Verdict) -> str:
    """Write the six lines that a shell can read, `NAME=value` each."""
    return "".join(f"{name.upper()}={value}\n" for name, value in verdict._asdict().items())
