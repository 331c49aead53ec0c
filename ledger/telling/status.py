"""The page of `ledger status`, and the one-line report of a run (protocols.md 7)."""

from collections.abc import Mapping

from ledger.base.numbers import Number, text
from ledger.base.paths import show_path
from ledger.base.text import counted, cut, near, plain
from ledger.base.times import iso
from ledger.fold.confidence import word
from ledger.fold.segment import Segment
from ledger.fold.verdict import BACKSTOP, WALL, Verdict
from ledger.log.diagnostics import Severity
from ledger.log.events import Run
from ledger.reading.whole_log import Log
from ledger.telling.figures import NOTHING, delta, goal, loop_state, measure, metric, short, target_of, verdict_of
from ledger.telling.screen import Paint, Screen, bare, confidence_colour, status_colour
from ledger.telling.sparkline import course, trend

DESCRIPTION_WIDTH = 60
RETHINK = 3
"""As many failed runs in a row ask for another approach."""

_LABEL_WIDTH = 11
_REASONS = {
    "concluded": "the session is over",
    "max_iterations": "the segment has as many runs as were asked for",
    "max_minutes": "the time is up",
    "wall": f"more than {WALL} failed runs in a row",
    "backstop": f"{BACKSTOP} more runs without a limit: ask a person before going on",
}


def status(
    log: Log,
    verdict: Verdict,
    now_ms: int,
    live: Mapping[str, str],
    screen: Screen = Screen(),  # noqa: B008 - a tuple, which nobody can change
) -> str:
    """Write the page: the goal, what came of it so far, what to do next, and the last five runs.

    `now_ms` is UTC milliseconds; `live` has lines about the loop at work.
    """
    state, segment = log.state, log.state.current()
    said, reason = verdict_of(log, verdict), _REASONS.get(verdict.verdict)
    page = {
        "log": _log(log),
        "goal": goal(segment),
        "metric": measure(segment),
        "target": target_of(state) or NOTHING,
        "segment": f"{segment.ordinal} ({segment.ordinal + 1} in the log), {_runs(segment, screen.paint)}",
        "baseline": _measured(segment.baseline, segment.baseline_run, segment.unit),
        "best": _best(segment, screen.paint),
        "trend": _trend(segment, screen),
        "streak": _streak(segment.streak.current),
        "state": loop_state(state),
        "verdict": f"{said}: {reason}" if reason and log.ok else said,
        "last run": _last_run(segment.last_ms, now_ms),
        "findings": _findings(log),
        **live,
    }
    lines = [f"{label:<{_LABEL_WIDTH}} {value}" for label, value in page.items() if value]
    runs = list(state.recent)[-len(segment.statuses) :] if segment.statuses else []
    if state.results:
        runs = [run._replace(status=state.results[run.run].status) for run in runs]
    recent = [one_line(run, segment.metric_name, segment.baseline, screen.paint) for run in runs]
    return "\n".join((*lines, *([""] if recent else []), *recent)) + "\n"


def one_line(run: Run, metric_name: str | None, baseline: Number | None, paint: Paint = bare) -> str:
    """Report a run: `Run #5: keep | total_µs: 14,600 (-3.8%) | confidence: 2.3× | "Inline hot loop"`.

    What is unknown is left out; a crash measured nothing and shows a dash.
    """
    change = delta(run, baseline)
    parts = [
        f"Run #{run.run}: {paint(run.status, status_colour(run.status))}",
        f"{plain(metric_name or 'metric')}: {metric(run)}" + ("" if change == NOTHING else f" ({change})"),
    ]
    if run.confidence is not None:
        parts.append(f"confidence: {paint(f'{short(run.confidence)}×', confidence_colour(run.confidence))}")
    if description := plain(run.description or "").strip():
        parts.append(f'"{cut(description, DESCRIPTION_WIDTH)}"')
    return " | ".join(parts)


def _log(log: Log) -> str:
    path = "standard input" if log.path is None else near(show_path(log.path))
    return f"{path} ({log.dialect or 'no known protocol'})"


def _runs(segment: Segment, paint: Paint) -> str:
    counts = [(f"{count:,} {name}", status_colour(name)) for name, count in segment.counts.items() if count]
    by_status = ", ".join(paint(shown, colour) for shown, colour in counts)
    return counted(segment.runs, "run") + (f": {by_status}" if by_status else "")


def _measured(value: Number | None, run: int | None, unit: str) -> str:
    if value is None:
        return NOTHING
    unit = plain(unit).strip()
    return f"{text(value)}{unit and ' '}{unit} (run {run})"


def _best(segment: Segment, paint: Paint) -> str:
    if segment.best is None:
        why = "no run was kept" if segment.direction else "no config header: the direction is unknown"
        return f"{NOTHING} ({why})" if segment.runs else NOTHING
    parts = [_measured(segment.best, segment.best_run, segment.unit)]
    gain, confidence = segment.improvement_pct, segment.confidence
    if gain is not None:
        parts.append(f"{short(abs(gain))}% {'worse' if gain < 0 else 'better'}" if gain else "no better")
    if confidence is not None:
        shown = f"{short(confidence)}× ({word(confidence)})"
        parts.append(f"confidence {paint(shown, confidence_colour(confidence))}")
    return ", ".join(parts)


def _trend(segment: Segment, screen: Screen) -> str:
    room = None if screen.columns is None else screen.columns - _LABEL_WIDTH - 1
    return trend(course(segment.metrics, segment.statuses), segment.unit, segment.direction, screen, room)


def _streak(count: int) -> str:
    if count > WALL:
        return f"{count} failed runs in a row: a wall, stop or start in another direction"
    if count >= RETHINK:
        return f"{count} failed runs in a row: rethink the approach"
    return counted(count, "failed run") + (" in a row" if count > 1 else "") if count else "no failed run"


def _last_run(last_ms: int | None, now_ms: int) -> str:
    at = iso(last_ms)
    if at is None or last_ms is None:
        return ""
    minutes = (now_ms - last_ms) // 60_000
    for size, unit in ((60 * 24, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            return f"{at[:16].replace('T', ' ')} UTC, {counted(minutes // size, unit)} ago"
    return f"{at[:16].replace('T', ' ')} UTC"


def _findings(log: Log) -> str:
    levels = [found.severity for found in log.diagnostics if found.accepted is None]
    counts = [(levels.count(level), level.value) for level in (Severity.ERROR, Severity.WARNING)]
    found = " and ".join(counted(count, name) for count, name in counts if count)
    return found and f"the log has {found}: run ledger check"
