"""Whatever the bytes: the mirror gives them back, and grown in steps, rebuilt or taken at once it holds the same."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mirroring import Mirror, examples, mirror_at, write
from tests.oracle import codex, random_logs, strategies
from tests.oracle.encode import Num, Record, Style, lines
from tests.reading import DIALECTS

ROOT = Path(__file__).parent.parent
SAMPLES = [
    path.read_bytes()
    for path in (*sorted(ROOT.glob("samples/**/*.jsonl")), *sorted(ROOT.glob("tests/logs/*.jsonl")))
    if path.stat().st_size < 20_000
]
CONFIG = codex.config(target=5, max_iterations=3)
HISTORY = lines(
    codex.simulate(CONFIG, Num("10"), [codex.Step("try", Num(value)) for value in ("9", "11", "4")]), Style()
)

PIECES = [
    *(
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\x85",
        b"\x0b",
    ),
    *(b"{", b"}", b'"', b",", b"\\", b"[]", b"null", b"NaN", b"1e999", b"\\u0000", b"\\ud800", b"<<<<<<< HEAD\n"),
    *(b'{"type":"config","metricName":"ms","bestDirection":"lower"}\n', b'{"type":"status","state":"done"}\n'),
    *(b'{"run":1,"metric":1,"status":"keep"}\n', b'{"run":18446744073709551616,"metric":-0,"status":"discard"}\n'),
    *(b'{"type":"config","schema_version":1}\n', b'{"event":"stopped","seq":0}\n', b'{"type":"hook"}\n', b"7e12345"),
]


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    with mirror_at(tmp_path_factory.mktemp("mirror") / "mirror.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs").resolve()


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, Record | None]:
    """Draw a log and do to it what editors, crashes, merges and disks do."""
    drawn = [strategies.logs(dialect, size=5) for dialect in DIALECTS]
    data, config = draw(st.one_of(st.sampled_from([*((one, None) for one in SAMPLES), (HISTORY, CONFIG)]), *drawn))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 3, 40, 400])))
        piece = draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(b""), st.just(data[start:end] * 2))
        )
        data = data[:start] + piece + data[end:]
    return data, draw(st.sampled_from([config, config, config, None]))


anything = st.one_of(
    damaged(),
    st.tuples(st.binary(max_size=300), st.none()),
    st.tuples(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.sampled_from([None, CONFIG])),
)


def physical_lines(data: bytes) -> list[bytes]:
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


@examples(250)
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
        assert [(row["line"], row["data"]) for row in mirror.rows("lines", path)] == list(enumerate(expected, 1))
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
    grown, whole = write(folder, "grown", b"", run_json), write(folder, "whole", data, run_json)
    try:
        grow(mirror, grown, data, cuts, **options)
        mirror.sync(whole, **options)
        expected = mirror.laid_open(whole)
        assert mirror.laid_open(grown) == expected
        mirror.rebuild(grown)
        assert mirror.laid_open(grown) == expected
    finally:
        mirror.forget(grown, whole)


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


@examples(150)
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
