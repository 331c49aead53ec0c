"""The `codex` protocol: run.json, and the events of its history (protocols.md 4)."""

from ledger.dialects.base import Dialect, FileLayout, RunJson, same
from ledger.dialects.codex import records, rules
from ledger.fold.replay import TERMINAL
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Lifecycle


def _judge(state: State, max_iterations: int | None, now_ms: int) -> Verdict:
    """Judge by the history's last event; its limits stand in run.json, and the tool that owns it ends it."""
    segment = state.current()
    word = "concluded" if state.status in TERMINAL else "continue"
    return Verdict(0, segment.runs, segment.streak.current, state.status, 0, word)


DIALECT = Dialect(
    __name__,
    "codex",
    records.recognises,
    records.kind_of,
    same,
    records.parse,
    records.record,
    _judge,
    Folding("codex", counts_run_zero=False, replays=True),
    subjects=("any", "closed", rules.OWN),
    events=(Lifecycle,),
    strict=True,
    target=records.target,
    layout=FileLayout(
        "codex", "autoresearch-results/events.jsonl", ".auto/hooks", run_json=RunJson(records.RUN_JSON, records.header)
    ),
)
