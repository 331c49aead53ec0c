"""The `codex` protocol: run.json, and the events of its history (PROTOCOLS 4)."""

from ledger.dialects.base import Dialect, RunJson, same
from ledger.dialects.codex import records, rules
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Lifecycle


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    from ledger.dialects.codex.verdict import judge

    return judge(state, max_iterations, now_ms)


DIALECT = Dialect(
    "codex",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _judge,
    Folding("codex", counts_run_zero=False, replays=True),
    subjects=("any", "closed", rules.OWN),
    events=dict.fromkeys(records.LIFECYCLE, Lifecycle),
    strict=True,
    run_json=RunJson(records.RUN_JSON, records.header),
)
