"""Hold what the sample logs are diagnosed with, and amount to, to files and figures that were read and counted."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger.reading.whole_log import Log, read_log
from tests.oracle import fold

TESTS = Path(__file__).parent
LOGS = sorted((TESTS.parent / "logs").glob("*.jsonl"))
COUNTED: dict[str, tuple[int, int]] = {
    "clean-single-segment": (1, 27),
    "config-run-pairs-mixed-commits": (5, 9),
    "config-without-metric": (0, 0),
    "extended-fields-bool-metrics": (11, 45),
    "hook-finalize-explore": (4, 29),
    "interleaved-sessions": (198, 437),
    "kind-init-run-result": (0, 0),
    "many-hooks-run-zero": (1, 67),
    "metric-is-a-name": (0, 0),
    "parallel-duplicate-runs": (1, 95),
    "run-restarts-stated-segments": (54, 122),
    "snake-case-config-result-type": (2, 0),  # ten runs without a number, none of which can be read
    "spaced-sorted-keys": (13, 26),
    "trailing-zero-numbers": (0, 0),  # five runs of no protocol
}


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_there_are_all_logs() -> None:
    assert {log.stem for log in LOGS} == set(COUNTED)


def test_diagnostics_are_those_that_were_read_and_agreed_with(path: Path) -> None:
    found = [f"{d.line}:{d.column}: {d.code} {d.severity.value} {d.message}\n" for d in read_log(path).diagnostics]
    assert "".join(found) == (TESTS / "golden" / f"{path.stem}.txt").read_text(encoding="utf-8")


def test_segments_and_runs_are_those_counted_by_hand(path: Path) -> None:
    state = read_log(path).state
    segments = [*state.closed, *([state.current()] if state.segment else [])]
    assert (len(segments), sum(segment.runs for segment in segments)) == COUNTED[path.stem]


def test_no_data_in_a_golden_file_breaks_a_line() -> None:
    for golden in (TESTS / "golden").glob("*.txt"):
        text = golden.read_text(encoding="utf-8")
        assert text.splitlines() == text.split("\n")[:-1]
        assert all(re.match(r"\d+:\d+: [LRES]\d{3} (error|warning|info) ", line) for line in text.splitlines())


def six_lines(log: Log) -> tuple[Any, ...]:
    region = log.state.region
    return (
        region.stated,
        region.runs.get(region.stated, 0),
        region.streak,
        region.last_status or "none",
        region.backstop_ack,
    )


def test_region_is_what_the_oracle_says(path: Path) -> None:
    verdict = fold.verdict(path.read_bytes(), "autoresearch", None, None, datetime.now(UTC))
    del verdict["VERDICT"]
    assert six_lines(read_log(path)) == tuple(verdict.values())
