"""A protocol of nobody's, for tests: what a protocol's folder has to hold, and nothing else. A bout is a run."""

from ledger.dialects.base import Dialect, same
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Header, Marker
from tests.support.toy_dialect import records, rules


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by the bell and the card's limit."""
    segment = state.current()
    limit = max_iterations or segment.settings.get("limit", 0)
    word = "concluded" if state.marker else "max_iterations" if 0 < limit <= segment.runs else "continue"
    return Verdict(segment.ordinal, segment.runs, segment.streak.current, state.status, 0, word)


DIALECT = Dialect(
    __name__,
    "toy",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _judge,
    Folding("toy"),
    subjects=("any", "closed", rules.OWN),
    events=(Header, Marker),
)
