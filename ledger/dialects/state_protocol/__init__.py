"""The `state-protocol` protocol: config with a schema version, results, decisions (protocols.md 3)."""

from typing import TYPE_CHECKING

from ledger.dialects.base import Dialect, same
from ledger.dialects.state_protocol import records

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


def _policy() -> "Policy":
    from ledger.dialects.state_protocol.policy import POLICY

    return POLICY


DIALECT = Dialect(
    "state-protocol",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _policy,
)
