"""A metric's course, run after run, in one line of text."""

import math
import re
from collections.abc import Sequence

from ledger.base.numbers import text
from ledger.base.text import columns, cut, plain
from ledger.telling.screen import Ramp, Screen

WIDTH = 60
"""The most columns of a drawing; with more runs than that a column stands for several."""
LEAST_WIDTH = 8
"""Where a drawing would be narrower, what it means gives way to it."""
UNIT_WIDTH = 20

_GAP = 2
_WAYS = {"lower": ", down is better", "higher": ", up is better"}

Course = Sequence[float | None]
"""A metric run by run; None for a crash, which measured nothing."""


def course(metrics: Sequence[float], statuses: Sequence[str]) -> Course:
    """Give what runs measured."""
    return [None if status == "crash" else metric for metric, status in zip(metrics, statuses, strict=True)]


def trend(runs: Course, unit: str, direction: str | None, screen: Screen, room: int | None) -> str:
    """Draw runs and say between which values they lie, in at most `room` columns; empty where there are none."""
    if not runs:
        return ""
    legend = _legend(runs, unit, direction)
    width = WIDTH if room is None else min(WIDTH, room - _GAP - columns(legend))
    if room is not None and len(runs) > width:
        width = min(width, room - _GAP - columns(legend + _share(len(runs))))
    if room is not None and width < LEAST_WIDTH:
        return _painted(draw(runs, max(1, min(WIDTH, room)), screen.ramp), screen)
    size = _size(runs, width)
    return _painted(draw(runs, width, screen.ramp), screen) + " " * _GAP + legend + (_share(size) if size > 1 else "")


def draw(runs: Course, width: int, ramp: Ramp) -> str:
    """Draw a mark a run in at most `width` ≥ 1 columns, the lowest and the highest value at the ends of the ramp.

    Where runs share a column it shows the median of what they measured, and a crash only if all of them crashed.
    """
    measured = [value for value in runs if value is not None]
    low, high = min(measured, default=0.0), max(measured, default=0.0)
    size = _size(runs, width)
    shown = (_median(runs[place : place + size]) for place in range(0, len(runs), size))
    return "".join(ramp.crash if value is None else _mark(value, low, high, ramp.levels) for value in shown)


def _size(runs: Course, width: int) -> int:
    """Give the number of runs that share a column."""
    return max(1, -(-len(runs) // width))


def _median(runs: Course) -> float | None:
    """Give the lower of the middle values: one that was measured, and no sum that could overflow."""
    measured = sorted(value for value in runs if value is not None)
    return measured[(len(measured) - 1) // 2] if measured else None


def _mark(value: float, low: float, high: float, levels: str) -> str:
    if low == high:
        return levels[(len(levels) - 1) // 2]
    span = high - low
    share = (value - low) / span if math.isfinite(span) else (value / 2 - low / 2) / (high / 2 - low / 2)
    return levels[min(int(share * len(levels)), len(levels) - 1)]


def _legend(runs: Course, unit: str, direction: str | None) -> str:
    measured = [value for value in runs if value is not None]
    if not measured:
        return "nothing was measured"
    ends = " to ".join(dict.fromkeys((text(min(measured)), text(max(measured)))))
    unit = cut(plain(unit).strip(), UNIT_WIDTH)
    return f"{ends}{unit and ' '}{unit}{_WAYS.get(direction or '', '')}"


def _share(size: int) -> str:
    return f", {size:,} runs a column"


def _painted(drawing: str, screen: Screen) -> str:
    return re.sub(f"{screen.ramp.crash}+", lambda crashes: screen.paint(crashes[0], "red"), drawing)
