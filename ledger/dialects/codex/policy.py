"""The loop by a run.json: its commands measure, its branch is fixed, and each event states what is retained."""

from collections.abc import Mapping
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number
from ledger.dialects.codex import writing
from ledger.dialects.codex.words import CodexWords
from ledger.dialects.policy import Binding, Policy, Retained
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, Trial
from ledger.fold.replay import TERMINAL
from ledger.fold.state import State

MARKS = ("blocked", "stopped", "resumed")


class CodexPolicy(Policy):
    name = "codex"
    words = CodexWords()

    commands_in_config = True
    measured_start = True
    repeats = False
    lacks = ("keep_equal", "discard", "max_regress")
    logs_before_revert = False
    outcomes = ("keep", "discard")
    errors = ()
    has_events = True
    needs = ("command", "target", "scope")
    keeps = frozenset(("target", "max_iterations", "scope"))
    plain_scope = True
    scope_from_top = True
    scope_key = "scope"
    limit_key = "max_iterations"
    verdict_takes_limit = False

    def config(self, state: State) -> Mapping[str, Any] | None:
        return state.replay.config

    def binding(self, state: State) -> Binding | None:
        config = state.replay.config or {}
        return Binding(config.get("repo"), config.get("branch"))

    def next_number(self, state: State) -> int:
        return state.replay.iterations[0] + 1

    def to_beat(self, state: State) -> Number | None:
        return state.replay.metric

    def retained(self, state: State) -> Retained | None:
        return Retained(state.replay.metric, state.replay.head)

    def concluded(self, state: State) -> str | None:
        return state.replay.status if state.replay.status in TERMINAL else None

    def final_status(self, state: State) -> str:
        limit = (state.replay.config or {}).get("max_iterations")
        spent = type(limit) is int and state.replay.iterations[0] >= limit
        return "DONE (max_iterations)" if spent and state.replay.status == "stopped" else super().final_status(state)

    def run_config(self, plan: SessionPlan, run_id: str, bound: Binding, timeout: float, now_ms: int) -> dict[str, Any]:
        return writing.run_json(plan, run_id, str(bound.repo), str(bound.branch), timeout, now_ms)

    def measured_opening(self, state: State, baseline: Mapping[str, Any], now_ms: int) -> list[Record]:
        return writing.first(state, baseline, now_ms)

    def check_by_hand(self) -> None:
        raise LedgerError("a codex iteration needs the commits that ledger run makes; ledger run writes it")

    def iteration_records(self, state: State, outcome: RunOutcome, trial: Trial, now_ms: int) -> list[Record]:
        return writing.iteration(state, outcome, trial, now_ms)

    def check_mark(self, word: str, ack: int | None) -> None:
        if word not in MARKS:
            raise LedgerError(f"a codex history is marked {', '.join(MARKS)}, not {word!r}")

    def mark(
        self, state: State, word: str, now_ms: int, *, ack: int | None, reason: str | None, restart: bool
    ) -> Record:
        if word != "resumed" or self.concluded(state) == "complete":
            self.check_open(state)
        elif self.concluded(state) is None:
            raise LedgerError("the run is active: there is nothing to resume")
        if not reason:
            raise LedgerError(f"say why: ledger mark {word} --reason TEXT")
        return writing.ending(state, word, reason, now_ms)

    def cancel(self, state: State, now_ms: int) -> Record:
        return writing.ending(state, "stopped", "cancelled by the user", now_ms)

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        return writing.ending(state, "stopped", reason, now_ms)


POLICY = CodexPolicy()
