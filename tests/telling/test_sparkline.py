"""A metric's course in one line: its scale, its width, and values that are hard to scale."""

import math
import random
import sys
from collections.abc import Sequence

import pytest

from ledger.base.text import columns
from ledger.telling.screen import ASCII, BLOCKS, Screen, confidence_colour, ramp_for, status_colour
from ledger.telling.sparkline import WIDTH, course, draw, trend

PLAIN = Screen()
LARGEST, SMALLEST = sys.float_info.max, 5e-324


@pytest.mark.parametrize(
    ("runs", "drawn"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([7, 6, 5, 4, 3, 2, 1, 0], "█▇▆▅▄▃▂▁"),
        ([10, None, 30], "▁×█"),
        ([5], "▄"),
        ([5, 5, None, 5], "▄▄×▄"),
        ([0.0, -0.0], "▄▄"),
        ([None, None], "××"),
        ([], ""),
        ([-3, -2, -1], "▁▅█"),
        ([1e300, 1, 2], "█▁▁"),
        ([LARGEST, 0, -LARGEST], "█▅▁"),
        ([SMALLEST, 0, -SMALLEST], "█▅▁"),
        ([1, math.nextafter(1, 2)], "▁█"),
    ],
)
def test_a_mark_a_run(runs: Sequence[float | None], drawn: str):
    assert draw(runs, WIDTH, BLOCKS) == drawn


def test_runs_share_columns_where_there_are_too_many():
    assert draw([1, 9, 9, None, None, 5, 7, 7], 3, BLOCKS) == "█▅▇"  # 1 9 9, crash crash 5, 7 7
    assert draw([None] * 5 + [1, 2], 2, BLOCKS) == "×▁"
    assert draw(list(range(1000)), 1, BLOCKS) == "▄"
    assert draw([LARGEST] * 200 + [-LARGEST] * 200, 4, BLOCKS) == "██▁▁"


def test_every_length_fits_every_width():
    chance = random.Random(4)
    for _ in range(500):
        size, width = chance.randrange(1, 400), chance.randrange(1, 80)
        runs = [chance.choice([None, chance.uniform(-5, 5)]) for _ in range(size)]
        drawn = draw(runs, width, ASCII)
        assert 1 <= len(drawn) <= width and set(drawn) <= set("".join(ASCII))
        assert len(drawn) == size or size > width


@pytest.mark.parametrize(
    ("runs", "unit", "direction", "line"),
    [
        ([1.5, 14600], "µs", "lower", "▁█  1.5 to 14,600 µs, down is better"),
        ([1, 2], "", "higher", "▁█  1 to 2, up is better"),
        ([2, 2], "ms", None, "▄▄  2 ms"),
        ([None], "ms", "lower", "×  nothing was measured"),
        ([-1e300, 1e300], "", "lower", "▁█  -1e+300 to 1e+300, down is better"),
        ([], "ms", "lower", ""),
        ([1, 2], "\x1b[2J\u202em\ns" * 20, "lower", "▁█  1 to 2 m sm sm sm sm sm sm…, down is better"),
    ],
)
def test_what_it_means_stands_beside_it(runs: Sequence[float | None], unit: str, direction: str | None, line: str):
    assert trend(runs, unit, direction, PLAIN, None) == line


@pytest.mark.parametrize("count", [1, 7, 59, 60, 61, 121, 100_000])
def test_no_screen_is_outgrown(count: int):
    runs = [float(number) for number in range(count)]
    whole = trend(runs, "ms", "lower", PLAIN, None)
    drawing, _, legend = whole.partition("  ")
    assert len(drawing) <= WIDTH
    shared = f", {-(-count // WIDTH):,} runs a column" if count > WIDTH else ""
    assert legend.endswith(f"down is better{shared}")
    assert all(1 <= columns(trend(runs, "ms", "lower", PLAIN, room)) <= room for room in range(1, 140))
    assert trend(runs, "ms", "lower", PLAIN, 140) == whole
    assert trend(runs, "ms", "lower", PLAIN, 0) == trend(runs, "ms", "lower", PLAIN, -5)
    assert len(trend(runs, "ms", "lower", PLAIN, -5)) == 1


def test_a_crash_is_no_measurement():
    assert course([3, 0, 2, 1], ["keep", "crash", "checks_failed", "measured"]) == [3, None, 2, 1]


def test_marks_that_the_encoding_can_say():
    assert [ramp_for(name) for name in ("utf-8", "UTF8", "utf-16", "gb18030")] == [BLOCKS] * 4
    assert [ramp_for(name) for name in ("ascii", "iso8859-1", "cp1252", "no such encoding", None)] == [ASCII] * 5
    assert len(ASCII.levels) == len(BLOCKS.levels)
    assert trend([1, None, 2], "max", None, Screen(ramp=ASCII), None) == ".x@  1 to 2 max"


def test_crashes_are_painted_and_nothing_else():
    screen = Screen(ramp=ASCII, paint=lambda text, colour: f"<{colour} {text}>")
    assert trend([1, None, None, 2, None], "max", None, screen, None) == ".<red xx>@<red x>  1 to 2 max"


def test_colours():
    assert [status_colour(word) for word in ("keep", "baseline", "discard", "crash", "checks_failed")] == [
        "green", "green", "dim", "red", "yellow"
    ]  # fmt: skip
    assert [status_colour(word) for word in ("measured", "kept", "", None, 1, True)] == [None] * 6
    assert [confidence_colour(value) for value in (2, 2.0, 1e300, 1.999, 1, 0.99, 0, -3)] == [
        "green", "green", "green", "yellow", "yellow", "red", "red", "red"
    ]  # fmt: skip
    assert [confidence_colour(value) for value in (None, "2", True)] == [None] * 3
