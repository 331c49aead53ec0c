"""The `codex` protocol: run.json, and the events of its history (protocols.md 4)."""

from typing import TYPE_CHECKING

from ledger.dialects.base import Dialect, same
from ledger.dialects.codex import records
from ledger.log.file_layout import FileLayout

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy


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
    strict=True,
    layout=FileLayout("codex", "autoresearch-results/events.jsonl", ".auto/hooks", owner="codex", config="run.json"),
)
