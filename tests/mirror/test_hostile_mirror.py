"""Other people's databases in the place of a mirror, and SQL that means ill."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.mirror import adhoc
from ledger.mirror.views import by_name
from tests.support.cli import HEADER, assert_refused, interrupted, ledger, lines, log, run

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and names are other ones there")


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
        assert_refused(ledger(tmp_path, *command), "has triggers")
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


@POSIX
def test_a_view_without_end_is_stopped_by_ctrl_c(theirs: sqlite3.Connection, tmp_path: Path):
    theirs.execute("DROP VIEW best")
    columns = ", ".join(f'count(*) AS "{name}"' for name in by_name("best").columns)
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    theirs.execute(f"CREATE VIEW best AS {numbers} SELECT {columns} FROM n")
    code, out, err = interrupted(tmp_path, "best")
    assert (code, out, err.strip()) == (130, "", "ledger: interrupted")


ENDLESS_CALL = "SELECT instr(printf('%.*c', 40000000, 'a'), printf('%.*c', 20000000, 'a') || 'b')"
"""One call of a function that takes days, in which the database hears nothing."""


@POSIX
def test_a_call_without_end_is_stopped(mirrored: Path):
    assert_refused(ledger(mirrored, "sql", ENDLESS_CALL, "--timeout", "0.5"), "took too long and was stopped")


@POSIX
def test_a_call_without_end_is_stopped_by_ctrl_c(mirrored: Path):
    assert interrupted(mirrored, "sql", ENDLESS_CALL) == (130, "", "ledger: interrupted\n")


def test_a_table_beyond_measure(mirrored: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(adhoc, "_MOST_HELD", 1000)
    assert len(list(adhoc.held(iter([("x" * 100,)] * 3)))) == 3
    with pytest.raises(LedgerError, match="too large for a table"):
        list(adhoc.held(iter([(1,)] * 6)))
    tens = "WITH n(x) AS (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(0))"
    many = f"{tens} SELECT printf('%.*c', 90000000, 'x') FROM n"
    assert_refused(ledger(mirrored, "sql", many), "too large for a table")


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
