"""Many writers on one log: each line whole, each run number once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.dialects import policy_of
from ledger.dialects.writing import RunOutcome
from ledger.session.writer import writing
from tests.support.cli import COMMAND, environment, ledger

PROCESSES, APPENDS = 8, 200

WRITER = """
import sys
from pathlib import Path
from ledger.loop.by_hand import log_run
from ledger.dialects.writing import RunOutcome
from ledger.session.files import of_log
session, writer, count = of_log(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
for number in range(count):
    text = f"writer {writer}, its run {number}" + " and more" * (number % 7)
    log_run(session, RunOutcome("discard", number, text, metrics={"mem": writer}), 1_700_000_000_000 + number)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    done = ledger(tmp_path, "init", "speed", "--metric", "total_ms", "--direction", "lower")
    assert done.code == 0, done.err
    return tmp_path / ".auto" / "log.jsonl"


def wait(children: "list[subprocess.Popen[bytes]]") -> None:
    for child in children:
        _, said = child.communicate(timeout=300)
        assert (child.returncode, said) == (0, b"")


def check_runs(folder: Path, log: Path, count: int) -> list[str]:
    """Assert that the log holds so many runs, numbered in file order, and give their descriptions."""
    done = ledger(folder, "check", log)
    assert (done.code, done.out) == (0, "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n")
    runs = [record for record in map(json.loads, log.read_bytes().splitlines()) if "run" in record]
    assert [run["run"] for run in runs] == list(range(1, count + 1))
    return [run["description"] for run in runs]


def test_eight_writers_of_two_hundred_runs(tmp_path: Path, log: Path):
    env = environment(tmp_path)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, log, str(writer), str(APPENDS)], env=env, stderr=subprocess.PIPE
        )
        for writer in range(PROCESSES)
    ]
    wait(children)
    said = check_runs(tmp_path, log, PROCESSES * APPENDS)
    assert len(set(said)) == PROCESSES * APPENDS
    for writer in range(PROCESSES):  # each writer's own runs are in its own order
        own = [int(text.split("its run ")[1].split()[0]) for text in said if text.startswith(f"writer {writer},")]
        assert own == list(range(APPENDS))


def test_commands_at_the_same_time(tmp_path: Path, log: Path):
    env = environment(tmp_path)
    words = ("log", "--metric", "5", "--status", "discard", "--description")
    for turn in range(3):
        children = [
            subprocess.Popen(
                [*COMMAND, *words, f"turn {turn} of {writer}"],
                cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            for writer in range(PROCESSES)
        ]  # fmt: skip
        wait(children)
    check_runs(tmp_path, log, 3 * PROCESSES)


def test_a_writer_without_the_lock_is_noticed(tmp_path: Path, log: Path):
    with writing(log) as pen:
        made = policy_of(pen.state).run_records(pen.state, RunOutcome("discard", 1, "x"), 1_700_000_000_000)
        with log.open("ab") as file:
            file.write(b'{"type":"status","state":"running","timestamp":1700000000000}\n')
        with pytest.raises(LedgerError, match="was written to without its lock"):
            pen.append(*made)
    assert ledger(tmp_path, "check", log).code == 0
