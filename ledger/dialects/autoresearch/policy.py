"""The loop by status markers: runs with their status, `running` at the start, another marker at the end."""

from ledger.dialects.autoresearch import writing
from ledger.dialects.autoresearch.words import AutoresearchWords
from ledger.dialects.policy import Policy
from ledger.dialects.writing import Record, RunOutcome, SessionPlan
from ledger.fold.state import State
from ledger.fold.verdict import CONCLUDED


class AutoresearchPolicy(Policy):
    name = "autoresearch"
    words = AutoresearchWords()

    has_hook_records = True

    def concluded(self, state: State) -> str | None:
        return state.marker if state.marker in CONCLUDED else None

    def opening(self, plan: SessionPlan, state: State, now_ms: int) -> list[Record]:
        return [writing.header(plan), writing.marker(state, "running", now_ms)]

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
        return [writing.run(state, outcome, now_ms)]

    def check_mark(self, word: str, ack: int | None) -> None:
        writing.check_marker(word, ack)

    def mark(
        self, state: State, word: str, now_ms: int, *, ack: int | None, reason: str | None, restart: bool
    ) -> Record:
        if not (restart and word == "running"):
            self.check_open(state)
        return writing.marker(state, word, now_ms, ack, reason)

    def cancel(self, state: State, now_ms: int) -> Record:
        return writing.marker(state, "cancelled", now_ms)

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        return writing.marker(state, word, now_ms, ack, reason or None)


POLICY = AutoresearchPolicy()
