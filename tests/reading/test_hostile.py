"""Input made to do harm: giants, odd names, pipes and links, text that would steer what shows it."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import HEADER, assert_refused, ledger, lines, log, run
from tests.torture import giants

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and names are other ones there")


@pytest.mark.parametrize("giant", giants.GIANTS, ids=lambda giant: giant.name)
def test_a_giant_is_taken_or_refused_in_bounded_memory(giant: giants.Giant, tmp_path: Path):
    done = [cost.command for cost in giants.costs(giant, tmp_path, giant.short)]
    assert done == (["check", "sync", "verify"] if giant.sync == 0 else ["check", "sync"])


ODD_NAMES = ["a\nb", "quote'\"`$(true)", "\x1b[2J", "sp ace", "-dash", "=1+1", "\u202eright", "%s{}", "x" * 200, "ü"]


@POSIX
@pytest.mark.parametrize("name", [*ODD_NAMES, b"\xff\xfe"], ids=ascii)
def test_a_folder_of_any_name(name: str | bytes, tmp_path: Path):
    folder = tmp_path / os.fsdecode(name)
    path = log(folder)
    for command in (("check",), ("sync",), ("status",), ("verify",)):
        done = ledger(tmp_path, *command, f"./{path.relative_to(tmp_path)}")
        assert done.code == 0, done
        assert all(line.isprintable() for line in (done.out + done.err).splitlines()), done
    (row,) = json.loads(ledger(tmp_path, "sessions", "--format", "json").out)
    assert row["runs"] == 3
    done = ledger(tmp_path, "export", row["session"], "-o", "out.jsonl")
    assert done.code == 0 and (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()
    bad = log(folder, b"{\n", "bad.jsonl")
    done = ledger(tmp_path, "check", f"./{bad.relative_to(tmp_path)}")
    assert done.code == 1 and all(line.isprintable() for line in done.out.splitlines())


@POSIX
def test_links_that_lead_nowhere(tmp_path: Path):
    (tmp_path / "a.jsonl").symlink_to("b.jsonl")
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "again").symlink_to("..")
    log(tmp_path / "folder")
    for command in ("check", "status", "repair"):
        assert_refused(ledger(tmp_path, command, "a.jsonl"), "a.jsonl")
    assert ledger(tmp_path, "sync", "a.jsonl").code == 2
    done = ledger(tmp_path, "sync", ".")  # the folder that holds itself is walked once
    assert done.code == 0 and done.out.count("\n") == 1


READING = [
    *(("check", "LOG"), ("sync", "LOG"), ("status", "LOG"), ("verdict", "LOG"), ("brief", "LOG"), ("snapshot", "LOG")),
    *(("repair", "LOG"), ("report", "LOG", "-o", "out"), ("review", "accept", "LOG", "L106", "--reason", "r")),
    *(("review", "list", "LOG"), ("review", "drop", "LOG", "L106")),
    *(("merge", "LOG", "good.jsonl", "-o", "out"), ("merge", "good.jsonl", "LOG", "-o", "out")),
    ("merge", "--driver", "good.jsonl", "good.jsonl", "LOG"),
]
NAMING = [("verify", "LOG"), ("export", "LOG", "-o", "out"), ("forget", "LOG", "--yes")]
WRITING = [
    ("repair", "LOG", "--safe", "--yes"),
    ("repair", "LOG", "--undo"),
    ("log", "--log", "LOG", "--metric", "1", "--status", "keep", "--commit", "abc1234", "--description", "d"),
    ("mark", "--log", "LOG", "running"),
    ("decide", "1", "stop", "--reason", "r", "--log", "LOG"),
    *(("cancel", "--log", "LOG"), ("measure", "--log", "LOG"), ("run", "--log", "LOG", "--description", "d")),
    ("loop", "--log", "LOG", "--agent", "true"),
]


@POSIX
@pytest.mark.parametrize("command", [*READING, *NAMING, *WRITING], ids=" ".join)
def test_a_pipe_or_a_device_is_no_log(command: tuple[str, ...], tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    log(tmp_path, name="good.jsonl")
    assert command not in NAMING or ledger(tmp_path, "sync", "good.jsonl").code == 0
    for name in ("pipe", "/dev/zero", "/dev/null"):
        words = ["is not in the mirror" if command in NAMING else "it is no regular file"]
        assert_refused(ledger(tmp_path, *(name if word == "LOG" else word for word in command)), *words)
    assert not (tmp_path / "out").exists()
    assert not [*tmp_path.glob("pipe?*"), *Path("/dev").glob("zero.*"), *Path("/dev").glob("null.*")]


@POSIX
def test_standard_input_by_its_name_is_no_log(tmp_path: Path):
    for command in ("check", "sync", "status"):
        done = ledger(tmp_path, command, "/dev/stdin")
        assert done.code == 2 and "Traceback" not in done.err, done


@POSIX
def test_a_pipe_or_a_device_is_no_mirror(tmp_path: Path):
    log(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "/dev/null"):
        for command in ("sync", "runs"):
            assert_refused(ledger(tmp_path, command, "--db", name), "is no regular file")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "autoresearch.jsonl"}


NASTY = (
    "\x1b]0;t\x07\x1b[2J\x9b1m\u202e\u2028\r\x08=cmd|' /C calc'!A0"
    "<script>alert(1)</script><img src=x onerror=alert(1)>`|\\"
)


def nasty_log(folder: Path) -> None:
    """Write a log that is nasty wherever it may be."""
    text = f"=1+1{NASTY}"
    header = {**HEADER, "name": text, "metricName": text, "metricUnit": text, text: text}
    more: dict[str, Any] = {
        "metrics": {text: 1},
        "asi": {text: text, "hypothesis": text, "next": text},
        text: text,
        "commit": text,
    }
    runs = [{**run(number, number), "description": text, **more} for number in (1, 2, 3)]
    hook = {"type": "hook", "stage": "before", "exit_code": 0, "duration_ms": 1, "stdout_bytes": 0, "timed_out": False}
    log(folder, lines(header, *runs, {**hook, text: text}, {"type": text, "state": text}))
    assert ledger(folder, "sync", "--quarantine").code == 0


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    nasty_log(folder)
    return folder


SHOWING = [
    *(("verdict",), ("verdict", "--format", "json"), ("snapshot",), ("merge", ".", ".", "-o", "/dev/null")),
    *(("export", ".", "-o", "/dev/null"), ("sync", "--quarantine", "--replace"), ("db", "info")),
    *(("check",), ("status",), ("brief",), ("repair",), ("verify",), ("sessions",), ("segments",), ("runs", "--wide")),
    *(("best",), ("streaks",), ("compare",), ("metrics",), ("events",), ("sql", "SELECT * FROM findings")),
    *(("runs", "--format", "markdown"), ("check", "--format", "github"), ("review", "list")),
]


@pytest.mark.parametrize("command", SHOWING, ids=" ".join)
def test_no_text_of_a_log_steers_a_terminal(command: tuple[str, ...], nasty: Path):
    done = ledger(nasty, *command)
    assert done.code in (0, 1), done
    assert not [char for char in done.out + done.err if not (char.isprintable() or char == "\n")], done


@pytest.mark.parametrize("view", ["sessions", "segments", "runs", "best", "streaks", "compare", "metrics", "events"])
def test_no_text_of_a_log_is_a_formula(view: str, nasty: Path):
    comma = list(csv.reader(io.StringIO(ledger(nasty, view, "--format", "csv").out, newline="")))
    tab = [line.split("\t") for line in ledger(nasty, view, "--format", "tsv").out.split("\n")[:-1]]
    for rows in (comma, tab):
        cells = [cell for row in rows for cell in row]
        assert view == "streaks" or any("1+1" in cell for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "\t", "\r"))]


def test_no_text_of_a_log_is_markup(nasty: Path):
    done = ledger(nasty, "report", "-o", "page.html")
    assert done.code == 0, done
    page = (nasty / "page.html").read_text("utf-8")
    assert "alert(1)" in page and "<script>alert" not in page and "<img src=x" not in page
