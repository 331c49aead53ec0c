"""The `codex` protocol: run.json, and the events of its history (protocols.md 4)."""

from typing import TYPE_CHECKING

from ledger.dialects.base import Dialect, RunJson, same
from ledger.dialects.codex import records, rules
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Lifecycle
from ledger.log.file_layout import FileLayout

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    from ledger.dialects.codex.verdict import judge

    return judge(state, max_iterations, now_ms)


def _policy() -> "Policy":
    from ledger.dialects.codex.policy import POLICY

    return POLICY


DIALECT = Dialect(
    "codex",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _policy,
    _judge,
    Folding("codex", counts_run_zero=False, replays=True),
    subjects=("any", "closed", rules.OWN),
    events=dict.fromkeys(records.LIFECYCLE, Lifecycle),
    strict=True,
    run_json=RunJson(records.RUN_JSON, records.header),
    target=records.target,
    layout=FileLayout("codex", "autoresearch-results/events.jsonl", ".auto/hooks", owner="codex", configured=True),
)
