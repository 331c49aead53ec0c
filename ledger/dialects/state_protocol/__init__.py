"""The `state-protocol` protocol: config with a schema version, results, decisions (PROTOCOLS 3)."""

from ledger.dialects.base import Dialect, same
from ledger.dialects.state_protocol import records

DIALECT = Dialect(
    "state-protocol",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
)
