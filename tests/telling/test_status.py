"""The page of `ledger status` on the bundled samples and on small logs, and a run's one-line report."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from ledger.base.text import columns
from ledger.dialects import of
from ledger.log.events import Place, Run
from ledger.reading.whole_log import read_log
from ledger.telling.screen import Screen
from ledger.telling.status import one_line, status

ROOT = Path(__file__).parents[2]
NOW_MS = 1_778_600_000_000
HEADER = {"type": "config", "name": "speed", "metricName": "total_µs", "metricUnit": "µs", "bestDirection": "lower"}


def page(path: Path) -> str:
    log = read_log(path)
    return status(log, of(log.state).judge(log.state, None, NOW_MS), NOW_MS, {})


def small(folder: Path, *records: object) -> list[str]:
    path = folder / "autoresearch.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return page(path).splitlines()


def run(number: int, status: str, metric: float, **more: object) -> dict[str, object]:
    at = {"timestamp": NOW_MS - 1000 * number, "commit": "abc1234", "description": f"idea {number}"}
    return {"run": number, "metric": metric, "status": status, **at, **more}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    ("dialect", "log"),
    [
        ("autoresearch", "json-codec/autoresearch.jsonl"),
        ("state-protocol", "csv-reader/autoresearch.jsonl"),
        ("codex", "table-reader/autoresearch-results/events.jsonl"),
    ],
)
def test_samples(dialect: str, log: str):
    assert page(ROOT / "samples" / log) == (ROOT / f"tests/telling/status/{dialect}.txt").read_text("utf-8")


def test_damaged():
    lines = page(ROOT / "samples/damaged/autoresearch.jsonl").splitlines()
    assert "findings    the log has 4 errors and 2 warnings: run ledger check" in lines


def test_an_empty_log(tmp_path: Path):
    assert small(tmp_path)[1:] == [
        "goal        —",
        "metric      —",
        "target      —",
        "segment     0 (1 in the log), 0 runs",
        "baseline    —",
        "best        —",
        "streak      no failed run",
        "state       none",
        "verdict     stop: the log has errors",
        "findings    the log has 1 error: run ledger check",
    ]


def test_a_header_alone(tmp_path: Path):
    assert small(tmp_path, HEADER)[1:6] == [
        "goal        speed",
        "metric      total_µs in µs, lower is better",
        "target      —",
        "segment     0 (1 in the log), 0 runs",
        "baseline    —",
    ]


def test_one_run(tmp_path: Path):
    lines = small(tmp_path, HEADER, run(1, "keep", 14600))
    assert lines[4:9] == [
        "segment     0 (1 in the log), 1 run: 1 keep",
        "baseline    14,600 µs (run 1)",
        "best        14,600 µs (run 1), no better",
        "trend       ▄  14,600 µs, down is better",
        "streak      no failed run",
    ]
    assert lines[11:] == ["last run    2026-05-12 15:33 UTC", "", 'Run #1: keep | total_µs: 14,600 (0.0%) | "idea 1"']


def test_nothing_but_crashes(tmp_path: Path):
    lines = small(tmp_path, HEADER, *(run(number, "crash", 0) for number in range(1, 10)))
    assert lines[4:11] == [
        "segment     0 (1 in the log), 9 runs: 9 crash",
        "baseline    —",
        "best        — (no run was kept)",
        "trend       ×××××××××  nothing was measured",
        "streak      9 failed runs in a row: a wall, stop or start in another direction",
        "state       none",
        "verdict     wall: more than 8 failed runs in a row",
    ]
    assert lines[-1] == 'Run #9: crash | total_µs: — | "idea 9"'
    assert len([line for line in lines if line.startswith("Run #")]) == 5


def test_three_failures_ask_for_another_approach(tmp_path: Path):
    lines = small(tmp_path, HEADER, *(run(number, "discard", 5) for number in range(1, 4)))
    assert "streak      3 failed runs in a row: rethink the approach" in lines
    assert "best        — (no run was kept)" in lines


def test_a_best_that_is_worse_than_the_baseline(tmp_path: Path):
    lines = small(tmp_path, HEADER, run(1, "discard", 10), run(2, "keep", 12))
    assert "best        12 µs (run 2), 20.0% worse" in lines


def test_runs_of_an_earlier_segment_are_not_shown(tmp_path: Path):
    other = {**HEADER, "metricName": "mem", "metricUnit": ""}
    lines = small(tmp_path, HEADER, run(1, "keep", 1), run(2, "keep", 2), other, run(3, "keep", 3))
    assert [line for line in lines if line.startswith("Run #")] == ['Run #3: keep | mem: 3 (0.0%) | "idea 3"']
    assert lines[4].startswith("segment     1 (2 in the log), 1 run")
    assert small(tmp_path, HEADER, run(1, "keep", 1), other)[-1].startswith("findings") is False
    assert not any(line.startswith("Run #") for line in small(tmp_path, HEADER, run(1, "keep", 1), other))


def test_the_trend_is_that_of_the_segment(tmp_path: Path):
    other = {**HEADER, "bestDirection": "higher", "metricUnit": ""}
    runs = [run(1, "keep", 9), run(2, "keep", -1), run(3, "crash", 0), run(4, "checks_failed", 2.5), run(5, "keep", 6)]
    lines = small(tmp_path, HEADER, run(1, "keep", 1e300), other, *runs)
    assert lines[7] == "trend       █▁×▃▆  -1 to 9, up is better"


def test_a_trend_fits_its_screen(tmp_path: Path):
    small(tmp_path, HEADER, *(run(number, "keep", number) for number in range(1, 1001)))
    log = read_log(tmp_path / "autoresearch.jsonl")
    verdict = of(log.state).judge(log.state, None, NOW_MS)
    for width in (1, 12, 13, 20, 60, 80, 120, 500):
        lines = status(log, verdict, NOW_MS, {}, Screen(columns=width)).splitlines()
        (trend,) = (line for line in lines if line.startswith("trend "))
        assert columns(trend) <= max(width, len("trend       ▁"))
        assert ("runs a column" in trend) == (width >= 80)
        assert trend.count("█") >= (width > 13)


def test_colours_are_of_the_status_and_the_confidence(tmp_path: Path):
    statuses = ("keep", "discard", "crash", "checks_failed")
    runs = [run(number, name, number, confidence=number) for number, name in enumerate(statuses, 1)]
    small(tmp_path, HEADER, *runs, run(5, "keep", 0.5, confidence=0.5))
    log = read_log(tmp_path / "autoresearch.jsonl")
    plainly = status(log, of(log.state).judge(log.state, None, NOW_MS), NOW_MS, {})
    painted: dict[str, str | None] = {}

    def note(text: str, colour: str | None) -> str:
        painted[text] = colour
        return f"<{text}>"

    page = status(log, of(log.state).judge(log.state, None, NOW_MS), NOW_MS, {}, Screen(paint=note))
    assert page.replace("<", "").replace(">", "") == plainly
    assert painted == {
        "2 keep": "green", "1 discard": "dim", "1 crash": "red", "1 checks_failed": "yellow", "×": "red",
        "keep": "green", "discard": "dim", "crash": "red", "checks_failed": "yellow",
        "1.0×": "yellow", "2.0×": "green", "3.0×": "green", "4.0×": "green", "0.5×": "red",
        "0.7× (within noise)": "red",
    }  # fmt: skip


def test_nothing_of_a_log_steers_the_terminal(tmp_path: Path):
    hostile = "\x1b[2J\u202eevil\n\x07"
    header = {**HEADER, "name": hostile, "metricName": hostile, "metricUnit": hostile}
    lines = small(tmp_path, header, run(1, "keep", 1, description=hostile))
    assert all(line.isprintable() for line in lines)
    assert lines[1] == "goal        evil"


PLACE = Place(1, 0, 10)


@pytest.mark.parametrize(
    ("run", "baseline", "line"),
    [
        (
            Run(PLACE, 5, "keep", 14600, description="Inline hot loop", confidence=2.3),
            15176,
            'Run #5: keep | total_µs: 14,600 (-3.8%) | confidence: 2.3× | "Inline hot loop"',
        ),
        (Run(PLACE, 1, "crash", 0, description="boom"), 10, 'Run #1: crash | total_µs: — | "boom"'),
        (Run(PLACE, 2, "discard", 11.5), 10, "Run #2: discard | total_µs: 11.5 (+15.0%)"),
        (Run(PLACE, 2, "discard", 11.5), 0, "Run #2: discard | total_µs: 11.5"),
        (Run(PLACE, 2, "keep", -4.0, description="  "), None, "Run #2: keep | total_µs: -4"),
        (Run(PLACE, 3, "keep", 9.999999), 10, "Run #3: keep | total_µs: 9.999999 (0.0%)"),
        (Run(PLACE, 3, "keep", Decimal(2**63)), 1, f"Run #3: keep | total_µs: {2**63} (+9.22e+20%)"),
        (
            Run(PLACE, 3, "keep", 1, confidence=12345.678),
            1,
            "Run #3: keep | total_µs: 1 (0.0%) | confidence: 12,345.7×",
        ),
        (Run(PLACE, 4, "keep", 1, description="a " * 60), 1, f'Run #4: keep | total_µs: 1 (0.0%) | "{"a " * 29}a…"'),
    ],
)
def test_one_line(run: Run, baseline: float | None, line: str):
    assert one_line(run, "total_µs", baseline) == line


def test_one_line_without_a_metric_name():
    assert one_line(Run(PLACE, 1, "keep", 1), None, None) == "Run #1: keep | metric: 1"
