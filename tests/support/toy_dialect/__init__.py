"""A protocol of nobody's, for tests: what a protocol's folder has to hold, and nothing else. A bout is a run."""

from ledger.dialects.base import Dialect, same
from ledger.dialects.policy import Policy
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Header, Marker
from tests.support.toy_dialect import records, rules


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    from tests.support.toy_dialect.verdict import judge

    return judge(state, max_iterations, now_ms)


def _policy() -> Policy:
    from tests.support.toy_dialect.policy import POLICY

    return POLICY


DIALECT = Dialect(
    "toy",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _policy,
    _judge,
    Folding("toy"),
    subjects=("any", "closed", rules.OWN),
    events={"config": Header, "status": Marker},
)
