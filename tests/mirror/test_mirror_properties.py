"""Whatever the bytes: the mirror gives them back, and grown in steps, rebuilt or taken at once it holds the same."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import random_logs, strategies
from tests.oracle.encode import Record
from tests.support.damaged import anything
from tests.support.mirroring import Mirror, examples, write
from tests.support.reading import DIALECTS


def physical_lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


@examples(120)
@given(log=anything)
def test_any_bytes_come_back_and_every_line_is_accounted_for(
    mirror: Mirror, folder: Path, log: tuple[bytes, Record | None]
) -> None:
    data, run_json = log
    path = write(folder, "any", data, run_json)
    outcome = mirror.sync(path, quarantine=True)
    try:
        expected = physical_lines(data)
        assert (outcome.status, outcome.lines, outcome.pending) == ("new", len(expected), 0)
        assert mirror.export(path) == data
        held = mirror.raw.execute("SELECT line, data FROM lines ORDER BY line").fetchall()
        assert held == list(enumerate(expected, 1))
        shown = [line.decode("utf-8", "backslashreplace") for line in expected]
        assert [(row["line"], row["data"]) for row in mirror.rows("lines", path)] == list(enumerate(shown, 1))
        assert mirror.verify(path).ok
        assert mirror.sync(path).status == "unchanged"
    finally:
        mirror.forget(path)


def grow(mirror: Mirror, path: Path, data: bytes, cuts: list[int], **options: bool) -> list[str]:
    """Let a log grow from cut to cut, and sync it at each."""
    statuses = []
    for cut in sorted({*cuts, len(data)}):
        path.write_bytes(data[:cut])
        statuses.append(mirror.sync(path, **options).status)
    return statuses


def agree(mirror: Mirror, folder: Path, log: tuple[bytes, Record | None], cuts: list[int], **options: bool) -> None:
    """Hold a log grown in steps, one taken at once, and one derived anew from its stored bytes to the same rows."""
    data, run_json = log
    grown = write(folder, "grown", b"", run_json)
    whole, twin = (write(folder, name, data, run_json) for name in ("whole", "twin"))
    try:
        grow(mirror, grown, data, cuts, **options)
        mirror.sync_many(whole, twin, **options)
        expected = mirror.laid_open(whole)
        assert mirror.laid_open(twin) == expected
        assert mirror.laid_open(grown) == expected
        mirror.rebuild(grown)
        assert mirror.laid_open(grown) == expected
    finally:
        mirror.forget(grown, whole, twin)


cuts = st.lists(st.tuples(st.integers(0, 4000), st.booleans()), max_size=6)


def places(data: bytes, drawn: list[tuple[int, bool]]) -> list[int]:
    """Turn drawn numbers into places to cut a log: anywhere, or behind a line."""
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10] or [0]
    return [ends[number % len(ends)] if whole else number % (len(data) + 1) for number, whole in drawn]


@pytest.mark.parametrize("dialect", DIALECTS)
@examples(40)
@given(data=st.data())
def test_grown_in_steps_is_the_same_as_at_once(mirror: Mirror, folder: Path, dialect: str, data: st.DataObject) -> None:
    log, run_json = data.draw(strategies.logs(dialect))
    steps = places(log, data.draw(cuts))
    agree(mirror, folder, (log, run_json), steps)
    agree(mirror, folder, (log, run_json), steps, quarantine=True)


@examples(70)
@given(log=anything, steps=cuts)
def test_damaged_logs_grow_alike(
    mirror: Mirror, folder: Path, log: tuple[bytes, Record | None], steps: list[tuple[int, bool]]
) -> None:
    agree(mirror, folder, log, places(log[0], steps), quarantine=True)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(2))
def test_long_logs_grow_alike(mirror: Mirror, folder: Path, dialect: str, seed: int) -> None:
    log, run_json = random_logs.generate(seed, dialect, 600)
    rng = Random(seed)
    agree(mirror, folder, (log, run_json), [rng.randrange(len(log)) for _ in range(12)])
