"""The verdict: each branch by example, and against the oracle on drawn logs of every dialect."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.dialects import of
from ledger.fold.verdict import Verdict, lines
from ledger.reading.whole_log import Log, read_log
from tests.oracle import codex, encode, fold, random_logs, strategies
from tests.oracle.encode import Num

DIALECTS = ("autoresearch", "state-protocol", "codex")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2026, 5, 8, 9, tzinfo=UTC)
HEADER = {"type": "config", "name": "n", "metricName": "ms", "bestDirection": "lower"}
CONFIG = {"type": "config", "schema_version": 1, "name": "n", "metric": "ms", "direction": "lower"}


def read(data: bytes, dialect: str | None = None, run_json: dict[str, Any] | None = None) -> Log:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        path.write_bytes(data)
        if run_json is not None:
            path.with_name("run.json").write_bytes(json.dumps(run_json).encode())
        return read_log(path, dialect)


def milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def log(*records: object) -> Log:
    return read(b"".join(json.dumps(record).encode() + b"\n" for record in records))


def run(number: int, status: str = "keep", **more: object) -> dict[str, object]:
    return {"run": number, "metric": 1, "status": status, "timestamp": 1_700_000_000_000, **more}


def runs(count: int, status: str = "keep", **more: object) -> list[dict[str, object]]:
    return [run(number, status, **more) for number in range(1, count + 1)]


def marker(state: str, **more: object) -> dict[str, object]:
    return {"type": "status", "state": state, "timestamp": 1_700_000_000_000, **more}


def words(found: Log, limit: int | None = None, now: datetime = START) -> str:
    return " ".join(map(str, of(found.state).judge(found.state, limit, milliseconds(now))))


def test_lines():
    assert lines(Verdict(0, 3, 0, "running", 0, "continue")) == (
        "SEGMENT=0\nSEGMENT_RUNS=3\nSTREAK=0\nLAST_STATUS=running\nBACKSTOP_ACK=0\nVERDICT=continue\n"
    )


@pytest.mark.parametrize("state", ["done", "cancelled", "wall", "blocked"])
def test_concluded_before_anything_else(state: str):
    assert words(log(HEADER, *runs(9, "crash"), marker(state)), 9) == f"0 9 9 {state} 0 concluded"
    assert words(log(HEADER, marker(state), *runs(1), marker("running"))) == "0 1 0 running 0 continue"
    assert words(log(HEADER, *runs(1), marker(state), HEADER)) == f"0 0 0 {state} 0 concluded"


def test_max_iterations_before_wall():
    assert words(log(HEADER, *runs(9, "discard")), 9) == "0 9 9 none 0 max_iterations"
    assert words(log(HEADER, *runs(9, "discard")), 10) == "0 9 9 none 0 wall"
    assert words(log(HEADER, *runs(9, "keep")), 10) == "0 9 0 none 0 continue"


def test_wall_is_more_than_eight():
    assert words(log(HEADER, *runs(8, "crash"))) == "0 8 8 none 0 continue"
    assert words(log(HEADER, *runs(9, "crash"))) == "0 9 9 none 0 wall"
    assert words(log(HEADER, *runs(9, "crash"), run(10, "checks_failed"))) == "0 10 0 none 0 continue"


def test_backstop_every_two_hundred_without_a_limit():
    assert words(log(HEADER, *runs(200))) == "0 200 0 none 0 backstop"
    assert words(log(HEADER, *runs(200)), 0) == "0 200 0 none 0 backstop"
    assert words(log(HEADER, *runs(200)), 300) == "0 200 0 none 0 continue"
    assert words(log(HEADER, *runs(201))) == "0 201 0 none 0 continue"
    assert words(log(HEADER, *runs(200), marker("running", backstop_ack=200))) == "0 200 0 running 200 continue"
    assert words(log(HEADER, *runs(400), marker("running", backstop_ack=200))) == "0 400 0 running 200 backstop"
    again = [HEADER, *runs(1), marker("running", backstop_ack=400), HEADER, *runs(200)]
    assert words(log(*again)) == "0 200 0 running 0 backstop"


def test_segment_is_what_the_last_run_states():
    stated = [run(1, "crash", segment=1), run(2, "keep"), run(3, "crash", segment=1)]
    assert words(log(HEADER, *stated)) == "1 2 2 none 0 continue"
    assert words(log(HEADER, *stated, HEADER)) == "0 0 0 none 0 continue"


def test_any_log_can_be_judged():
    assert words(read(b"")) == "0 0 0 none 0 continue"
    assert words(read(b"\xff\xfe\x00")) == "0 0 0 none 0 continue"
    assert words(log({"iter": 1}, {"status": "crash"}, {"status": "odd"})) == "0 1 1 none 0 continue"


def result(number: int, action: str | None = None, status: str = "measured") -> list[dict[str, object]]:
    at = {"run": number, "timestamp": "2026-05-08T09:00:00Z"}
    made = [{"type": "result", "metric": "ms", "value": 1, "status": status, **at}]
    return made + ([{"type": "decision", "action": action, "reason": "r", **at}] if action else [])


def session(*results: list[dict[str, object]], **config: object) -> Log:
    at = START.isoformat()
    return log({**CONFIG, "created_at": at, **config}, *(record for result in results for record in result))


def test_state_protocol_budgets():
    failed = [result(number, "discard") for number in range(1, 10)]
    later = START + timedelta(minutes=60)
    assert words(session(*failed)) == "0 9 9 none 0 wall"
    assert words(session(*failed[:8])) == "0 8 8 none 0 continue"
    assert words(session(*failed, max_runs=9)) == "0 9 9 none 0 max_iterations"
    assert words(session(*failed, max_runs=9), 10) == "0 9 9 none 0 wall"
    assert words(session(*failed, max_runs=9), 0) == "0 9 9 none 0 wall"
    assert words(session(*failed, max_minutes=60), None, later) == "0 9 9 none 0 max_minutes"
    assert words(session(*failed, max_minutes=60.001), None, later) == "0 9 9 none 0 wall"
    assert words(session(*failed, max_minutes=60, max_runs=9), None, later) == "0 9 9 none 0 max_iterations"


def test_state_protocol_passes_over_the_undecided_and_stops_by_decision():
    assert words(session(result(1, "keep"), result(2, "discard"), result(3))) == "0 3 1 none 0 continue"
    assert words(session(result(1, "keep"), result(2, "discard", "crash"))) == "0 2 1 none 0 continue"
    assert words(session(result(1, "stop"), max_runs=1)) == "0 1 0 none 0 concluded"
    assert words(session(*[result(number, "keep") for number in range(1, 201)])) == "0 200 0 none 0 continue"


def test_codex_ends_by_a_terminal_event():
    config = codex.config(target=-1)
    steps = [codex.Step("try", Num(metric)) for metric in (9, 11, 12)]
    for kind, verdict in (("blocked", "concluded"), ("stopped", "concluded"), ("error", "concluded")):
        events = codex.simulate(config, Num(10), [*steps, codex.Step(kind, resume=False)])
        found = history(events, config)
        assert words(found, 1) == f"0 3 2 {kind} 0 {verdict}"
    assert words(history(codex.simulate(config, Num(10), steps), config), 1) == "0 3 2 active 0 continue"
    assert words(read(b"", "codex", config)) == "0 0 0 none 0 continue"


def history(events: list[Any], config: dict[str, Any]) -> Log:
    return read(encode.lines(events, encode.Style()), "codex", config)


def same_as_oracle(data: bytes, dialect: str, config: Any, limit: int | None, now: datetime) -> None:
    found = read(data, dialect, config)
    assert found.ok, found.diagnostics
    ours = of(found.state).judge(found.state, limit, milliseconds(now))
    expected = fold.verdict(data, dialect, config, limit, now)
    assert dict(line.split("=", 1) for line in lines(ours).splitlines()) == {k: str(v) for k, v in expected.items()}


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_drawn_logs_are_judged_as_the_oracle_judges_them(dialect: str, data: st.DataObject):
    log_bytes, config = data.draw(strategies.logs(dialect, size=12))
    limit = data.draw(st.sampled_from([None, None, 0, 1, 3, 9]))
    now = EPOCH + timedelta(seconds=data.draw(st.integers(1_500_000_000, 1_900_000_000)))
    same_as_oracle(log_bytes, dialect, config, limit, now)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(4))
def test_longer_logs_are_judged_as_the_oracle_judges_them(dialect: str, seed: int):
    data, config = random_logs.generate(seed, dialect, 450)
    same_as_oracle(data, dialect, config, None, START)
