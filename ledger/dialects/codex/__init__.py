"""The `codex` protocol: run.json, and the events of its history (PROTOCOLS 4)."""

from ledger.dialects.base import Dialect, same
from ledger.dialects.codex import records

DIALECT = Dialect(
    "codex",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    strict=True,
)
