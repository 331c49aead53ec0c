"""The views, the fold and an independent oracle say the same of any log; ranks are those that counting gives."""

import json
from decimal import localcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.mirror.views import VIEWS
from ledger.reading.whole_log import read_log
from tests.oracle import fold, random_logs, strategies
from tests.oracle.encode import Num, Record, Style, lines
from tests.support.damaged import anything
from tests.support.mirroring import Mirror, examples, write
from tests.support.reading import DIALECTS

DERIVED = {"delta_pct", "improvement_pct", "confidence"}
"""What views compute in doubles: of numbers that doubles hold badly it differs from an exact result."""

UNRANKED = {"rank", "rank_improvement"}
TIMES = {"timestamp", "time", "created_at"}
FIGURES = (
    *("name", "metric_name", "unit", "direction", "runs"),
    *("baseline_run", "baseline", "best_run", "best", "improvement_pct", "confidence"),
)


def comparable(row: dict[str, Any], without: set[str]) -> dict[str, Any]:
    """Take a row's columns as what they mean: numbers as doubles, derived ones to nine digits."""
    made: dict[str, Any] = {}
    for key, value in row.items():
        if key in without:
            continue
        if key in DERIVED and value is not None:
            made[key] = pytest.approx(float(value), rel=1e-9, abs=1e-9)
        else:
            made[key] = float(value) if type(value) is int else value
    return made


def same_rows(view: str, found: list[dict[str, Any]], expected: list[dict[str, Any]], without: set[str]) -> None:
    """Hold rows to those of the oracle; where a view promises no order they are put into one."""
    if view in ("streaks", "compare", "metrics"):
        found, expected = (sorted(rows, key=in_some_order) for rows in (found, expected))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert comparable(mine, without) == comparable(theirs, without)


def in_some_order(row: dict[str, Any]) -> str:
    keys = ("path", "segment", "run", "first_run", "last_run", "length", "metric_name", "unit", "direction", "value")
    row = {key: float(value) if type(value) is int else value for key, value in row.items()}
    return repr([row.get("name"), *(row.get(key) for key in keys)])


def same_events(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Hold events to the oracle's; a detail may repeat what has a column too, but nothing else."""
    for mine, theirs in zip(found, expected, strict=True):
        detail = json.loads(mine["detail"])
        kept = {key: value for key, value in detail.items() if key in theirs["detail"] or key not in {*TIMES, "run"}}
        assert {**mine, "detail": kept} == theirs


def agrees(mirror: Mirror, path: Path, log: tuple[bytes, Record | None], dialect: str, without: set[str]) -> None:
    data, run_json = log
    assert mirror.sync(path).status == "new"
    for view, expected in fold.views(str(path), data, dialect, run_json).items():
        found = mirror.rows(view, path)
        for row in found:
            row.pop("session", None)
        if view == "events":
            same_events(found, expected)
        else:
            same_rows(view, found, expected, {*without, *(UNRANKED if view == "compare" else ()), "warnings"})


def agrees_with_fold(mirror: Mirror, path: Path) -> None:
    state = read_log(path).state
    segments = [*state.closed, *([state.current()] if state.segment else [])]
    for row, segment in zip(mirror.rows("segments", path), segments, strict=True):
        folded = {name: getattr(segment, name) for name in FIGURES}
        folded |= {"baseline": exactly(segment.baseline), "best": exactly(segment.best)}
        assert comparable({name: row[name] for name in FIGURES}, set()) == comparable(folded, set())
        assert {name: row[name] for name in segment.counts} == segment.counts
        assert (row["streak"], row["longest_streak"]) == (segment.streak.current, segment.streak.longest)
    (session,) = mirror.rows("sessions", path)
    assert session["state"] == state.status
    assert session["warnings"] == sum(found.severity.value == "warning" for found in read_log(path).diagnostics)


def exactly(value: Any) -> float | None:
    return None if value is None else float(value)


@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
@examples(40)
@given(data=st.data())
def test_views_are_the_fold_and_the_oracle(
    mirror: Mirror, folder: Path, dialect: str, wild: bool, data: st.DataObject
) -> None:
    log = data.draw(strategies.logs(dialect, wild=wild))
    path = write(folder, "one", *log)
    try:
        agrees(mirror, path, log, dialect, DERIVED if wild else set())
        agrees_with_fold(mirror, path)
    finally:
        mirror.forget(path)


@examples(80)
@given(log=anything)
def test_views_are_the_fold_of_damaged_logs_too(mirror: Mirror, folder: Path, log: tuple[bytes, Record | None]) -> None:
    path = write(folder, "one", *log)
    try:
        mirror.sync(path, quarantine=True)
        agrees_with_fold(mirror, path)
    finally:
        mirror.forget(path)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_long_logs_agree(mirror: Mirror, folder: Path, dialect: str, seed: int) -> None:
    log = random_logs.generate(seed, dialect, 400)
    path = write(folder, "one", *log)
    try:
        agrees(mirror, path, log, dialect, DERIVED)
        agrees_with_fold(mirror, path)
    finally:
        mirror.forget(path)


def bests(data: bytes, dialect: str, run_json: Record | None) -> dict[tuple[str, str, str], Any]:
    """Give a log's best kept metric, exactly, for each metric it has segments of."""
    found: dict[tuple[str, str, str], Any] = {}
    for segment in fold.read(data, dialect, run_json).segments:
        key = (segment.metric_name, segment.unit, segment.direction)
        found.setdefault(key, None)
        if segment.best and (found[key] is None or segment.better(segment.best.metric, found[key])):
            found[key] = segment.best.metric
    return found


def rank(value: Any, values: list[Any], *, higher: bool) -> int | None:
    """Rank a value by counting those that beat it."""
    if value is None:
        return None
    return 1 + len([other for other in values if other is not None and (other > value if higher else other < value)])


def ranked(mirror: Mirror, logs: dict[Path, tuple[bytes, str, Record | None]]) -> int:
    """Hold the ranks of `compare` to counting, and give the number of its rows."""
    with localcontext(fold.EXACT):
        known = {str(path): bests(*log) for path, log in logs.items()}
    rows = mirror.rows("compare")
    keys = [(row["metric_name"], row["unit"], row["direction"]) for row in rows]
    assert sorted((row["path"], *key) for row, key in zip(rows, keys, strict=True)) == sorted(
        (path, *key) for path, found in known.items() for key in found
    )
    for row, key in zip(rows, keys, strict=True):
        rivals = [found[key] for found in known.values() if key in found]
        assert row["rank"] == rank(known[row["path"]][key], rivals, higher=key[2] == "higher")
        gains = [other["improvement_pct"] for other, its in zip(rows, keys, strict=True) if its == key]
        assert row["rank_improvement"] == rank(row["improvement_pct"], gains, higher=True)
    return len(rows)


@examples(15)
@given(data=st.data())
def test_ranks_are_what_counting_gives(mirror: Mirror, folder: Path, data: st.DataObject) -> None:
    logs = {}
    for number in range(data.draw(st.integers(2, 5))):
        dialect = data.draw(st.sampled_from(DIALECTS))
        log, run_json = data.draw(strategies.logs(dialect, size=4))
        logs[write(folder, f"many{number}", log, run_json)] = (log, dialect, run_json)
    try:
        for path in logs:
            mirror.sync(path)
        ranked(mirror, logs)
    finally:
        mirror.forget(*logs)


CLOSE = [
    *("0.1", "0.10", "1e-1", "0.10000000000000000001", "0.10000000000000000002", "0.09999999999999999999"),
    *("9007199254740992", "9007199254740993", "9007199254740993.0", "9007199254740992.5", "9.007199254740993e15"),
]
"""Numbers that are two to doubles, and many to those who read them exactly."""

close_logs = st.lists(st.lists(st.sampled_from(CLOSE), min_size=1, max_size=4), min_size=1, max_size=3)


@examples(40)
@given(first=close_logs, second=close_logs, direction=st.sampled_from(["lower", "higher"]))
def test_of_numbers_that_doubles_do_not_tell_apart_the_best_is_the_best(
    mirror: Mirror, folder: Path, first: list[list[str]], second: list[list[str]], direction: str
) -> None:
    logs: dict[Path, tuple[bytes, str, Record | None]] = {}
    for name, segments in (("one", first), ("two", second)):
        records: list[Record | str] = []
        for metrics in segments:
            records.append({"type": "config", "name": name, "metricName": "m", "bestDirection": direction})
            kept = ({"run": len(records), "status": "keep", "metric": Num(metric)} for metric in metrics)
            records.extend(kept)
        logs[write(folder, name, lines(records, Style()))] = (lines(records, Style()), "autoresearch", None)
    try:
        for path, (data, dialect, _) in logs.items():
            agrees(mirror, path, (data, None), dialect, DERIVED)
        ranked(mirror, logs)
    finally:
        mirror.forget(*logs)


def test_many_sessions_are_ranked_and_each_can_be_asked_for_alone(mirror: Mirror, folder: Path) -> None:
    logs = {}
    for number in range(12):
        dialect = DIALECTS[number % 3]
        log, run_json = random_logs.generate(number, dialect, 40)
        logs[write(folder, f"many{number}", log, run_json)] = (log, dialect, run_json)
    try:
        for path in logs:
            mirror.sync(path)
        assert ranked(mirror, logs) > len(logs)
        for view in fold.COLUMNS:
            everything = mirror.rows(view)
            for path in logs:
                alone = [row for row in everything if row["path"] == str(path)]
                asked = mirror.rows(view, path)
                assert asked == alone or sorted(map(repr, asked)) == sorted(map(repr, alone))
    finally:
        mirror.forget(*logs)


def test_every_view_about_runs_is_computed_anew():
    told_apart = {"findings", "accepted", "repairs", "lines"}  # what is wrong, and the bytes: tests of their own
    assert {view.name for view in VIEWS} == {*fold.COLUMNS, *told_apart}
