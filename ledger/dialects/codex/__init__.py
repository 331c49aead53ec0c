"""The `codex` protocol: run.json, and the events of its history (protocols.md 4)."""

from ledger.dialects.base import Dialect, RunJson, same
from ledger.dialects.codex import records, rules
from ledger.fold.state import Folding
from ledger.log.events import Lifecycle
from ledger.log.file_layout import FileLayout

DIALECT = Dialect(
    __name__,
    "codex",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    Folding("codex", counts_run_zero=False, replays=True),
    subjects=("any", "closed", rules.OWN),
    events=dict.fromkeys(records.LIFECYCLE, Lifecycle),
    strict=True,
    run_json=RunJson(records.RUN_JSON, records.header),
    target=records.target,
    layout=FileLayout("codex", "autoresearch-results/events.jsonl", ".auto/hooks", owner="codex", configured=True),
)
