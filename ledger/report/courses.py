"""How sessions went, from the mirror: the best so far against the baseline, in percent, by run and by hour.

Positive is better. Each segment starts again at its own baseline; runs count through all the session's segments of the
metric, hours from the first of these runs. Only where the best changes, and at the end, is there a point.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ledger.base.times import parse_iso
from ledger.fold.segment import percent
from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.views import by_name

Metric = tuple[str, str, str | None]
"""What sessions must share to be compared: name, unit, direction."""


class Leg(NamedTuple):
    """Hold a segment's part of a course: run positions from 0, hours where times are known, percent."""

    runs: list[int]
    hours: list[float | None]
    percent: list[float]


class Course(NamedTuple):
    """Hold how a session went in one metric: its legs, and how much each better run gained, in points of percent."""

    legs: list[Leg]
    gains: list[float]
    longest_streak: int


class _Segment(NamedTuple):
    metric: Metric
    baseline: float | None
    longest_streak: int


def courses(raw: Raw, filters: Filters) -> dict[tuple[str, Metric], Course]:
    """Follow every session that the filters leave, by its path and metric."""
    segments = _segments(raw, filters)
    found: dict[tuple[str, Metric], Course] = {}
    columns = ("path", "segment", "run", "status", "best_so_far", "at")
    rows = _named(raw, "runs", filters, columns)
    for path, of_path in groupby(rows, key=itemgetter(0)):
        clocks: dict[Metric, _Clock] = {}
        for ordinal, of_segment in groupby(of_path, key=itemgetter(1)):
            segment = segments.get((path, ordinal))
            if segment is None:
                continue
            clock = clocks.setdefault(segment.metric, _Clock())
            course = found.setdefault((path, segment.metric), Course([], [], 0))
            leg = _leg(of_segment, segment, clock, course.gains)
            if leg.runs:
                course.legs.append(leg)
            longest = max(course.longest_streak, segment.longest_streak)
            found[path, segment.metric] = course._replace(longest_streak=longest)
    return found


def _segments(raw: Raw, filters: Filters) -> dict[tuple[str, int], _Segment]:
    columns = ("path", "segment", "metric_name", "unit", "direction", "baseline", "longest_streak")
    rows = _named(raw, "segments", filters, columns)
    return {
        (path, ordinal): _Segment((name, unit, direction), baseline, longest)
        for path, ordinal, name, unit, direction, baseline, longest in rows
        if name is not None
    }


def _named(raw: Raw, view: str, filters: Filters, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield some columns of a view's rows."""
    known = by_name(view)
    rows = queries.query(raw, known, Filters(sessions=filters.sessions, metric=filters.metric))
    return map(itemgetter(*map(known.columns.index, columns)), rows)


class _Clock:
    """Count a session's runs of one metric, and the hours since the first of them."""

    def __init__(self) -> None:
        self.run = 0
        self.start_ms: int | None = None

    def hours(self, at: str | None) -> float | None:
        read = parse_iso(at) if at else None
        if read is None:
            return None
        self.start_ms = read[0] if self.start_ms is None else self.start_ms
        return round((read[0] - self.start_ms) / 3_600_000, 4)


def _leg(rows: Iterable[tuple[Any, ...]], segment: _Segment, clock: _Clock, gains: list[float]) -> Leg:
    """Follow one segment: a point where the best changes, and one at its last run."""
    leg = Leg([], [], [])
    before, last = 0.0, None
    for _, _, run, status, best, at in rows:
        clock.run += not (status == "baseline" and run == 0)
        if clock.start_ms is None:
            clock.hours(at)
        last = at
        change = None if best is None else percent(best, segment.baseline)
        if change is None:
            continue
        value = change if segment.metric[2] == "higher" else 0.0 - change
        if leg.percent and value == leg.percent[-1]:
            continue
        _put(leg, clock.run, clock.hours(at), value)
        if value > before:
            gains.append(value - before)
        before = value
    if leg.runs and leg.runs[-1] != clock.run:
        _put(leg, clock.run, clock.hours(last), leg.percent[-1])
    return leg


def _put(leg: Leg, run: int, hours: float | None, value: float) -> None:
    leg.runs.append(run)
    leg.hours.append(hours)
    leg.percent.append(value)
