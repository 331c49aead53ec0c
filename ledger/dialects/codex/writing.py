"""The records that a loop writes: run.json, and the events of its history."""

from collections.abc import Mapping
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, better, is_number, text
from ledger.base.times import iso
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, Trial
from ledger.fold.state import State


def run_json(plan: SessionPlan, run_id: str, repo: str, branch: str, timeout: float, now_ms: int) -> Record:
    """Make the run.json of a run; `timeout` is in seconds."""
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


def event(state: State, kind: str, now_ms: int, more: Mapping[str, Any]) -> Record:
    """Make the next event of a history; `more` are the keys of its kind."""
    return {
        "schema_version": 1,
        "run_id": (state.replay.config or {}).get("run_id"),
        "seq": state.records,
        "time": iso(now_ms),
        "event": kind,
        **more,
    }


def ending(state: State, kind: str, reason: str, now_ms: int) -> Record:
    """Make a `complete`, `stopped`, `blocked` or `resumed` event with what the history retains."""
    retained = {"head": state.replay.head, "metric": state.replay.metric}
    return event(state, kind, now_ms, {"note" if kind == "resumed" else "reason": reason, **retained})


def first(state: State, baseline: Mapping[str, Any], now_ms: int) -> list[Record]:
    """Make the first events of a history: the baseline, and `complete` if it meets the target; the fold is used up."""
    made = [event(state, "baseline", now_ms, baseline)]
    state.records += 1
    state.replay.advance(made[0])
    if state.replay.target_met():
        target = (state.replay.config or {})["target"]
        made.append(ending(state, "complete", f"the baseline meets the target {text(target)}", now_ms))
    return made


def iteration(state: State, outcome: RunOutcome, trial: Trial, now_ms: int) -> list[Record]:
    """Make the iteration and what ends the run with it, or the error that stopped it."""
    replay, more = state.replay, trial.more
    if outcome.status == "crash":
        reason = str(outcome.asi.get("error_details") or "the measurement failed").split("\n", 1)[0]
        return [event(state, "error", now_ms, {
            "reason": reason, "head": trial.reverted or trial.commit or replay.head, "metric": replay.metric,
            "trial_commit": trial.commit, "revert_commit": trial.reverted, "log": more.get("verify_log"),
        })]  # fmt: skip
    retained = outcome.metric if trial.kept else replay.metric
    head = trial.commit if trial.kept else trial.reverted
    if retained is None or head is None:
        raise LedgerError("the history retains no metric: its baseline is missing")
    number = replay.iterations[0] + 1
    made = [event(state, "iteration", now_ms, {
        "iteration": number, "outcome": "keep" if trial.kept else "discard", "description": outcome.description,
        "previous_metric": replay.metric, "trial_metric": outcome.metric, "retained_metric": retained,
        "trial_commit": trial.commit, "head": head, "revert_commit": None if trial.kept else trial.reverted,
        "guard": more["guard"], "verify_log": more["verify_log"], "guard_log": more["guard_log"],
    })]  # fmt: skip
    if end := _end(state, number, retained, head, now_ms):
        made.append({**end, "seq": state.records + 1})
    return made


def _end(state: State, iterations: int, metric: Number, head: str, now_ms: int) -> Record | None:
    """Make the event that ends a run at this metric after so many iterations, if it ends."""
    config, direction = state.replay.config or {}, state.replay.direction
    target, limit, name = config.get("target"), config.get("max_iterations"), state.current().metric_name
    retained = {"head": head, "metric": metric}
    if is_number(target) and direction and not better(target, metric, direction):  # type: ignore[arg-type]
        sign = "<=" if direction == "lower" else ">="
        reason = f"target met: {name} {text(metric)} {sign} {text(target)}"  # type: ignore[arg-type]  # a number
        return event(state, "complete", now_ms, {"reason": reason, **retained})
    if type(limit) is int and iterations >= limit:
        reason = f"max_iterations: {iterations} of {limit}"
        return event(state, "stopped", now_ms, {"reason": reason, **retained})
    return None
