"""The records that a loop writes: header, result, decision."""

from ledger.base.times import iso
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, next_run
from ledger.fold.segment import KEPT
from ledger.fold.state import State


def header(plan: SessionPlan, now_ms: int) -> Record:
    """Make the header of a segment; what was not asked for is left out."""
    stated = {
        "unit": plan.unit or None,
        "min_effect_size_pct": plan.min_effect,
        "noise_floor_pct": plan.noise_floor,
        "max_runs": plan.max_iterations,
        "max_minutes": plan.max_minutes,
        "files_in_scope": list(plan.scope) or None,
        "off_limits": list(plan.off_limits) or None,
    }
    return {
        "type": "config", "schema_version": 1, "name": plan.name, "metric": plan.metric, "direction": plan.direction,
        **{key: value for key, value in stated.items() if value is not None}, "created_at": iso(now_ms),
    }  # fmt: skip


def result(state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
    """Make the next result, and its decision where there is one."""
    crashed, number, at = outcome.status == "crash", next_run(state), iso(now_ms)
    made: Record = {"type": "result", "run": number}
    if outcome.commit:
        made["commit"] = outcome.commit
    made |= {"metric": state.current().metric_name, "value": 0 if crashed else outcome.metric}
    if outcome.samples and not crashed:
        made |= {"samples": list(outcome.samples), "median": outcome.metric}
    made |= {"status": "crash" if crashed else "measured", "timestamp": at, "description": outcome.description}
    if outcome.metrics:
        made["metrics"] = dict(outcome.metrics)
    if outcome.asi:
        made["asi"] = dict(outcome.asi)
    if outcome.status == "measured":
        return [made]
    action = outcome.status if outcome.status in KEPT else "discard"
    failed = {"crash": "the measurement crashed", "checks_failed": "the checks failed"}.get(outcome.status)
    reason = outcome.reason or failed or outcome.description or action
    return [made, decision(number, action, reason, now_ms)]


def decision(run: int, action: str, reason: str, now_ms: int) -> Record:
    """Make a decision about a result."""
    return {"type": "decision", "run": run, "action": action, "reason": reason, "timestamp": iso(now_ms)}
