"""The loop by status markers: runs with their status, `running` at the start, another marker at the end."""

from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.dialects.autoresearch import writing
from ledger.dialects.policy import Policy
from ledger.dialects.writing import Record, RunOutcome, SessionPlan
from ledger.fold.state import MARKERS, State
from ledger.fold.verdict import CONCLUDED


class AutoresearchPolicy(Policy):
    name = "autoresearch"
    how_to_end = "end it with ledger mark done, or ledger cancel"
    endings: ClassVar = {"done": "DONE", "cancelled": "CANCELLED", "wall": "WALL", "blocked": "BLOCKED"}

    has_hook_records = True

    def say_concluded(self, how: str) -> str:
        anew = ", then ledger init opens a segment without its streak" if how == "wall" else ""
        return f"the session is concluded ({how}); ledger mark running --restart goes on with it{anew}"

    def say_report(self, verdict: str) -> str:
        if verdict == "wall":
            return (
                "Report it with `ledger mark wall`; another direction starts with `ledger mark running --restart` and a"
                " new segment, `ledger init`."
            )
        return "Report it with `ledger mark done`, or raise the limit if a person says so."

    def concluded(self, state: State) -> str | None:
        return state.marker if state.marker in CONCLUDED else None

    def opening(self, plan: SessionPlan, state: State, now_ms: int) -> list[Record]:
        return [writing.header(plan), writing.marker(state, "running", now_ms)]

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
        return [writing.run(state, outcome, now_ms)]

    def check_mark(self, word: str, ack: int | None) -> None:
        if word not in MARKERS:
            raise LedgerError(f"a marker is one of {', '.join(MARKERS)}, not {word!r}")
        if ack is not None and word != "running":
            raise LedgerError("only a running marker acknowledges a backstop")

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
