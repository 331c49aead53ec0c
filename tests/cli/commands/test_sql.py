"""`ledger sql` on a file, as a process: what it answers, and that it only reads. A server's is in test_postgres."""

import os
from pathlib import Path

import pytest

from tests.support.asking import note, rows, synced_samples
from tests.support.cli import interrupted, ledger


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synced_samples(tmp_path_factory.mktemp("samples"))


def test_sql(samples: Path):
    query = "SELECT count(*) AS n, max(metric) AS most, NULL AS none FROM runs"
    assert rows(samples, "sql", query) == [{"n": 89, "most": 471, "none": None}]
    assert ledger(samples, "sql", query, "--format", "csv").out == "n,most,none\n89,471,\n"
    assert rows(samples, "sql", "SELECT 1 AS a, 2 AS a, 9223372036854775807 AS b, 9e999 AS c;") == [
        {"a": 1, "a:1": 2, "b": 9223372036854775807, "c": None}
    ]
    assert ledger(samples, "sql", "SELECT 1 AS one WHERE 0", "--format", "csv") == (0, "one\n", "")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "DELETE FROM run",
        "UPDATE session SET path = ''",
        "DROP VIEW best",
        "PRAGMA user_version = 7",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "BEGIN IMMEDIATE",
        "SELECT load_extension('x')",
    ],
)
def test_sql_only_reads(statement: str, samples: Path):
    before = (samples / "mirror.db").read_bytes()
    code, out, err = ledger(samples, "sql", statement)
    assert (code, out) == (2, "")
    assert err.startswith("ledger: the database refused the statement: ") and err.count("\n") == 1
    assert (samples / "mirror.db").read_bytes() == before
    assert {path.name.partition("-")[0] for path in samples.iterdir()} == {"mirror.db"}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELEC 1", 'near "SELEC": syntax error'),
        ("SELECT absent FROM runs", "no such column: absent"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT CAST(x'ff' AS TEXT)", "Could not decode to UTF-8"),
    ],
)
def test_sql_that_fails(statement: str, reason: str, samples: Path):
    code, out, err = ledger(samples, "sql", statement, "--format", "json")
    assert (code, out) == (2, "")
    assert err.startswith("ledger: the database ") and reason in err


@pytest.mark.parametrize(("name", "out"), [("json", "[]\n"), ("csv", ""), ("table", ""), ("markdown", ""), ("tsv", "")])
def test_sql_without_a_mirror(name: str, out: str, tmp_path: Path):
    assert ledger(tmp_path, "sql", "SELECT 1 AS one", "--format", name) == (0, out, note(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
def test_ctrl_c_reaches_a_running_statement(samples: Path):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    code, out, err = interrupted(samples, "sql", endless)
    assert (code, out) == (130, "")
    assert err.endswith("ledger: interrupted\n")
