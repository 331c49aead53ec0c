"""The segments of a log as stretches of its rows: what the fold has of each, its noise, and its failure streaks."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ledger.base.numbers import Number
from ledger.base.text import plain
from ledger.fold.confidence import mad, median, word
from ledger.fold.segment import Segment
from ledger.report.account import Account
from ledger.report.run_columns import CRASH, FAILED, UNDECIDED, Columns


class SegmentSpan(NamedTuple):
    """Hold a segment with its rows, from `first` up to `end`; `best` and `baseline` are rows too."""

    segment: Segment
    first: int
    end: int
    baseline: int | None
    best: int | None
    target: Number | None


class StreakSpan(NamedTuple):
    """Hold failed runs in a row: the rows of the first and the last, and how many they are."""

    segment: int
    first: int
    last: int
    length: int
    current: bool


def spans(account: Account) -> list[SegmentSpan]:
    """Lay out the segments over the rows, in order."""
    found, end = [], len(account.columns)
    for segment in reversed(account.segments()):
        first = account.starts.get(segment.ordinal, end)
        statuses = account.columns.status[first:end]
        found.append(
            SegmentSpan(
                segment, first, end, _baseline(statuses, first, segment), _best(statuses, first, segment),
                account.targets.get(segment.ordinal),
            )
        )  # fmt: skip
        end = first
    return found[::-1]


def _baseline(statuses: list[str], first: int, segment: Segment) -> int | None:
    if segment.baseline is None:
        return None
    if "b" in statuses:
        return first + statuses.index("b")
    return first + next(place for place, status in enumerate(statuses) if status != CRASH)


def _best(statuses: list[str], first: int, segment: Segment) -> int | None:
    """Find the best run's row; the baseline of a codex log stands before the runs that are counted."""
    if segment.runs_to_best is None:
        return None
    uncounted = len(statuses) - segment.runs
    return first + segment.runs_to_best - 1 + uncounted


def shown(found: list[SegmentSpan]) -> SegmentSpan:
    """Choose the segment that stands for the log: the last that has runs, else the last."""
    return next((span for span in reversed(found) if span.end > span.first), found[-1])


def figures(span: SegmentSpan, columns: Columns) -> dict[str, Any]:
    """Give a segment for the page's script: what the chart of its runs needs."""
    segment = span.segment
    centre, noise = _noise(span, columns)
    return {
        "ordinal": segment.ordinal,
        "metric": plain(segment.metric_name or "metric"),
        "unit": plain(segment.unit),
        "direction": segment.direction,
        "first": span.first,
        "end": span.end,
        "baseline": None if segment.baseline is None else float(segment.baseline),
        "baseline_row": span.baseline,
        "best_row": span.best,
        "improvement_pct": segment.improvement_pct,
        "confidence": segment.confidence,
        "confidence_word": word(segment.confidence),
        "centre": centre,
        "mad": noise,
        "target": None if span.target is None else float(span.target),
    }


def _noise(span: SegmentSpan, columns: Columns) -> tuple[float | None, float | None]:
    """Give the median of a segment's measurements and their median deviation, from which its confidence comes."""
    rows = range(span.first, span.end)
    ordered = sorted(columns.metric[row] for row in rows if columns.status[row] != CRASH)
    if not ordered:
        return None, None
    centre, noise = median(ordered), mad(ordered)
    return (centre, noise) if math.isfinite(centre) and math.isfinite(noise) else (None, None)


def streaks(span: SegmentSpan, columns: Columns) -> Iterator[StreakSpan]:
    """Yield every maximal failure streak of a segment; undecided results are passed over."""
    first = last = length = 0
    for row in range(span.first, span.end):
        status = columns.status[row]
        if status in FAILED:
            first = row if not length else first
            last, length = row, length + 1
        elif status != UNDECIDED and length:
            yield StreakSpan(span.segment.ordinal, first, last, length, False)
            length = 0
    if length:
        yield StreakSpan(span.segment.ordinal, first, last, length, True)
