"""The loop by status markers: runs with their status, `running` at the start, another marker at the end."""

from bisect import insort
from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, better
from ledger.dialects.policy import Policy
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, next_run, stamp
from ledger.fold.confidence import score
from ledger.fold.segment import KEPT, Segment
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
        header = {
            "type": "config", "name": plan.name, "metricName": plan.metric, "metricUnit": plan.unit or "",
            "bestDirection": plan.direction,
        }  # fmt: skip
        return [header, _marker(state, "running", now_ms)]

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
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
            "confidence": _confidence_with(segment, outcome.status, metric),
        }
        if outcome.asi:
            made["asi"] = dict(outcome.asi)
        if outcome.samples:
            made["samples"] = list(outcome.samples)
        return [made]

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
        return _marker(state, word, now_ms, ack, reason)

    def cancel(self, state: State, now_ms: int) -> Record:
        return _marker(state, "cancelled", now_ms)

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        return _marker(state, word, now_ms, ack, reason or None)


def _marker(state: State, word: str, now_ms: int, ack: int | None = None, reason: str | None = None) -> Record:
    """Make a status marker."""
    made: Record = {"type": "status", "state": word, "timestamp": stamp(state, now_ms)}
    if ack is not None:
        made["backstop_ack"] = ack
    if reason:
        made["reason"] = reason
    return made


def _confidence_with(segment: Segment, status: str, metric: Number) -> float | None:
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


POLICY = AutoresearchPolicy()
