"""Input made to do harm: giants, odd names, other people's databases, SQL that means ill, text that would steer."""

import csv
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger import log as logs
from ledger import reader
from tests.cli import HEADER, Result, ledger, lines, log, run
from tests.torture import giants

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and names are other ones there")


def refused(done: Result, *words: str) -> None:
    """Hold a command to have failed in one sentence that has these words."""
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("ledger: ") and done.err.count("\n") == 1, done.err
    assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize("giant", giants.GIANTS, ids=lambda giant: giant.name)
def test_a_giant_is_taken_or_refused_in_bounded_memory(giant: giants.Giant, tmp_path: Path):
    assert [cost.command for cost in giants.costs(giant, tmp_path, giant.short)] == ["check", "sync"]


def test_findings_past_number_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "MOST_ALIKE", 3)
    path = log(tmp_path, lines(HEADER, *[b""] * 10, run(1, 1), b"{", b"["))
    found = [(one.line, one.code, one.message) for one in logs.read_log(path).diagnostics]
    blank = "the line is blank"
    assert found[:3] == [(2, "L113", blank), (3, "L113", blank), (4, "L113", blank)]
    assert found[3] == (5, "L113", f"{blank}; 6 more like it are not listed")
    assert [place[:2] for place in found[4:]] == [(13, "L103"), (14, "L103")]


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
        refused(ledger(tmp_path, command, "a.jsonl"), "a.jsonl")
    assert ledger(tmp_path, "sync", "a.jsonl").code == 2
    done = ledger(tmp_path, "sync", ".")  # the folder that holds itself is walked once
    assert done.code == 0 and done.out.count("\n") == 1


@POSIX
@pytest.mark.parametrize("command", ["check", "sync", "status", "verdict", "brief", "repair"])
def test_a_pipe_or_a_device_is_no_log(command: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "/dev/null", "/dev/stdin"):
        done = ledger(tmp_path, command, name)
        assert done.code == 2 and "Traceback" not in done.err, done
        assert "no regular file" in done.err or name == "/dev/stdin"


@POSIX
def test_a_pipe_or_a_device_is_no_mirror(tmp_path: Path):
    log(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "/dev/null"):
        for command in ("sync", "runs"):
            refused(ledger(tmp_path, command, "--db", name), "is no regular file")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "autoresearch.jsonl"}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirrored")
    log(folder)
    assert ledger(folder, "sync").code == 0
    return folder


@pytest.fixture
def theirs(mirrored: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Give a mirror to somebody else."""
    shutil.copytree(mirrored, tmp_path, dirs_exist_ok=True)
    with closing(sqlite3.connect(tmp_path / "mirror.db", isolation_level=None)) as raw:
        yield raw


@pytest.mark.parametrize("event", ["INSERT ON run", "UPDATE ON session", "DELETE ON block"])
def test_a_mirror_with_triggers_is_refused(event: str, theirs: sqlite3.Connection, tmp_path: Path):
    theirs.execute("CREATE TABLE taken (data)")
    theirs.execute(f"CREATE TRIGGER t AFTER {event} BEGIN INSERT INTO taken VALUES (1); END")
    log(tmp_path, lines(HEADER, run(1, 1)))
    for command in (("sync", "--replace"), ("forget", ".", "--yes"), ("db", "rebuild"), ("runs",), ("sql", "SELECT 1")):
        refused(ledger(tmp_path, *command), "has triggers")
    assert theirs.execute("SELECT count(*) FROM taken").fetchone() == (0,)


@pytest.mark.parametrize("call", ["load_extension('x')", "writefile('x', 'y')", "fts3_tokenizer('x')", "absent(1)"])
def test_a_view_that_calls_functions_calls_none(call: str, theirs: sqlite3.Connection, tmp_path: Path):
    theirs.execute("DROP VIEW best")
    theirs.execute(f"CREATE VIEW best AS SELECT {call} AS path")
    before = {path.name for path in tmp_path.iterdir()}
    for command in (("best",), ("sql", "SELECT * FROM best")):
        done = ledger(tmp_path, *command)
        assert (done.code, done.out) == (2, "") and "Traceback" not in done.err, done
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_statement_without_end_is_stopped(mirrored: Path):
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    for what, form in (("count(*)", "json"), ("max(x)", "csv"), ("x", "table")):
        done = ledger(mirrored, "sql", f"{numbers} SELECT {what} FROM n", "--timeout", "0.5", "--format", form)
        assert (
            done.code == 2
            and done.err == "ledger: the statement took too long and was stopped; --timeout gives it more time\n"
        )
    done = ledger(mirrored, "sql", f"{numbers} SELECT x FROM n LIMIT 3", "--timeout", "0", "--format", "csv")
    assert (done.code, done.out) == (0, "x\n1\n2\n3\n")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT zeroblob(900000000)",
        "SELECT printf('%.*c', 900000000, 'x')",
        "SELECT hex(randomblob(500000000))",
        "SELECT replace(hex(zeroblob(100000000)), '0', '000')",
        f"SELECT {'(' * 5000}1{')' * 5000}",
        f"SELECT {'+'.join('1' * 5000)}",
        f"SELECT {','.join('1' * 5000)}",
        f"SELECT 1 {'UNION SELECT 1 ' * 900}",
        "SELECT 'a' GLOB '" + "*a" * 30000 + "'",
        "",
        "-- nothing",
        "/*",
    ],
    ids=lambda statement: ascii(statement[:24]),
)
def test_a_statement_beyond_measure(statement: str, mirrored: Path):
    done = ledger(mirrored, "sql", "--", statement)
    assert done.code in (0, 2) and "Traceback" not in done.err, done.err[-300:]
    if done.code:
        assert done.err.startswith("ledger: ") and done.err.count("\n") == 1, done.err[-300:]


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
