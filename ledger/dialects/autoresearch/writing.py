"""The records that a loop writes: header, run, status marker."""

from bisect import insort

from ledger.base.numbers import Number, better
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, next_run, stamp
from ledger.fold.confidence import score
from ledger.fold.segment import KEPT, Segment
from ledger.fold.state import State


def header(plan: SessionPlan) -> Record:
    """Make the header of a segment."""
    return {
        "type": "config", "name": plan.name, "metricName": plan.metric, "metricUnit": plan.unit or "",
        "bestDirection": plan.direction,
    }  # fmt: skip


def run(state: State, outcome: RunOutcome, now_ms: int) -> Record:
    """Make the record of the next run."""
    segment = state.current()
    metric = 0 if outcome.status == "crash" else outcome.metric
    made: Record = {
        "run": next_run(state),
        "commit": outcome.commit,
        "metric": metric,
        "metrics": dict(outcome.metrics),
        "status": outcome.status,
        "description": outcome.description,
        "timestamp": stamp(state, now_ms),
        "segment": segment.ordinal,
        "confidence": confidence_with(segment, outcome.status, metric),
    }
    if outcome.asi:
        made["asi"] = dict(outcome.asi)
    if outcome.samples:
        made["samples"] = list(outcome.samples)
    return made


def marker(state: State, word: str, now_ms: int, ack: int | None = None, reason: str | None = None) -> Record:
    """Make a status marker."""
    made: Record = {"type": "status", "state": word, "timestamp": stamp(state, now_ms)}
    if ack is not None:
        made["backstop_ack"] = ack
    if reason:
        made["reason"] = reason
    return made


def confidence_with(segment: Segment, status: str, metric: Number) -> float | None:
    """Give the confidence over a segment and one more run."""
    if segment.direction is None:
        return None
    measured = sorted(m for m, s in zip(segment.metrics, segment.statuses, strict=True) if s != "crash")
    baseline, best = segment.baseline, segment.best
    if status != "crash":
        insort(measured, float(metric))
        baseline = metric if baseline is None else baseline
        if status in KEPT and (best is None or better(metric, best, segment.direction)):
            best = metric
    if baseline is None or best is None:
        return None
    return score(float(best), float(baseline), segment.direction, measured)
