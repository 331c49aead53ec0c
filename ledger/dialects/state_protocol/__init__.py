"""The `state-protocol` protocol: config with a schema version, results, decisions (protocols.md 3)."""

from ledger.dialects.base import Dialect, same
from ledger.dialects.state_protocol import records, rules  # noqa: F401 - the rules register themselves
from ledger.fold.state import Folding
from ledger.log.events import Decision, Header

DIALECT = Dialect(
    __name__,
    "state-protocol",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    Folding("state-protocol", decides_later=True),
    subjects=("any", "closed"),
    events={"config": Header, "decision": Decision},
    refuses_events=True,
    watches_clock=True,
    placeholders=("value", "median"),
    header=records.header,
)
