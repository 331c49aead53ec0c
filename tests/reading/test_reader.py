"""Hold reading to what no single rule says: it never raises, and neither speed nor blocks change what is true."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.dialects import DIALECTS as KNOWN
from ledger.dialects import by_name, encode
from ledger.dialects.base import Kind, Object
from ledger.log.events import Unread
from ledger.log.jsontext import decode
from ledger.reading.whole_log import read_log
from tests.oracle import random_logs, strategies
from tests.support.reading import DIALECTS, Read, laid_open, read

SAMPLES = sorted((Path(__file__).parents[1] / "logs").glob("*.jsonl"))
quickly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
dialects = pytest.mark.parametrize("dialect", DIALECTS)
ODD: list[Any] = [
    None,
    True,
    "",
    "x",
    -1,
    0,
    1.5,
    1e300,
    2**70,
    [],
    [1],
    {},
    {"a": {"b": [None]}},
    "2026-01-01",
    "config",
    "keep",
]


def drawn(dialect: str) -> st.SearchStrategy[tuple[bytes, Any]]:
    return strategies.logs(dialect)


# --- reading never raises -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", [*DIALECTS, None])
@quickly
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from([b"\n", b"{}", b'{"run":', b"\xff", b"\r", b'"'])).map(b"".join),
    )
)
def test_arbitrary_bytes_are_read(dialect: str | None, data: bytes) -> None:
    read(data, dialect)


@dialects
@quickly
@given(data=st.data())
def test_mutated_logs_are_read(dialect: str, data: st.DataObject) -> None:
    log, config = data.draw(drawn(dialect))
    mutable = bytearray(log)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(mutable)))
        mutable[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"0", b'"', b"}", b"\n", b"\xff", b"-", b"\\u"])
        )
    read(bytes(mutable), dialect, config)


@pytest.mark.parametrize("own", [*DIALECTS, None])
@dialects
@settings(quickly, max_examples=10)
@given(data=st.data())
def test_records_with_odd_values_are_read_by_every_dialect(dialect: str, own: str | None, data: st.DataObject) -> None:
    log, config = data.draw(drawn(dialect))
    records = [json.loads(line) for line in log.split(b"\n") if line.strip()]
    for target in (*records[:3], *([config] if config else [])):
        key = data.draw(st.sampled_from([*target, "new"]))
        if data.draw(st.booleans()):
            target[key] = data.draw(st.sampled_from(ODD))
    read(b"".join(map(encode, records)), own, config)


@quickly
@given(run_json=st.one_of(st.binary(max_size=40), st.sampled_from(ODD).map(json.dumps).map(str.encode)))
def test_any_run_json_is_read(tmp_path_factory: pytest.TempPathFactory, run_json: bytes) -> None:
    folder = tmp_path_factory.mktemp("codex")
    (folder / "run.json").write_bytes(run_json)
    (folder / "events.jsonl").write_bytes(b'{"event":"baseline","seq":0}\n')
    assert any(d.source == "run.json" for d in read_log(folder / "events.jsonl").diagnostics)


# --- neither the fast path nor the blocks change anything -----------------------------------------------------------


def agree(one: Read, other: Read) -> None:
    assert laid_open(one.events) == laid_open(other.events)
    assert one.diagnostics == other.diagnostics
    assert laid_open(one.state) == laid_open(other.state)


def agrees_however_it_is_read(log: bytes, dialect: str, config: Any) -> None:
    slow = read(log, by_name(dialect)._replace(accept=None), config)
    for block_bytes in (64 * 1024, 997, 1):
        agree(read(log, dialect, config, block_bytes), slow)


@dialects
@quickly
@given(data=st.data())
def test_drawn_logs_are_the_same_however_they_are_read(dialect: str, data: st.DataObject) -> None:
    agrees_however_it_is_read(*data.draw(drawn(dialect).map(lambda log: (log[0], dialect, log[1]))))


@dialects
@pytest.mark.parametrize("seed", range(4))
def test_random_logs_are_the_same_however_they_are_read(dialect: str, seed: int) -> None:
    log, config = random_logs.generate(seed, dialect, 150)
    agrees_however_it_is_read(log, dialect, config)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_logs_are_the_same_however_they_are_read(path: Path) -> None:
    agrees_however_it_is_read(path.read_bytes(), "autoresearch", None)


def test_plain_runs_never_reach_the_rules() -> None:
    asked: list[object] = []
    dialect = by_name("autoresearch")

    def kind_of(record: Object) -> Kind:
        asked.append(record.get("type"))
        return dialect.kind_of(record)

    log = SAMPLES[0].with_name("clean-single-segment.jsonl").read_bytes()
    assert len(read(log, dialect._replace(kind_of=kind_of)).events) == 28
    assert asked == ["config"]


RUN = {"run": 1, "commit": "abc1234", "metric": 1, "status": "keep", "description": "d", "timestamp": 1_700_000_000_000}
CHANGES: dict[str, list[Any]] = {
    "run": [1, 2, 3, 0, -1, "1", 1.0],
    "commit": ["abc1234", "", "ABC1234", "abc123", "abc12345678901", "abc1234abc1234"],
    "metric": [1, 0, 1.5, 2**53 + 1, 2**63, True, "1"],
    "status": ["keep", "discard", "crash", "checks_failed", "kept", None],
    "description": ["d", "", None, "nul \0"],
    "timestamp": [1_700_000_000_000, 1_700_000_000, 1.7e9, -1, "2026-01-01T00:00:00Z", 10**15],
    "metrics": [None, {}, {"a": 1}, {"a": 1, "b": 2}, {"a": "x"}, {"a": 2**60}, {"": 1}, {"constructor": 1}, []],
    "segment": [None, 0, 1, -1, True, 0.0],
    "confidence": [None, 0.5, 1, 2**60, "1"],
    "asi": [None, {}, {"why": "b is gone"}, [], {"deep": [1, {"x": None}]}],
    "type": ["run", None],
    "extra": [None, 1, {"a": [1.5]}, 2**64],
}


@quickly
@given(
    st.lists(
        st.lists(
            st.sampled_from(sorted(CHANGES)).flatmap(
                lambda key: st.tuples(st.just(key), st.sampled_from(CHANGES[key]))
            ),
            max_size=2,
        ),
        max_size=6,
    )
)
def test_a_run_is_accepted_only_if_no_rule_has_anything_to_say(changes: list[list[tuple[str, Any]]]) -> None:
    header = {"type": "config", "name": "n", "metricName": "ms", "bestDirection": "lower"}
    runs = [{**RUN, "run": number, **dict(change)} for number, change in enumerate(changes, 1)]
    log = b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in (header, *runs))
    agrees_however_it_is_read(log, "autoresearch", None)


# --- what is sound stays so, and what is read is given back ---------------------------------------------------------


def plain(value: Any) -> Any:
    """Give a JSON value in a form in which equal means equal in type and digit."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return type(value).__name__, repr(value)


def gives_its_records_back(log: bytes, dialect: str, config: Any) -> None:
    lines = log.split(b"\n")
    for segment, event in read(log, dialect, config).events:
        if not isinstance(event, Unread):
            line = decode(lines[event.place.line - 1]).value
            assert plain(by_name(dialect).record(event, segment)) == plain(line)
            assert log[event.place.offset :][: event.place.size].rstrip(b"\n") == lines[event.place.line - 1]


@dialects
@quickly
@given(data=st.data())
def test_drawn_logs_have_no_error_and_are_given_back(dialect: str, data: st.DataObject) -> None:
    log, config = data.draw(drawn(dialect))
    assert read(log, dialect, config).errors == []
    gives_its_records_back(log, dialect, config)


@dialects
@pytest.mark.parametrize("seed", range(4))
def test_random_logs_have_no_error_and_are_given_back(dialect: str, seed: int) -> None:
    log, config = random_logs.generate(seed, dialect, 150)
    assert read(log, dialect, config).errors == []
    gives_its_records_back(log, dialect, config)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_logs_are_given_back(path: Path) -> None:
    gives_its_records_back(path.read_bytes(), "autoresearch", None)


@dialects
@quickly
@given(data=st.data())
def test_a_log_is_recognised(tmp_path_factory: pytest.TempPathFactory, dialect: str, data: st.DataObject) -> None:
    log, config = data.draw(drawn(dialect))
    path = tmp_path_factory.mktemp("log") / "events.jsonl"
    path.write_bytes(log)
    path.with_name("run.json").write_text(json.dumps(config))
    whole = read_log(path)
    assert whole.dialect == dialect and whole.ok
    assert laid_open(whole.state) == laid_open(read(log, dialect, config).state)


def test_there_are_no_other_dialects() -> None:
    assert {known.name for known in KNOWN} == set(DIALECTS)
