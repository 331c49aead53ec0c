"""The records that a loop writes, made for the state that they follow, in each protocol (PROTOCOLS 2-4, 7)."""

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, better
from ledger.base.times import iso
from ledger.fold.confidence import score
from ledger.fold.segment import KEPT, Segment
from ledger.fold.state import MARKERS, State
from ledger.log.jsontext import dump
from ledger.rules.sequence import mentions

Record = dict[str, Any]

RUN_STATUSES = ("keep", "discard", "crash", "checks_failed")
RESULT_STATUSES = ("measured", "baseline", *RUN_STATUSES)
CODEX_MARKS = ("blocked", "stopped", "resumed")


class RunOutcome(NamedTuple):
    """Hold what one run came to, whatever the protocol: `metric` is ignored for a crash."""

    status: str
    metric: Number
    description: str
    commit: str = ""
    metrics: Mapping[str, Any] = {}
    asi: Mapping[str, Any] = {}
    samples: Sequence[Number] = ()
    reason: str = ""


def run_records(state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
    """Make the records of the next run: one, or in state-protocol a result and its decision.

    Raises LedgerError for a status that the protocol does not know.
    """
    allowed = RESULT_STATUSES if state.dialect == "state-protocol" else RUN_STATUSES
    if outcome.status not in allowed:
        raise LedgerError(f"a run of this log is {', '.join(allowed[:-1])} or {allowed[-1]}: say so with --status")
    number = next_run(state)
    if state.dialect == "state-protocol":
        return _result(state, outcome, number, now_ms)
    return [_run(state, outcome, number, now_ms)]


def next_run(state: State) -> int:
    """Give the number of the next run: the highest so far + 1."""
    return max(state.runs_seen.highest or 0, state.runs_lost.highest or 0) + 1


def _run(state: State, outcome: RunOutcome, number: int, now_ms: int) -> Record:
    segment = state.current()
    metric = 0 if outcome.status == "crash" else outcome.metric
    made: Record = {
        "run": number,
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


def _result(state: State, outcome: RunOutcome, number: int, now_ms: int) -> list[Record]:
    crashed, at = outcome.status == "crash", iso(now_ms)
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
    """Make a state-protocol decision about a run."""
    return {"type": "decision", "run": run, "action": action, "reason": reason, "timestamp": iso(now_ms)}


def marker(state: State, word: str, now_ms: int, ack: int | None = None, reason: str | None = None) -> Record:
    """Make a status marker of the autoresearch protocol. Raises LedgerError for an unknown state."""
    if word not in MARKERS:
        raise LedgerError(f"a marker is one of {', '.join(MARKERS)}, not {word!r}")
    if ack is not None and word != "running":
        raise LedgerError("only a running marker acknowledges a backstop")
    made: Record = {"type": "status", "state": word, "timestamp": stamp(state, now_ms)}
    if ack is not None:
        made["backstop_ack"] = ack
    if reason:
        made["reason"] = reason
    return made


def event(state: State, kind: str, now_ms: int, more: Mapping[str, Any]) -> Record:
    """Make the next event of a codex history; `more` are the keys of its kind."""
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


def stamp(state: State, now_ms: int) -> int:
    """Give a moment in the unit that the log's timestamps have: milliseconds, unless it counts seconds."""
    return now_ms // 1000 if state.time_unit == "s" else now_ms


def confidence_with(segment: Segment, status: str, metric: Number) -> float | None:
    """Give the confidence over a segment and one more run (PROTOCOLS 6)."""
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


def missing_metrics(names: Sequence[str], outcome: RunOutcome) -> list[str]:
    """List the secondary metrics among `names` that this run lacks without a word about them in its `asi`."""
    if outcome.status == "crash":
        return []
    said = dump(dict(outcome.asi))
    return [name for name in names if name not in outcome.metrics and not mentions(said, name)]
