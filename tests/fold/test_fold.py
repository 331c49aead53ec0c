"""Hold the fold to the oracle's views of whole logs, for every dialect."""

import math
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.base.numbers import decimal
from ledger.base.times import iso
from ledger.fold.segment import Segment
from ledger.fold.state import State
from ledger.log.events import Run
from tests.oracle import fold, random_logs, strategies
from tests.support.reading import DIALECTS, read

NOW = datetime(2026, 5, 6, 13, tzinfo=UTC)
dialects = pytest.mark.parametrize("dialect", DIALECTS)


def figures(segment: Segment) -> dict[str, Any]:
    """Give a segment's row of the view `segments`, as the fold has it."""
    return {
        **segment.counts,
        "path": "log",
        "segment": segment.ordinal,
        "name": segment.name,
        "metric_name": segment.metric_name,
        "unit": segment.unit,
        "direction": segment.direction,
        "runs": segment.runs,
        "baseline_run": segment.baseline_run,
        "baseline": number(segment.baseline),
        "best_run": segment.best_run,
        "best": number(segment.best),
        "improvement_pct": segment.improvement_pct,
        "confidence": segment.confidence,
        "streak": segment.streak.current,
        "longest_streak": segment.streak.longest,
        "first_at": iso(segment.first_ms),
        "last_at": iso(segment.last_ms),
    }


def number(value: Any) -> float | None:
    return None if value is None else float(value)


def segments(state: State) -> list[Segment]:
    return [*state.closed, *([state.current()] if state.segment else [])]


def same(ours: Any, theirs: Any) -> bool:
    """Tell whether two figures are the same, derived ones to what doubles can say."""
    if isinstance(ours, float) and isinstance(theirs, float | int):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return bool(ours == theirs)


def agrees(log: bytes, dialect: str, config: Any) -> None:
    rows = fold.views("log", log, dialect, config)
    whole = read(log, dialect, config)
    state, found = whole.state, segments(whole.state)
    runs = [(ordinal, one) for ordinal, one in whole.events if isinstance(one, Run)]
    assert len(found) == len(rows["segments"])
    for segment, row in zip(found, rows["segments"], strict=True):
        ours = figures(segment)
        assert ours.keys() == row.keys()
        if blurred({decimal(run.metric) for ordinal, run in runs if ordinal == segment.ordinal}):
            ours["confidence"] = row["confidence"]
        assert {key: (ours[key], row[key]) for key in row if not same(ours[key], row[key])} == {}
    assert state.status == rows["sessions"][0]["state"]
    to_best = {row["segment"]: place_of_best(rows["runs"], row["segment"]) for row in rows["best"]}
    assert {one.ordinal: one.runs_to_best for one in found if one.best is not None} == to_best


def blurred(metrics: set[Decimal]) -> bool:
    """Tell whether unequal measurements lie so close together that doubles cannot give their noise."""
    nearly, subnormal = Decimal("1e-12"), Decimal("1e-290")
    gaps = ((high - low, max(abs(low), abs(high))) for low, high in pairwise(sorted(metrics)))
    return any(gap <= nearly * largest or gap <= subnormal for gap, largest in gaps)


def place_of_best(runs: list[dict[str, Any]], segment: int) -> int:
    """Count the runs of a segment up to its best; a codex baseline is run 0 and counts for nothing."""
    own = [run for run in runs if run["segment"] == segment]
    place = next(place for place, run in enumerate(own, 1) if run["is_best"])
    return place - len([run for run in own[:place] if run["status"] == "baseline" and run["run"] == 0])


@dialects
@settings(max_examples=35, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_drawn_logs_fold_to_what_the_oracle_sees(dialect: str, data: st.DataObject) -> None:
    log, config = data.draw(strategies.logs(dialect))
    agrees(log, dialect, config)


@dialects
@pytest.mark.parametrize("seed", range(6))
def test_random_logs_fold_to_what_the_oracle_sees(dialect: str, seed: int) -> None:
    log, config = random_logs.generate(seed, dialect, 120)
    agrees(log, dialect, config)


@settings(max_examples=35, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.autoresearch_logs())
def test_the_verdicts_region_is_what_the_oracle_sees(log: bytes) -> None:
    verdict = fold.verdict(log, "autoresearch", None, None, NOW)
    del verdict["VERDICT"]
    region = read(log, "autoresearch").state.region
    ours = (
        region.stated,
        region.runs.get(region.stated, 0),
        region.streak,
        region.last_status or "none",
        region.backstop_ack,
    )
    assert ours == tuple(verdict.values())
