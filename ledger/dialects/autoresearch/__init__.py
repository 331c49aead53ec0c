"""The `autoresearch` protocol: config header, run, status marker, hook record (PROTOCOLS 2)."""

from ledger.dialects.autoresearch import compiled, records
from ledger.dialects.base import Dialect

DIALECT = Dialect(
    "autoresearch",
    records.recognises,
    records.kind_of,
    records.spelled,
    records.parse,
    records.record,
    accept=compiled.accept,
)
