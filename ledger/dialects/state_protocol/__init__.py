"""The `state-protocol` protocol: config with a schema version, results, decisions (protocols.md 3)."""

from ledger.base.numbers import decimal
from ledger.dialects.base import Dialect, same
from ledger.dialects.state_protocol import records, rules  # noqa: F401 - the rules register themselves
from ledger.fold.state import Folding, State
from ledger.fold.verdict import WALL, Verdict
from ledger.log.events import Decision, Header


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by the header's limits; a limit of iterations that a person set holds in the place of its own."""
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


DIALECT = Dialect(
    __name__,
    "state-protocol",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _judge,
    Folding("state-protocol", decides_later=True),
    subjects=("any", "closed"),
    events=(Header, Decision),
    refuses_events=True,
    watches_clock=True,
    placeholders=("value", "median"),
    header=records.header,
)
