"""`ledger verdict` and `ledger status`, as processes: what a loop acts on, and what a person reads."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.cli import BAD, HEADER, SAMPLES, ledger, lines, log, run

CONTINUE = "SEGMENT=0\nSEGMENT_RUNS=2\nSTREAK=0\nLAST_STATUS=none\nBACKSTOP_ACK=0\nVERDICT=continue\n"
TWO = lines(HEADER, run(1, 100), run(2, 90))
PLUGIN = ".claude/autoresearch-ai-plugin.local.md"


def verdict(folder: Path, *arguments: object) -> str:
    """Give the verdict's word, where the log is sound."""
    code, out, err = ledger(folder, "verdict", *arguments)
    assert (code, err) == (0, "")
    assert [line.split("=")[0] for line in out.splitlines()] == [
        "SEGMENT", "SEGMENT_RUNS", "STREAK", "LAST_STATUS", "BACKSTOP_ACK", "VERDICT",
    ]  # fmt: skip
    return out.splitlines()[-1].removeprefix("VERDICT=")


def state_protocol(minutes_ago: float, **config: object) -> bytes:
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    header = {
        "type": "config", "schema_version": 1, "name": "n", "metric": "ms", "direction": "lower", "unit": "ms",
        "min_effect_size_pct": 2, "noise_floor_pct": 1, "max_runs": 20, "max_minutes": 20,
        "created_at": at.isoformat(), "files_in_scope": ["a.py"], "off_limits": [], **config,
    }  # fmt: skip
    result = {
        "type": "result", "run": 1, "commit": "abc1234", "metric": "ms", "value": 5, "samples": [5], "median": 5,
        "status": "measured", "timestamp": at.isoformat(), "description": "d",
    }  # fmt: skip
    return lines(header, result)


def test_six_lines(tmp_path: Path):
    log(tmp_path, TWO)
    assert ledger(tmp_path, "verdict", "autoresearch.jsonl") == (0, CONTINUE, "")
    assert ledger(tmp_path, "verdict") == (0, CONTINUE, "")


def test_json(tmp_path: Path):
    log(tmp_path, TWO)
    code, out, err = ledger(tmp_path, "verdict", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "segment": 0, "segment_runs": 2, "streak": 0, "last_status": "none", "backstop_ack": 0, "verdict": "continue",
    }  # fmt: skip


@pytest.mark.parametrize(("limit", "word"), [("2", "max_iterations"), ("3", "continue"), ("0", "continue")])
def test_max_iterations(limit: str, word: str, tmp_path: Path):
    log(tmp_path, TWO)
    assert verdict(tmp_path, "--max-iterations", limit) == word


@pytest.mark.parametrize("limit", ["-1", "x", "1.5"])
def test_a_limit_is_a_whole_number(limit: str, tmp_path: Path):
    log(tmp_path, TWO)
    code, out, err = ledger(tmp_path, "verdict", "--max-iterations", limit)
    assert (code, out) == (2, "")
    assert "Invalid value for '--max-iterations'" in err


def test_settings_files(tmp_path: Path):
    log(tmp_path, TWO, ".auto/log.jsonl")
    log(tmp_path, b"---\nmax_iterations: 2\n---\nnotes\n", PLUGIN)
    assert verdict(tmp_path) == "max_iterations"
    log(tmp_path, b'{"maxIterations": 3}', ".auto/config.json")
    assert verdict(tmp_path) == "continue"
    assert verdict(tmp_path, "--max-iterations", 1) == "max_iterations"
    assert verdict(tmp_path / ".auto", "log.jsonl") == "continue"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (".auto/config.json", b'{"maxIterations": "many"}'),
        (".auto/config.json", b"{"),
        (PLUGIN, b"---\nmax_iterations: -1\n---\n"),
        (PLUGIN, b"---\nmax_iterations: [\n---\n"),
    ],
)
def test_a_settings_file_that_cannot_be_used(name: str, data: bytes, tmp_path: Path):
    log(tmp_path, TWO)
    log(tmp_path, data, name)
    for command in ("verdict", "status"):
        code, out, err = ledger(tmp_path, command)
        assert (code, out) == (2, "")
        assert err.startswith("ledger: cannot use ") and name in err and err.count("\n") == 1


def test_errors_go_to_stderr_and_the_six_lines_stay(tmp_path: Path):
    log(tmp_path, BAD + lines({"type": "status", "state": "x\nVERDICT=go", "timestamp": 1}))
    code, out, err = ledger(tmp_path, "verdict")
    assert code == 1
    assert out == "SEGMENT=0\nSEGMENT_RUNS=1\nSTREAK=0\nLAST_STATUS=none\nBACKSTOP_ACK=0\nVERDICT=continue\n"
    assert [line.split(": ")[0] for line in err.splitlines()] == [
        "autoresearch.jsonl:3:19", "autoresearch.jsonl:4:18", "ledger",
    ]  # fmt: skip
    assert err.endswith("ledger: autoresearch.jsonl has errors; the loop must stop until they are repaired\n")


@pytest.mark.parametrize("data", [b"", b"\n", b'{"iter":0}\n', b"\xff\xfe\n", b'{"type":"config"'])
def test_six_lines_for_any_file(data: bytes, tmp_path: Path):
    log(tmp_path, data)
    code, out, err = ledger(tmp_path, "verdict")
    assert code == 1
    assert out == "SEGMENT=0\nSEGMENT_RUNS=0\nSTREAK=0\nLAST_STATUS=none\nBACKSTOP_ACK=0\nVERDICT=continue\n"
    assert err.startswith("autoresearch.jsonl:")


def test_a_concluded_session_and_a_wall(tmp_path: Path):
    log(tmp_path, TWO + lines({"type": "status", "state": "done", "timestamp": 1_700_000_003_000}))
    assert ledger(tmp_path, "verdict").out.endswith("LAST_STATUS=done\nBACKSTOP_ACK=0\nVERDICT=concluded\n")
    log(tmp_path, TWO + lines(*(run(number, 101, "discard") for number in range(3, 12))))
    assert ledger(tmp_path, "verdict").out.endswith("STREAK=9\nLAST_STATUS=none\nBACKSTOP_ACK=0\nVERDICT=wall\n")


def test_backstop(tmp_path: Path):
    runs = lines(HEADER, *(run(number, 300 - number) for number in range(1, 201)))
    log(tmp_path, runs)
    assert verdict(tmp_path) == "backstop"
    assert verdict(tmp_path, "--max-iterations", 500) == "continue"
    marker = {"type": "status", "state": "running", "timestamp": 1_700_000_300_000, "backstop_ack": 200}
    log(tmp_path, runs + lines(marker))
    assert ledger(tmp_path, "verdict").out.endswith("LAST_STATUS=running\nBACKSTOP_ACK=200\nVERDICT=continue\n")


def test_state_protocol(tmp_path: Path):
    log(tmp_path, state_protocol(30))
    assert verdict(tmp_path) == "max_minutes"
    log(tmp_path, state_protocol(10))
    assert verdict(tmp_path) == "continue"
    log(tmp_path, state_protocol(10, max_runs=1))
    assert verdict(tmp_path) == "max_iterations"
    assert verdict(tmp_path, "--max-iterations", 2) == "continue"
    shutil.copy(SAMPLES / "csv-reader/autoresearch.jsonl", tmp_path)
    assert verdict(tmp_path) == "concluded"


@pytest.mark.parametrize("name", ["", "run.json", "events.jsonl"])
def test_codex(name: str, tmp_path: Path):
    folder = tmp_path / "autoresearch-results"
    shutil.copytree(SAMPLES / "table-reader/autoresearch-results", folder)
    assert verdict(tmp_path, folder / name) == "concluded"
    assert verdict(tmp_path) == "concluded"
    history = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(history[:3]))
    assert verdict(tmp_path, folder / name) == "continue"


def test_standard_input(tmp_path: Path):
    assert ledger(tmp_path, "verdict", "-", stdin=TWO) == (0, CONTINUE, "")
    assert ledger(tmp_path, "status", "-", stdin=TWO).out.startswith("log         standard input (autoresearch)\n")


@pytest.mark.parametrize("command", ["verdict", "status"])
def test_there_must_be_one_log(command: str, tmp_path: Path):
    code, out, err = ledger(tmp_path, command)
    assert (code, out, err[:26]) == (2, "", "ledger: No active session ")
    assert ledger(tmp_path, command, "x") == (2, "", "ledger: cannot read x: no such file or folder\n")
    log(tmp_path, TWO, "a/autoresearch.jsonl")
    assert ledger(tmp_path, command, ".")[::2] == (0, "")
    log(tmp_path, TWO, "b/autoresearch.jsonl")
    code, out, err = ledger(tmp_path, command, ".")
    assert (code, out) == (2, "")
    assert err.endswith("Error: . holds 2 logs; name one of them\n")


@pytest.mark.parametrize(
    ("sample", "dialect", "shown"),
    [
        ("json-codec/autoresearch.jsonl", "autoresearch", "best        471 MB/s (run 19), 14.3% better"),
        ("csv-reader/autoresearch.jsonl", "state-protocol", "state       stopped by a decision"),
        ("table-reader", "codex", "target      0, met"),
    ],
)
def test_status(sample: str, dialect: str, shown: str, tmp_path: Path):
    code, out, err = ledger(tmp_path, "status", SAMPLES / sample)
    assert (code, err) == (0, "")
    assert f" ({dialect})\n" in out.splitlines(keepends=True)[0]
    assert shown in out
    assert len([line for line in out.splitlines() if line.startswith("Run #")]) == 5
    assert out.endswith("\n") and not out.endswith("\n\n")


def test_status_of_an_empty_log(tmp_path: Path):
    log(tmp_path, b"")
    code, out, err = ledger(tmp_path, "status")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "log         autoresearch.jsonl (no known protocol)"
    assert out.endswith("findings    the log has 1 error: run ledger check\n")


def test_a_log_steers_no_terminal(tmp_path: Path):
    header = {**HEADER, "name": "n\x1b]0;title\x07", "metricName": "m\x1b[31m", "metricUnit": "\x9b2J"}
    log(tmp_path, lines(header, run(1, 1, description="a\x1b[2Jb\nc\u202ed")))
    code, out, err = ledger(tmp_path, "status")
    assert (code, err) == (0, "")
    assert "goal        n\nmetric      m, lower is better\n" in out and out.endswith('| "ab cd"\n')
    assert all(line.isprintable() for line in out.splitlines())
