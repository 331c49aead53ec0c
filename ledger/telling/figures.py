"""Numbers of runs as short text, as the table, the snapshots and the brief show them."""

from collections import Counter

from ledger.base.numbers import Number, text
from ledger.base.text import plain
from ledger.dialects import of, policy_of
from ledger.fold.segment import KEPT, Segment, percent
from ledger.fold.state import State
from ledger.fold.verdict import Verdict
from ledger.log.events import Run
from ledger.reading.whole_log import Log

NOTHING = "—"


def metric(run: Run) -> str:
    """Write a run's metric with all its digits; a crash measured nothing."""
    return NOTHING if run.status == "crash" else text(run.metric)


def delta(run: Run, baseline: Number | None) -> str:
    """Write how far a run is from the baseline, raw sign: `-3.8%`."""
    change = None if run.status == "crash" else percent(run.metric, baseline)
    return NOTHING if change is None else signed(change)


def signed(change: float) -> str:
    """Write a change in percent with its sign; one that rounds to nothing has none."""
    shown = short(abs(change))
    return f"{shown}%" if shown == "0.0" else f"{'-' if change < 0 else '+'}{shown}%"


def short(value: Number) -> str:
    """Write a number with one decimal, a huge one with three digits."""
    nearest = float(value)
    return f"{nearest:,.1f}" if abs(nearest) < 1e6 else f"{nearest:.3g}"


def short_in(unit: str, value: Number | None) -> str:
    """Write a number of a unit, such as `%`, with one decimal; a dash where there is none."""
    return NOTHING if value is None else f"{short(value)}{unit}"


def goal(segment: Segment) -> str:
    """Write what a segment is about; what its header does not say is a dash."""
    return plain(segment.name or "").strip() or NOTHING


def measure(segment: Segment) -> str:
    """Write a segment's metric, its unit and its direction."""
    unit = plain(segment.unit).strip()
    better = f", {segment.direction} is better" if segment.direction else ""
    return (plain(segment.metric_name or "").strip() or NOTHING) + (f" in {unit}" if unit else "") + better


def baseline(segment: Segment) -> str:
    """Write a segment's baseline and its run."""
    return NOTHING if segment.baseline is None else f"{text(segment.baseline)} (run {segment.baseline_run})"


def best(segment: Segment) -> str:
    """Write a segment's best and its run, and how much better than the baseline it is."""
    if segment.best is None:
        return NOTHING
    gain = segment.improvement_pct
    better = "" if gain is None else f", {short(abs(gain))}% {'worse' if gain < 0 else 'better'}" if gain else ""
    return f"{text(segment.best)} (run {segment.best_run}{better})"


def runs_of(state: State) -> str:
    """Write how many runs the current segment has, and what came of them."""
    segment = state.current()
    came_of = counted_by(counts(state))
    return f"{segment.runs:,} in segment {segment.ordinal}" + (f": {came_of}" if came_of else "")


def target_of(state: State) -> str | None:
    """Write the target that a session states, and whether it is met; None where it states none."""
    stated = of(state).target(state)
    return None if stated is None else f"{text(stated.value)}, {'met' if stated.met else 'not met yet'}"


def loop_state(state: State) -> str:
    """Write what the log's own records say of the loop."""
    return "stopped by a decision" if state.stopped else state.status


def verdict_of(log: Log, verdict: Verdict) -> str:
    """Write a verdict, which says nothing where the log has errors."""
    return verdict.verdict if log.ok else "stop: the log has errors"


def is_best(segment: Segment, run: Run) -> bool:
    """Tell whether a run may be the segment's best; of several with its number and metric the first is."""
    return run.run == segment.best_run and run.status in KEPT and run.metric == segment.best


def counts(state: State) -> dict[str, int]:
    """Count the current segment's runs by what came of them, 0 where nothing did."""
    seen = Counter(state.current().statuses)
    seen["undecided"] = seen["measured"]
    return {name: seen[name] for name in policy_of(state).outcomes}


def counted_by(numbers: dict[str, int]) -> str:
    """Write counts by name, those of 0 left out: `5 keep, 3 discard`."""
    return ", ".join(f"{count:,} {name}" for name, count in numbers.items() if count)
