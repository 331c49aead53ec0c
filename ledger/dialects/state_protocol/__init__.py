"""The `state-protocol` protocol: config with a schema version, results, decisions (protocols.md 3)."""

from typing import TYPE_CHECKING

from ledger.dialects.base import Dialect, same
from ledger.dialects.state_protocol import records, rules  # noqa: F401 - the rules register themselves
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Decision, Header

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    from ledger.dialects.state_protocol.verdict import judge

    return judge(state, max_iterations, now_ms)


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
    _judge,
    Folding("state-protocol", decides_later=True),
    subjects=("any", "closed"),
    events={"config": Header, "decision": Decision},
    refuses_events=True,
    watches_clock=True,
    placeholders=("value", "median"),
    header=records.header,
)
