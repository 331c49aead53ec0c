"""The `autoresearch` protocol: config header, run, status marker, hook record (protocols.md 2)."""

from typing import TYPE_CHECKING

from ledger.dialects.autoresearch import compiled, records, rules
from ledger.dialects.base import Dialect
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Header, Marker

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    from ledger.dialects.autoresearch.verdict import judge

    return judge(state, max_iterations, now_ms)


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
    _judge,
    Folding("autoresearch"),
    subjects=("any", rules.OWN),
    events={"config": Header, "status": Marker},
    accept=compiled.accept,
    spellings=records.SPELLINGS,
    placeholders=("metric",),
    header=records.header,
)
