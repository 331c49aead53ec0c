"""The loop by a run.json: its commands measure, its branch is fixed, and each event states what is retained."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, is_number, text
from ledger.dialects.codex import writing
from ledger.dialects.policy import Binding, Policy, Quote
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, Trial
from ledger.fold.replay import TERMINAL
from ledger.fold.state import State

MARKS = ("blocked", "stopped", "resumed")


class CodexPolicy(Policy):
    name = "codex"
    rival = "retained metric"
    how_to_measure = "`ledger run` measures by `metric.command` of `run.json`."
    scope_keeper = "run.json"
    how_to_end = "end it with ledger mark stopped --reason TEXT"
    endings: ClassVar = {
        "complete": "DONE (complete)", "stopped": "DONE (stopped)", "blocked": "BLOCKED", "error": "ERROR",
    }  # fmt: skip

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

    def say_concluded(self, how: str) -> str:
        if how == "complete":
            return "the run is complete and nothing follows that; ledger archive moves it aside for another one"
        return f"the session is concluded ({how}); ledger mark resumed --reason TEXT goes on with it"

    def say_report(self, verdict: str) -> str:
        return "Report it with `ledger mark stopped --reason TEXT`."

    def say_failures(
        self, stated: Mapping[str, Any], measurement: Number, checks: Number, quote: Quote
    ) -> Iterator[str]:
        limit: Any = stated.get("timeout_seconds")
        after = f", or outlasts {text(limit)} s," if is_number(limit) else ""
        yield (
            f"There is no crash: a measurement that fails{after} is reverted, an `error` event is written, and the loop"
            " stops; `ledger mark resumed --reason TEXT` goes on."
        )
        if isinstance(guard := stated.get("guard"), str):
            yield f"The guard {quote(guard)} runs on every better trial; where it fails the trial is discarded."

    def binding(self, state: State) -> Binding | None:
        config = state.replay.config or {}
        return Binding(config.get("repo"), config.get("branch"))

    def next_number(self, state: State) -> int:
        return state.replay.iterations[0] + 1

    def to_beat(self, state: State) -> Number | None:
        return state.replay.metric

    def retained_head(self, state: State) -> str | None:
        return state.replay.head or ""

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
