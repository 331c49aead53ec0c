import math
from bisect import insort
from statistics import median
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ledger.fold import confidence
from ledger.fold.confidence import Gauge, mad, mad_near
from ledger.fold.segment import Segment
from ledger.log.events import Header, Place

FLOATS = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e150, 1e150))
RUNS = st.lists(
    st.tuples(
        st.one_of(st.integers(-3, 8).map(float), st.floats(-1e9, 1e9)),
        st.sampled_from(["keep", "discard", "crash", "checks_failed"]),
    ),
    min_size=1,
    max_size=12,
)
DIRECTIONS = st.sampled_from(["lower", "higher"])


def naive_mad(values: list[float]) -> float:
    centre = median(values)
    return median(abs(value - centre) for value in values)


@given(st.lists(FLOATS, min_size=1))
@example([5e-324, 0.0, 0.0, 1.0])
def test_mad_is_that_of_the_standard_library(values: list[float]) -> None:
    assert confidence.median(sorted(values)) == median(values)
    assert confidence.mad(sorted(values)) == naive_mad(values)


def naive_score(runs: list[tuple[float, str]], direction: str) -> float | None:
    """Compute the confidence as protocols.md 6 says it."""
    measured = [metric for metric, status in runs if status != "crash"]
    kept = [metric for metric, status in runs if status == "keep"]
    if len(measured) < 3 or not kept or not (noise := naive_mad(measured)):
        return None
    best = min(kept) if direction == "lower" else max(kept)
    better = best < measured[0] if direction == "lower" else best > measured[0]
    value = abs(best - measured[0]) / noise
    return value if better and math.isfinite(value) else None


def naive_common(runs: list[tuple[float, str]], direction: str) -> float | None:
    """Compute it as the most common writer does: metrics above 0 alone, and the first run as baseline."""
    positive = [metric for metric, _ in runs if metric > 0]
    kept = [metric for metric, status in runs if status == "keep" and metric > 0]
    if len(positive) < 3 or not kept or not (noise := naive_mad(positive)):
        return None
    best = min(kept) if direction == "lower" else max(kept)
    return abs(best - runs[0][0]) / noise if best != runs[0][0] else None


@given(RUNS, DIRECTIONS)
def test_a_gauge_knows_what_either_formula_gives(runs: list[tuple[float, str]], direction: str) -> None:
    gauge = Gauge(direction)
    for count, (metric, status) in enumerate(runs, 1):
        gauge.add(metric, status)
        for formula in (naive_score, naive_common):
            value = formula(runs[:count], direction)
            if value is not None:
                assert gauge.agrees(value)
                assert not math.isfinite(value * 1e6) or gauge.agrees(round(value, 1))


@given(RUNS, DIRECTIONS, st.floats(0.01, 1e6))
def test_a_gauge_refuses_what_neither_formula_gives(
    runs: list[tuple[float, str]], direction: str, stored: float
) -> None:
    near = [value for formula in (naive_score, naive_common) if (value := formula(runs, direction)) is not None]
    assume(all(abs(value - stored) > 1 for value in near))
    gauge = Gauge(direction)
    for metric, status in runs:
        gauge.add(metric, status)
    assert not gauge.agrees(stored)


@given(
    st.lists(st.one_of(FLOATS, st.integers(0, 9).map(float)), min_size=1, max_size=40),
    st.integers(0, 50),
)
def test_the_nearer_half_is_found_from_anywhere(values: list[float], start: int) -> None:
    ordered = sorted(values)
    found, place = mad_near(ordered, start)
    assert found == mad(ordered)
    assert mad_near(ordered, place)[0] == found and 0 <= place < len(ordered)


@given(st.lists(st.tuples(st.one_of(FLOATS, st.integers(0, 9).map(float)), st.integers(0, 99)), min_size=1))
def test_the_nearer_half_is_followed_from_value_to_value(values: list[tuple[float, int]]) -> None:
    ordered: list[float] = []
    place = 0
    for value, removed in values:
        if removed < 10 and len(ordered) > 1:
            del ordered[removed % len(ordered)]
        insort(ordered, value)
        noise, place = mad_near(ordered, place)
        assert noise == mad(ordered)


class Watched(list[float]):
    """Count how often a value is looked at."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return super().__getitem__(place)


def test_a_median_that_jumps_between_clusters_is_found_quickly() -> None:
    low, high = [number / 1e6 for number in range(10_000)], [9 + number / 1e6 for number in range(10_000)]
    place = 0
    for values in (low + high[:-1], low[:-1] + high, low + high) * 2:
        ordered = Watched(values)
        found, place = mad_near(ordered, place)
        assert found == mad(values)
        assert ordered.looks < 250


def test_a_gain_past_every_double_has_no_confidence() -> None:
    runs = [(1.7e308, "keep"), (-1.7e308, "keep"), (0.0, "discard"), (1.0, "discard")]
    gauge = Gauge("lower")
    assert not gauge.follow([metric for metric, _ in runs], [status for _, status in runs], [None, None, None, 1.5])


@given(RUNS, RUNS, DIRECTIONS)
def test_runs_taken_back_leave_no_trace(
    runs: list[tuple[float, str]], more: list[tuple[float, str]], direction: str
) -> None:
    gauge, other = Gauge(direction), Gauge(direction)
    for metric, status in runs:
        gauge.add(metric, status)
        other.add(metric, status)
    metrics, statuses = [metric for metric, _ in more], [status for _, status in more]
    stored = [*[None] * len(more), 9e99]
    assert not gauge.follow([*metrics, 1.0], [*statuses, "keep"], stored)
    for one in (gauge, other):
        one.agrees(9e99)  # sorts what is only sorted on demand
    assert vars(gauge) == vars(other)


def header(direction: str) -> Header:
    return Header(Place(1, 0, 1), "n", "ms", "ms", direction, None, {}, {})


@given(RUNS, DIRECTIONS, st.data())
def test_a_segment_asked_twice_says_the_same(
    runs: list[tuple[float, str]], direction: str, data: st.DataObject
) -> None:
    segment = Segment(0, header(direction))
    metrics: list[Any] = [metric for metric, _ in runs]
    statuses = [status for _, status in runs]
    stored = [data.draw(st.sampled_from([None, 9e9, naive_score(runs[: n + 1], direction)])) for n in range(len(runs))]
    wrong = 9e9 in stored
    assert segment.confidences_agree(metrics, statuses, stored) is not wrong
    if wrong:
        assert not segment.confidences_agree(metrics, statuses, stored)
        assert segment.confidences_agree(metrics, statuses, [None if value == 9e9 else value for value in stored])


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, None),
        (2.0, "likely real"),
        (1.99, "marginal"),
        (1.0, "marginal"),
        (0.99, "within noise"),
        (0.0, "within noise"),
    ],
)
def test_words(value: float | None, word: str | None) -> None:
    assert confidence.word(value) == word


@pytest.mark.parametrize(
    ("best", "baseline", "values", "expected"),
    [
        (8, 10, [8, 10, 13], 1.0),
        (8, 10, [8, 10], None),
        (8, 10, [8, 10, 10, 10], None),
        (10, 8, [8, 10, 13], None),
        (None, 10, [8, 10, 13], None),
        (8, None, [8, 10, 13], None),
        (-1e308, 1e308, [-1e308, 0.0, 5e-324, 1e308], None),
    ],
)
def test_score(best: float | None, baseline: float | None, values: list[float], expected: float | None) -> None:
    assert confidence.score(best, baseline, "lower", values) == expected
