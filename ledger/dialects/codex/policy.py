"""The loop by a run.json: its commands measure, its branch is fixed, and each event states what is retained."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, better, is_number, text
from ledger.base.times import iso
from ledger.dialects.policy import Policy, Quote
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

    def binding(self, state: State) -> tuple[str, str] | None:
        config = state.replay.config or {}
        return str(config.get("repo")), str(config.get("branch"))

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

    def run_config(
        self, plan: SessionPlan, run_id: str, repo: str, branch: str, timeout: float, now_ms: int
    ) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "run_id": run_id,
            "created_at": iso(now_ms),
            "repo": repo,
            "branch": branch,
            "mode": "foreground",
            "goal": plan.name,
            "scope": list(plan.scope),
            "metric": {
                "name": plan.metric,
                "direction": plan.direction,
                "command": plan.command,
                "json_key": plan.json_key,
            },
            "guard": plan.guard,
            "target": plan.target,
            "max_iterations": plan.max_iterations or None,
            "timeout_seconds": int(timeout) if float(timeout).is_integer() else timeout,
            "background": None,
        }

    def measured_opening(self, state: State, baseline: Mapping[str, Any], now_ms: int) -> list[Record]:
        made = [_event(state, "baseline", now_ms, baseline)]
        state.records += 1
        state.replay.advance(made[0])
        if state.replay.target_met():
            target = (state.replay.config or {})["target"]
            made.append(_ending(state, "complete", f"the baseline meets the target {text(target)}", now_ms))
        return made

    def check_by_hand(self) -> None:
        raise LedgerError("a codex iteration needs the commits that ledger run makes; ledger run writes it")

    def iteration_records(self, state: State, outcome: RunOutcome, trial: Trial, now_ms: int) -> list[Record]:
        replay, more = state.replay, trial.more
        if outcome.status == "crash":
            reason = str(outcome.asi.get("error_details") or "the measurement failed").split("\n", 1)[0]
            return [_event(state, "error", now_ms, {
                "reason": reason, "head": trial.reverted or trial.commit or replay.head, "metric": replay.metric,
                "trial_commit": trial.commit, "revert_commit": trial.reverted, "log": more.get("verify_log"),
            })]  # fmt: skip
        retained = outcome.metric if trial.kept else replay.metric
        head = trial.commit if trial.kept else trial.reverted
        if retained is None or head is None:
            raise LedgerError("the history retains no metric: its baseline is missing")
        number = replay.iterations[0] + 1
        made = [_event(state, "iteration", now_ms, {
            "iteration": number, "outcome": "keep" if trial.kept else "discard", "description": outcome.description,
            "previous_metric": replay.metric, "trial_metric": outcome.metric, "retained_metric": retained,
            "trial_commit": trial.commit, "head": head, "revert_commit": None if trial.kept else trial.reverted,
            "guard": more["guard"], "verify_log": more["verify_log"], "guard_log": more["guard_log"],
        })]  # fmt: skip
        if end := _end(state, number, retained, head, now_ms):
            made.append({**end, "seq": state.records + 1})
        return made

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
        return _ending(state, word, reason, now_ms)

    def cancel(self, state: State, now_ms: int) -> Record:
        return _ending(state, "stopped", "cancelled by the user", now_ms)

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        return _ending(state, "stopped", reason, now_ms)


def _event(state: State, kind: str, now_ms: int, more: Mapping[str, Any]) -> Record:
    """Make the next event of a history; `more` are the keys of its kind."""
    return {
        "schema_version": 1,
        "run_id": (state.replay.config or {}).get("run_id"),
        "seq": state.records,
        "time": iso(now_ms),
        "event": kind,
        **more,
    }


def _ending(state: State, kind: str, reason: str, now_ms: int) -> Record:
    """Make a `complete`, `stopped`, `blocked` or `resumed` event with what the history retains."""
    retained = {"head": state.replay.head, "metric": state.replay.metric}
    return _event(state, kind, now_ms, {"note" if kind == "resumed" else "reason": reason, **retained})


def _end(state: State, iterations: int, metric: Number, head: str, now_ms: int) -> Record | None:
    """Make the event that ends a run at this metric after so many iterations, if it ends."""
    config, direction = state.replay.config or {}, state.replay.direction
    target, limit, name = config.get("target"), config.get("max_iterations"), state.current().metric_name
    retained = {"head": head, "metric": metric}
    if is_number(target) and direction and not better(target, metric, direction):  # type: ignore[arg-type]
        sign = "<=" if direction == "lower" else ">="
        reason = f"target met: {name} {text(metric)} {sign} {text(target)}"  # type: ignore[arg-type]  # a number
        return _event(state, "complete", now_ms, {"reason": reason, **retained})
    if type(limit) is int and iterations >= limit:
        reason = f"max_iterations: {iterations} of {limit}"
        return _event(state, "stopped", now_ms, {"reason": reason, **retained})
    return None


POLICY = CodexPolicy()
