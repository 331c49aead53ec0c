"""The `autoresearch` protocol: config header, run, status marker, hook record (protocols.md 2)."""

from ledger.dialects.autoresearch import compiled, records, rules
from ledger.dialects.base import Dialect
from ledger.fold.state import Folding, State
from ledger.fold.verdict import BACKSTOP, CONCLUDED, WALL, Verdict
from ledger.log.events import Header, Marker


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
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


DIALECT = Dialect(
    __name__,
    "autoresearch",
    records.recognises,
    records.kind_of,
    records.spelled,
    records.parse,
    records.record,
    _judge,
    Folding("autoresearch"),
    subjects=("any", rules.OWN),
    events=(Header, Marker),
    accept=compiled.accept,
    spellings=records.SPELLINGS,
    placeholders=("metric",),
    header=records.header,
)
