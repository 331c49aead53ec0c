"""The `autoresearch` protocol: config header, run, status marker, hook record (protocols.md 2)."""

from ledger.dialects.autoresearch import compiled, records, rules
from ledger.dialects.base import Dialect
from ledger.fold.state import Folding
from ledger.log.events import Header, Marker

DIALECT = Dialect(
    __name__,
    "autoresearch",
    records.recognises,
    records.kind_of,
    records.spelled,
    records.parse,
    records.record,
    Folding("autoresearch"),
    subjects=("any", rules.OWN),
    events={"config": Header, "status": Marker},
    accept=compiled.accept,
    spellings=records.SPELLINGS,
    placeholders=("metric",),
    header=records.header,
)
