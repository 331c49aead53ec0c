"""The `autoresearch` protocol: config header, run, status marker, hook record (protocols.md 2)."""

from typing import TYPE_CHECKING

from ledger.dialects.autoresearch import compiled, records
from ledger.dialects.base import Dialect

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


def _policy() -> "Policy":
    from ledger.dialects.autoresearch.policy import POLICY

    return POLICY


DIALECT = Dialect(
    "autoresearch",
    records.recognises,
    records.kind_of,
    records.spelled,
    records.parse,
    records.record,
    _policy,
    accept=compiled.accept,
)
