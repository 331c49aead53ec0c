"""A protocol of nobody's, for tests: what a protocol's folder has to hold, and nothing else. A bout is a run."""

from ledger.dialects.base import Dialect, same
from ledger.fold.state import Folding
from ledger.log.events import Header, Marker
from tests.support.toy_dialect import records, rules

DIALECT = Dialect(
    __name__,
    "toy",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    Folding("toy"),
    subjects=("any", "closed", rules.OWN),
    events={"config": Header, "status": Marker},
)
