"""One damaged line in a sound log is one finding, whatever the damage and wherever it stands."""

import json
import re
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import pytest

from tests.oracle import codex
from tests.oracle.encode import Num, Record, Style, lines
from tests.support.reading import DIALECTS, read

START = 1_767_225_600_000


def autoresearch() -> list[Record]:
    """Make two segments with all that rules look at: numbers, confidences, stated segments, secondary metrics."""
    records: list[Record] = []
    number = 0
    for segment, metric in enumerate(("total_ms", "peak_kb")):
        records.append(
            {"type": "config", "name": "parser", "metricName": metric, "metricUnit": "", "bestDirection": "lower"}
        )
        records.append({"type": "status", "state": "running", "timestamp": START + number})
        values: list[int] = []
        for status, value in (
            ("keep", 100),
            ("discard", 130),
            ("keep", 90),
            ("crash", 0),
            ("discard", 104),
            ("keep", 70),
        ):
            number += 1
            values += [value] if status != "crash" else []
            centre = median(values)
            noise = median(abs(one - centre) for one in values)
            best = min(values) if status == "keep" else min(values[0], 90 if 90 in values else 100)
            records.append({
                "run": number, "commit": "abc1234" if status == "keep" else "", "metric": value, "status": status,
                "metrics": {} if status == "crash" else {"mem" if segment else "size": value}, "description": "try",
                "timestamp": START + number, "segment": segment,
                "confidence": Num(repr(abs(best - 100) / noise)) if noise and best < 100 and len(values) > 2 else None,
            })  # fmt: skip
            records.append(
                {
                    "type": "hook",
                    "stage": "after",
                    "exit_code": 0,
                    "duration_ms": 4,
                    "stdout_bytes": 0,
                    "timed_out": False,
                }
            )
    return [*records, {"type": "status", "state": "done", "timestamp": START}]


def state_protocol() -> list[Record]:
    """Make two segments of different metrics, each with a threshold that every keep passes."""
    records: list[Record] = []
    number = 0
    for metric in ("latency_ms", "bytes"):
        head = {"type": "config", "schema_version": 1, "name": "parser", "metric": metric, "direction": "lower"}
        records.append({**head, "min_effect_size_pct": 3, "max_runs": 30, "created_at": "2026-01-01T12:00:00Z"})
        for action, value in (("baseline", 100), ("keep", 90), ("discard", 95), ("discard", 0), ("keep", 70)):
            number += 1
            stamp = {"timestamp": f"2026-01-01T12:{number:02d}:00Z"}
            crashed = {} if value else {"status": "crash"}
            records.append({"type": "result", "run": number, "metric": metric, "value": value, **stamp, **crashed})
            records.append({"type": "decision", "run": number, "action": action, "reason": "because", **stamp})
    return [*records, {**records[-1], "action": "stop"}]


def histories() -> Iterator[tuple[Record, list[Record]]]:
    """Make codex histories that end in each way a history can."""
    trials = [codex.Step("try", Num(metric), guard_fails=metric == "7") for metric in ("12", "8", "7", "8", "5")]
    ends = [codex.Step(kind) for kind in ("blocked", "stopped", "error", "error reverted")]
    steps = [step for pair in zip(trials, [*ends, ends[0]], strict=True) for step in pair]
    for config, last in (
        (codex.config(target=1, guard="make test"), [codex.Step("try", Num("1"))]),
        (codex.config(target=-1, guard="make test", max_iterations=5), []),
        (codex.config(target=-1, guard="make test"), [codex.Step("error trial")]),
        (codex.config(target=-1, guard="make test"), []),
    ):
        yield config, codex.simulate(config, Num("10"), [*steps, *last])


def replaced(name: str) -> Callable[[Record], bytes]:
    """Make a damage that gives the first of some keys a value that it may not have."""
    keys, value = {
        "wrong word": (("status", "state", "stage", "bestDirection", "direction", "action", "outcome", "event"), "odd"),
        "wrong type": (("metric", "metricName", "run", "seq", "exit_code", "state"), True),
        "type of no kind": (("type", "event"), 5),
    }[name]

    def damage(record: Record) -> bytes:
        free = ("status",) if record.get("type") == "result" else ()  # state-protocol does not list a result's statuses
        key = next((key for key in keys if key in record and key not in free), "type")
        return json.dumps({**record, key: value}).encode()

    return damage


def without(record: Record) -> bytes:
    """Leave out a required key."""
    key = next(key for key in ("metric", "state", "exit_code", "reason", "metricName", "trial_metric") if key in record)
    return json.dumps({name: value for name, value in record.items() if name != key}).encode()


def text(record: Record) -> bytes:
    return json.dumps(record).encode()


DAMAGES: dict[str, Callable[[Record], bytes]] = {
    "garbage": lambda _: b"garbage",
    "binary": lambda _: b"\x00\xff\x00",
    "cut short": lambda record: text(record)[: len(text(record)) * 2 // 3],
    "two records": lambda record: text(record) * 2,
    "duplicate key": lambda record: text(record)[:-1] + b',"x":1,"x":1}',
    "not a number": lambda record: text(record)[:-1] + b',"x":NaN}',
    "array": lambda record: b"[" + text(record) + b"]",
    "conflict": lambda _: b"=======",
    "wrong word": replaced("wrong word"),
    "wrong type": replaced("wrong type"),
    "type of no kind": replaced("type of no kind"),
    "missing key": without,
}


def logs(dialect: str) -> Iterator[tuple[Any, list[Record]]]:
    if dialect == "codex":
        yield from histories()
    else:
        yield None, autoresearch() if dialect == "autoresearch" else state_protocol()


def findings(records: list[Record | str], dialect: str, config: Any, final_newline: bool = True) -> list[str]:
    return read(lines(records, Style(), final_newline), dialect, config).findings


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_logs_are_sound(dialect: str) -> None:
    for config, records in logs(dialect):
        assert findings([*records], dialect, config) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_one_damaged_line_is_one_finding(dialect: str, damage: str) -> None:
    for config, records in logs(dialect):
        for place, record in enumerate(records):
            raw = DAMAGES[damage](json.loads(lines([record], Style())))
            data = lines([*records], Style()).split(b"\n")
            data[place] = raw
            found = read(b"\n".join(data), dialect, config).findings
            assert len(found) == 1 and re.match(rf"{place + 1}:", found[0]), (raw, found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_torn_tail_is_one_finding(dialect: str) -> None:
    for config, records in logs(dialect):
        whole = lines([*records], Style())
        for cut in range(len(whole.rstrip(b"\n").rsplit(b"\n", 1)[0]) + 2, len(whole) - 1, 7):
            found = read(whole[:cut], dialect, config).findings
            assert len(found) == 1 and f"{len(records)}:1: L115" in found[0]
        missing = read(whole[:-1], dialect, config).findings
        assert len(missing) == 1 and ("L115" if dialect == "codex" else "L116") in missing[0]
