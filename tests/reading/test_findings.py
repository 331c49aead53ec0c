"""Hold rules that say more than one thing to each of them, and to silence where they have nothing to say."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ledger.reading.whole_log import read_log
from tests.oracle import codex
from tests.oracle.encode import Num, Record, Style, lines
from tests.support.reading import read

HEADER: Record = {"type": "config", "name": "n", "metricName": "ms", "metricUnit": "ms", "bestDirection": "lower"}
STATE: Record = {
    "type": "config",
    "schema_version": 1,
    "name": "n",
    "metric": "ms",
    "direction": "lower",
    "created_at": "2026-01-01T12:00:00Z",
}


def run(number: int, status: str = "discard", metric: Any = 1, **more: Any) -> Record:
    commit = "abc1234" if status == "keep" else ""
    record = {
        "run": number,
        "commit": commit,
        "metric": metric,
        "status": status,
        "description": "d",
        "timestamp": 1_700_000_000_000 + number,
    }
    return {**record, **more}


def result(number: int, value: Any = 1, **more: Any) -> Record:
    return {
        "type": "result",
        "run": number,
        "metric": "ms",
        "value": value,
        "timestamp": "2026-01-01T12:00:00Z",
        **more,
    }


def decision(number: int, action: str, **more: Any) -> Record:
    return {
        "type": "decision",
        "run": number,
        "action": action,
        "reason": "r",
        "timestamp": "2026-01-01T12:00:00Z",
        **more,
    }


def without(record: Record, *keys: str) -> Record:
    return {key: value for key, value in record.items() if key not in keys}


def told(records: Sequence[Record | str], dialect: str, config: Any = None) -> list[str]:
    """Give each finding as its line and code."""
    return [f"{d.line} {d.code}" for d in read(lines(records, Style()), dialect, config).diagnostics]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([HEADER, run(1, "keep", commit="")], ["2 R215"]),
        ([HEADER, run(1, commit="ABC1234")], ["2 R215"]),
        ([HEADER, run(1, commit=None)], ["2 R215"]),
        ([HEADER, run(1, timestamp=None)], ["2 R202"]),
        ([HEADER, run(1, timestamp="2026-01-01T12:00:00")], ["2 R209", "2 R210"]),
        ([HEADER, run(1, timestamp="soon")], ["2 R208"]),
        ([HEADER, run(1, metric=True)], ["2 R202"]),
        ([HEADER, without(run(1), "commit", "description", "timestamp")], ["2 R206", "2 R206", "2 R206"]),
        ([HEADER, run(1, metrics={"": 1, "constructor": 1, "prototype": 1})], ["2 R211"] * 3),
        ([HEADER, run(1, metrics={"a": True, "b": None, "c": [1], "d": "x"})], ["2 R212"] * 4),
        ([HEADER, run(0), run(1)], ["2 S402"]),
        ([HEADER, run(5)], ["2 S403"]),
        ([HEADER, run(1), run(3), run(2), run(4)], ["3 S403", "4 S404", "5 S403"]),
        ([HEADER, run(1), run(3), run(3), run(4)], ["3 S403", "4 S405"]),
        ([HEADER, run(1), "", run(2)], ["3 L113"]),
        ([HEADER, run(1), "garbage", run(3)], ["3 L103"]),
        ([HEADER, run(1), "garbage", run(4)], ["3 L103", "4 S403"]),
        ([HEADER, run(1, segment=None), run(2, segment=0), run(3, segment=2)], ["4 S407"]),
        ([run(1), HEADER, run(2, segment=1)], ["1 S401"]),
        ([{"type": "status", "state": "running", "timestamp": 1}, HEADER, run(1, segment=0)], ["1 S401"]),
        ([run(1, status="kept"), HEADER], ["1 S401", "1 R203"]),
        (["garbage", run(1), run(2)], ["1 L103"]),
        ([{**HEADER, "bestDirection": "up"}, run(1)], ["1 R203"]),
        ([{**HEADER, "bestDirection": None}, run(1)], ["1 R202"]),
        ([without(HEADER, "name", "metricUnit"), run(1)], ["1 R206"]),
        ([{**HEADER, "unit": "s", "direction": "higher"}, run(1)], ["1 R213", "1 R213"]),
        ([HEADER, {"type": None, "run": 1}], ["2 R202"]),
        ([HEADER, {"type": "status", "state": "paused", "timestamp": 1}], ["2 R203"]),
        ([HEADER, {"type": "status", "state": "running", "timestamp": 1, "backstop_ack": -1}], ["2 R204"]),
        (
            [HEADER, run(1, metrics={"a": 1}), run(2, "crash"), run(3, "checks_failed"), run(4, metrics=None)],
            ["5 S408"],
        ),
        ([HEADER, run(1, metrics={"a": 1}), run(2, asi={"note": "a was dropped"}), HEADER, run(3)], []),
        ([HEADER, run(1, "crash", 0), run(2, "crash", 0), HEADER, run(3, "crash", 0)], ["2 S409", "5 S409"]),
        ([HEADER, run(1, confidence=None), run(2, confidence=0)], ["3 S410"]),
        ([HEADER, run(1, timestamp=1_700_000_000), run(2), run(3, timestamp=1_700_000_000)], ["3 S406"]),
    ],
)
def test_autoresearch(records: list[Record | str], expected: list[str]) -> None:
    assert told(records, "autoresearch") == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([result(1)], ["1 S401"]),
        ([{**STATE, "schema_version": 2}, result(1)], ["1 R203"]),
        ([{**STATE, "schema_version": True}, result(1)], ["1 R202"]),
        ([{**STATE, "name": "", "metric": ""}, result(1)], ["1 R205", "1 R205"]),
        ([{**STATE, "created_at": "2026-01-01T12:00:00"}], ["1 R210"]),
        ([STATE, without(result(1), "value")], ["2 R201"]),
        ([STATE, result(0)], ["2 R204"]),
        ([STATE, result(1, samples=[])], ["2 R205"]),
        ([STATE, result(1, samples=[1, "2"])], ["2 R202"]),
        ([STATE, result(1, median=2, samples=[Num("2.0")])], []),
        ([STATE, result(1, median=Num("0.15"), samples=[Num("0.1"), Num("0.2")])], []),
        ([STATE, result(1, metric="KB"), decision(1, "keep")], ["2 E302"]),
        ([STATE, result(1), result(1), decision(1, "keep")], ["3 S411"]),
        ([STATE, decision(1, "keep"), result(1)], ["2 S412"]),
        ([STATE, "garbage", decision(1, "keep"), decision(2, "keep")], ["2 L103", "4 S412"]),
        ([STATE, result(1), decision(1, "accept")], ["3 R203"]),
        ([STATE, result(1), decision(1, "keep", reason="")], ["3 R205"]),
        ([STATE, result(1), decision(1, "stop"), decision(1, "keep"), decision(1, "keep")], ["5 S413"]),
        ([STATE, result(1, status="crash", value=0)], ["2 S409"]),
        ([STATE, {"run": 1}], ["2 R219"]),
        ([STATE, {"type": 1}], ["2 R202"]),
    ],
)
def test_state_protocol(records: list[Record | str], expected: list[str]) -> None:
    assert told(records, "state-protocol") == expected


@pytest.mark.parametrize(
    ("limits", "value", "expected"),
    [
        ({}, 100, []),
        ({"min_effect_size_pct": 3}, 97, []),
        ({"min_effect_size_pct": 3}, 98, ["5 E303"]),
        ({"noise_floor_pct": 3}, 98, ["5 E303"]),
        ({"min_effect_size_pct": 3, "noise_floor_pct": 5}, 98, ["5 E303"]),
        ({"min_effect_size_pct": Num("0.0")}, 101, ["5 E303"]),
        ({"min_effect_size_pct": 3, "direction": "higher"}, 104, []),
    ],
)
def test_a_keep_must_pass_every_threshold(limits: Record, value: int, expected: list[str]) -> None:
    records = [{**STATE, **limits}, result(1, 100), decision(1, "baseline"), result(2, value), decision(2, "keep")]
    assert told(records, "state-protocol") == expected


CONFIG = codex.config(target=-1, guard="make test")
SOUND = codex.simulate(
    CONFIG,
    Num("10"),
    [
        codex.Step("try", Num("12")),
        codex.Step("try", Num("8")),
        codex.Step("error reverted"),
        codex.Step("try", Num("7")),
        codex.Step("stopped", resume=False),
    ],
)
KINDS = ["baseline", "iteration", "iteration", "error", "resumed", "iteration", "stopped"]


def changed(**changes: Record) -> list[Record | str]:
    """Change events of the sound history, named e3 for the event with `seq` 3."""
    return [{**event, **changes.get(f"e{event['seq']}", {})} for event in SOUND]


def test_the_history_is_sound() -> None:
    assert [event["event"] for event in SOUND] == KINDS
    assert told(changed(), "codex", CONFIG) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"e1": {"previous_metric": 11}}, ["2 E335"]),
        ({"e1": {"retained_metric": 12}}, ["2 E340"]),
        ({"e1": {"guard": "fail"}}, ["2 E344"]),
        ({"e1": {"guard_log": "g"}}, ["2 E346"]),
        ({"e1": {"outcome": "keep"}}, ["2 E336", "2 E340", "2 E338", "2 E339", "2 E337", "2 E345"]),
        ({"e1": {"head": "abc1234"}}, ["2 E342"]),
        ({"e1": {"iteration": 7}}, ["2 E334"]),
        ({"e2": {"trial_metric": 10, "retained_metric": 10}}, ["3 E336", "4 E347"]),
        ({"e2": {"guard": "fail"}}, ["3 E337"]),
        ({"e3": {"metric": 12}}, ["4 E347"]),
        ({"e3": {"trial_commit": None}}, ["4 E349"]),
        ({"e3": {"head": "abc1234"}}, ["4 E348"]),
        ({"e3": {"revert_commit": None}}, ["4 E348", "5 E352"]),
        ({"e4": {"event": "blocked"}}, ["5 R201", "5 R207"]),
        ({"e6": {"event": "complete"}}, ["7 E350"]),
        ({"e6": {"seq": 9}}, ["7 E332"]),
        ({"e6": {"metric": Num("7.00")}}, []),
    ],
)
def test_codex(changes: Record, expected: list[str]) -> None:
    assert told(changed(**changes), "codex", CONFIG) == expected


def test_nothing_follows_complete() -> None:
    config = codex.config(target=8)
    events = codex.simulate(config, Num("10"), [codex.Step("try", Num("8"))])
    again = {**events[0], "event": "resumed", "seq": 3, "note": "n", "head": events[-1]["head"], "metric": 8}
    assert told([*events, without(again, "verify_log", "guard_log")], "codex", config) == ["4 E351"]


def test_a_second_baseline_is_one_finding() -> None:
    assert told([*SOUND[:2], {**SOUND[0], "seq": 2}], "codex", CONFIG) == ["3 E331"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({**CONFIG, "scope": []}, [(9, "R205")]),
        ({**CONFIG, "scope": ["/etc", "a/../b", "", "C:\\x"]}, [(9, "R220")] * 4),
        ({**CONFIG, "scope": ["..a", "a..", ".github"]}, []),
        ({**CONFIG, "created_at": ""}, [(4, "R208")]),
        ({**CONFIG, "max_iterations": 0}, [(21, "R204")]),
        ({**CONFIG, "target": "0"}, [(20, "R202")]),
        ({**CONFIG, "extra": 1}, [(24, "R207")]),
        (without(CONFIG, "goal"), [(0, "R201")]),
        ({**CONFIG, "metric": without(CONFIG["metric"], "direction")}, [(0, "R201")]),
        ({**CONFIG, "metric": {**CONFIG["metric"], "unit": "s"}}, [(18, "R207")]),
    ],
)
def test_run_json(config: Record, expected: list[tuple[int, str]]) -> None:
    found = read(lines([*SOUND], Style()), "codex", config).diagnostics
    assert [(d.line, d.code) for d in found if d.source == "run.json"] == expected
    assert [d for d in found if d.source is None] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "schema_version": 1,\n  "schema_version": 1\n}', (3, 3, "L108")),
        ('{\n  "target": NaN}', (2, 13, "L106")),
        ('{"goal": "a\nb"}', (1, 12, "L118")),
        ('{\n"goal": 1\n} x', (3, 3, "L105")),
        ("{\n", (2, 1, "L103")),
        ("", (0, 1, "E330")),
        ("[]", (0, 1, "E330")),
    ],
)
def test_an_unreadable_run_json_is_one_finding_at_its_place(
    tmp_path: Path, text: str, expected: tuple[int, int, str]
) -> None:
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "events.jsonl").write_bytes(lines([*SOUND], Style()))
    assert [(d.line, d.column, d.code) for d in read_log(tmp_path / "events.jsonl").diagnostics] == [expected]


@pytest.mark.parametrize(
    ("data", "dialect", "expected"),
    [
        (b"", None, "0:1: S400 no known protocol: the log is empty"),
        (b"", "autoresearch", "0:1: S400 no known protocol: the log is empty"),
        (b"\n[1]\n", None, "2:1: S400 no known protocol: it has no readable record"),
        (b"\0\1\n", None, "1:1: S400 no known protocol: it has no readable record and looks like a binary file"),
        (b'{"a\\u001b":1}\n', None, r"1:1: S400 no known protocol: its first record has the keys 'a\x1b'"),
    ],
)
def test_a_log_of_no_protocol(tmp_path: Path, data: bytes, dialect: str | None, expected: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(data)
    found = read_log(tmp_path / "x.jsonl", dialect).diagnostics
    told = [f"{d.line}:{d.column}: {d.code} {d.message}".partition(";")[0] for d in found if d.code == "S400"]
    assert told == [expected]


def test_a_column_is_that_of_the_records_own_key() -> None:
    record = {
        "type": "config",
        "asi": {"bestDirection": 1},
        "name": "bestDirection",
        "metricName": "ms",
        "bestDirection": "up",
    }
    line = lines([record], Style())
    assert read(line, "autoresearch").findings == [
        f"1:{line.rindex(b'bestDirection')}: R203 'bestDirection' must be one of lower, higher, not 'up'"
    ]


def test_messages_hold_no_control_characters() -> None:
    odd = "\x1b[31m\n\u2028"
    records: list[Record | str] = [
        {**HEADER, "bestDirection": odd},
        HEADER,
        run(1, status=odd),
        run(1, metrics={odd: odd}),
        run(2, commit=odd),
        {"type": odd},
        json.dumps(run(3)) + odd.replace("\n", ""),
    ]
    found = read(lines(records, Style()), "autoresearch").diagnostics
    assert len(found) == 7 and all(d.message.isprintable() for d in found)
