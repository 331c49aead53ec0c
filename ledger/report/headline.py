"""The head of a report in words: the goal, the verdict, what came of it so far."""

from collections.abc import Iterator
from typing import Any

from ledger.base.numbers import better, text
from ledger.base.text import counted, plain
from ledger.base.times import iso
from ledger.fold.confidence import LIKELY, MARGINAL, word
from ledger.fold.segment import Segment
from ledger.fold.verdict import BACKSTOP, WALL, Verdict
from ledger.log.diagnostics import Severity
from ledger.report.account import Account
from ledger.report.segment_spans import SegmentSpan
from ledger.telling.figures import NOTHING, counted_by, goal, measure, short

_VERDICTS = {
    "continue": ("The loop may go on", "good"),
    "concluded": ("The session is over", "calm"),
    "max_iterations": ("It has as many runs as were asked for", "calm"),
    "max_minutes": ("The time is up", "calm"),
    "wall": (f"More than {WALL} failed runs in a row", "poor"),
    "backstop": (f"{BACKSTOP} more runs without a limit: ask a person before going on", "fair"),
}
_STOP = ("A loop must stop here until the log is repaired", "poor")


def summary(account: Account, span: SegmentSpan, verdict: Verdict) -> dict[str, Any]:
    """Give the head's texts; `tone` is good, fair, poor or calm, and never the only sign of anything."""
    segment = span.segment
    reason, tone = _VERDICTS[verdict.verdict] if account.ok else _STOP
    return {
        "goal": goal(segment),
        "metric": measure(segment),
        "verdict": {"word": verdict.verdict if account.ok else "stop", "reason": reason, "tone": tone},
        "ending": account.ending[0] if account.ending else "",
        "baseline": _measured(segment.baseline, segment.baseline_run, segment),
        "best": _measured(segment.best, segment.best_run, segment),
        "change": _change(segment),
        "confidence": _confidence(segment.confidence),
        "facts": [list(fact) for fact in _facts(account, span)],
    }


def _measured(value: Any, run: int | None, segment: Segment) -> dict[str, str]:
    if value is None:
        return {"value": NOTHING, "unit": "", "note": "no run was kept" if segment.runs else "no run yet"}
    return {"value": text(value), "unit": plain(segment.unit).strip(), "note": f"run {run}"}


def _change(segment: Segment) -> dict[str, str]:
    """Say how much better the best is than the baseline."""
    gain = segment.improvement_pct
    if segment.best is None or segment.baseline is None:
        return {"value": NOTHING, "note": "", "tone": "calm"}
    if not gain:
        shown = NOTHING if gain is None else "0.0%"
        if not better(segment.best, segment.baseline, segment.direction or "lower"):
            return {"value": shown, "note": "no better than the baseline", "tone": "calm"}
        note = "better; this baseline has no percentage" if gain is None else "better, by less than can be shown"
        return {"value": shown, "note": note, "tone": "good"}
    return {
        "value": f"{short(abs(gain))}%",
        "note": "better" if gain > 0 else "worse",
        "tone": "good" if gain > 0 else "poor",
    }


def _confidence(value: float | None) -> dict[str, str]:
    if value is None:
        return {"value": NOTHING, "note": "not enough to tell it from noise", "tone": "calm"}
    tone = "good" if value >= LIKELY else "fair" if value >= MARGINAL else "poor"
    return {"value": f"{short(value)}×", "note": f"{word(value)}, in units of the noise (MAD)", "tone": tone}


def _facts(account: Account, span: SegmentSpan) -> Iterator[tuple[str, str]]:
    log, segment = account.log, span.segment
    runs = {**segment.counts, "undecided": segment.counts["other"]}
    del runs["other"]
    yield "Runs", f"{segment.runs:,}" + (f": {counted_by(runs)}" if segment.runs else "")
    if len(account.starts) > 1:
        yield "Segment", f"{segment.ordinal}, the last of {len(account.starts):,} with runs"
    yield "Failed in a row", f"{segment.streak.current:,} now, {segment.streak.longest:,} at most"
    if (target := span.target) is not None:
        met = segment.best is not None and segment.direction and not better(target, segment.best, segment.direction)
        yield "Target", f"{text(target)}, {'met' if met else 'not met'}"
    yield "State", "stopped by a decision" if account.state.stopped else account.state.status
    if segment.first_ms is not None and segment.last_ms is not None:
        first, last = _minute(segment.first_ms), _minute(segment.last_ms)
        yield "Active (UTC)", f"{first} to {last.removeprefix(first[:11])}"  # the day once where it is one
    yield "Log", f"{log.dialect or 'no known protocol'}, {counted(log.records, 'record')}"
    counts = account.findings.counts
    levels = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    yield "Findings", ", ".join(counted(counts[one], one.value) for one in levels if counts[one]) or "none"


def _minute(ms: int) -> str:
    return (iso(ms) or "")[:16].replace("T", " ")
