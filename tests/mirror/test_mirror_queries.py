"""Questions to a mirror: each filter is what filtering all rows by hand gives, and asking changes nothing."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.mirror import adhoc, queries, views
from ledger.mirror.engine import open_reader
from ledger.mirror.location import Location
from ledger.mirror.queries import Filters
from ledger.mirror.raw import driver
from tests.oracle import random_logs
from tests.support import cli, deciding
from tests.support.mirroring import Mirror, mirror_at, write
from tests.support.reading import DIALECTS

VIEWS = ("sessions", "segments", "runs", "metrics", "best", "streaks", "compare", "events")
Row = dict[str, Any]


def fill(place: Location, folder: Path) -> None:
    """Mirror the samples and random logs of every protocol."""
    with mirror_at(place) as mirror:
        samples = Path(shutil.copytree(cli.SAMPLES, folder / "samples"))
        for log in sorted(samples.rglob("*.jsonl")):
            deciding.accept(log)
            deciding.note_repair(log)
            mirror.sync(log, quarantine=True)
        for seed in range(6):
            mirror.sync(write(folder, f"log{seed}", *random_logs.generate(seed, DIALECTS[seed % 3], 60)))


@pytest.fixture(scope="module")
def place(new_mirror: Callable[[Path], Location], tmp_path_factory: pytest.TempPathFactory) -> Location:
    folder = tmp_path_factory.mktemp("mirror").resolve()
    made = new_mirror(folder)
    fill(made, folder)
    return made


@pytest.fixture(scope="module")
def mirror(place: Location) -> Iterator[Mirror]:
    with mirror_at(place) as opened:
        yield opened


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a mirror that is a file."""
    folder = tmp_path_factory.mktemp("file").resolve()
    fill(folder / "mirror.db", folder)
    return folder / "mirror.db"


def found(mirror: Mirror, view: str, **filters: Any) -> list[Row]:
    return mirror.rows(view, **filters)


def some(rows: list[Row], column: str) -> list[Any]:
    """Give a few of a column's values, the first, the last and one between."""
    values = sorted({row[column] for row in rows if row[column] is not None}, key=str)
    return [values[0], values[len(values) // 2], values[-1], "no such"] if values else ["no such"]


def test_there_is_a_view_of_every_kind(mirror: Mirror) -> None:
    assert {view.name for view in views.VIEWS} == {*VIEWS, "findings", "accepted", "repairs", "lines"}
    for view in views.VIEWS:
        assert len(mirror.rows(view.name)) > 5, view.name


@pytest.mark.parametrize("view", VIEWS)
def test_metric(mirror: Mirror, view: str) -> None:
    everything = found(mirror, view)
    segments = found(mirror, "segments")
    for name in some(everything if view == "metrics" else segments, "name" if view == "metrics" else "metric_name"):
        of_metric = {(row["path"], row["segment"]) for row in segments if row["metric_name"] == name}
        expected = [
            row
            for row in everything
            if (
                row["name"] == name
                if view == "metrics"
                else row["metric_name"] == name
                if "metric_name" in row
                else (row["path"], row["segment"]) in of_metric
            )
        ]
        assert found(mirror, view, metric=name) == expected


@pytest.mark.parametrize(("view", "column"), [("runs", "status"), ("sessions", "state"), ("events", "state")])
def test_status(mirror: Mirror, view: str, column: str) -> None:
    everything = found(mirror, view)
    for word in some(everything, column):
        assert found(mirror, view, status=word) == [row for row in everything if row[column] == word]


@pytest.mark.parametrize("view", ["runs", "events", "best", "sessions", "segments"])
def test_since_and_until(mirror: Mirror, view: str) -> None:
    from ledger.base.times import parse_iso

    everything = found(mirror, view)
    first, last = ("at", "at") if "at" in everything[0] else ("first_at", "last_at")
    for moment in some(everything, last)[:-1]:
        ms = (parse_iso(moment) or (0, False))[0]
        since = [row for row in everything if row[last] is not None and row[last] >= moment]
        until = [row for row in everything if row[first] is not None and row[first] <= moment]
        assert found(mirror, view, since_ms=ms) == since
        assert found(mirror, view, until_ms=ms) == until
        assert found(mirror, view, since_ms=ms, until_ms=ms) == [row for row in since if row in until]


@pytest.mark.parametrize("view", VIEWS)
def test_sort_puts_nothing_last_and_keeps_the_usual_order_among_equals(mirror: Mirror, view: str) -> None:
    everything = found(mirror, view)
    for column in everything[0]:
        for sign in ("", "-"):
            ordered = found(mirror, view, sort=(sign + column,))
            values = [row[column] for row in ordered]
            there = [value for value in values if value is not None]
            assert values == sorted(there, reverse=bool(sign)) + [None] * (len(values) - len(there))
            if view != "metrics":
                kept = [[row for row in rows if row[column] == values[0]] for rows in (ordered, everything)]
                assert kept[0] == kept[1]
        assert found(mirror, view, sort=(column,), limit=2) == found(mirror, view, sort=(column,))[:2]


@pytest.mark.parametrize("view", VIEWS)
def test_session_by_path_relative_path_id_and_name(mirror: Mirror, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    everything, sessions = found(mirror, view), found(mirror, "sessions")
    monkeypatch.chdir(cli.SAMPLES)
    for row in sessions:
        expected = [one for one in everything if one["path"] == row["path"]]
        log = Path(row["path"])
        names = [row["path"], os.path.relpath(log), row["session"], str(log.parent / ".." / log.parent.name / log.name)]
        if log.name == "events.jsonl":
            names += [str(log.parent), str(log.with_name("run.json"))]
        for name in names:
            assert found(mirror, view, sessions=(name,)) == expected
        alike = {other["path"] for other in found(mirror, "segments") if other["name"] == row["name"]}
        if row["name"]:
            assert found(mirror, view, sessions=(row["name"],)) == [one for one in everything if one["path"] in alike]
    both = {row["path"] for row in sessions[:2]}
    assert found(mirror, view, sessions=tuple(both)) == [one for one in everything if one["path"] in both]
    with pytest.raises(LedgerError, match="no session 'nobody' in the mirror"):
        found(mirror, view, sessions=(sessions[0]["path"], "nobody"))


def test_a_name_is_no_beginning_of_another_log_s(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    with mirror_at(folder / "mirror.db") as mirror:
        mirror.sync(cli.log(folder, name="fooevents.jsonl"))
        for name in ("foo", "foorun.json", ""):
            with pytest.raises(LedgerError):
                mirror.rows("runs", folder / name)
        with pytest.raises(LedgerError):
            mirror.rows("runs", sessions=("",))


def test_filters_together(mirror: Mirror) -> None:
    path = found(mirror, "sessions")[-1]["path"]
    rows = [row for row in found(mirror, "runs") if row["path"] == path and row["status"] == "keep"]
    rows.sort(key=lambda row: -row["metric"])
    assert found(mirror, "runs", sessions=(path,), status="keep", sort=("-metric", "line"), limit=3) == rows[:3]


def test_wide_puts_each_secondary_metric_beside_its_run(mirror: Mirror) -> None:
    view = views.by_name("runs")
    for sessions in ((), (found(mirror, "sessions")[0]["path"],)):
        filters = Filters(sessions)
        columns, rows = queries.widen(mirror.raw, view, queries.query(mirror.raw, view, filters), filters)
        names = columns[len(view.columns) :]
        values = sorted(
            (row[0], row[2], row[3], name.removeprefix("metrics."), value)
            for row in rows
            for name, value in zip(names, row[len(view.columns) :], strict=True)
            if value is not None
        )
        assert len(set(columns)) == len(columns)
        asked = found(mirror, "metrics", sessions=sessions)
        assert values == sorted((row["path"], row["segment"], row["run"], row["name"], row["value"]) for row in asked)


def state_of(folder: Path) -> dict[str, str]:
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".db-shm"]  # which says who reads
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize(
    "statement",
    [
        *("CREATE TABLE t (a)", "CREATE TEMP VIEW t AS SELECT 1", "CREATE INDEX i ON run (run)", "DROP TABLE run"),
        *("INSERT INTO metric_name VALUES (99, 'x')", "REPLACE INTO metric_name VALUES (1, 'x')"),
        *("DELETE FROM session", "UPDATE run SET run = 1 RETURNING run", "WITH t AS (SELECT 1) DELETE FROM run"),
        *("ALTER TABLE run RENAME TO ran", "UPDATE sqlite_master SET sql = NULL", "EXPLAIN DELETE FROM run"),
        *("ATTACH ':memory:' AS other", "DETACH main", "VACUUM", "VACUUM INTO 'copy.db'", "REINDEX", "ANALYZE"),
        *("BEGIN", "COMMIT", "SAVEPOINT s", "PRAGMA user_version = 9", "PRAGMA journal_mode = wal"),
        *("PRAGMA query_only = 0", "PRAGMA writable_schema = 1", "PRAGMA optimize", "PRAGMA wal_checkpoint"),
        *("SELECT load_extension('x')", "SELECT * FROM pragma_optimize", "SELECT 1; DELETE FROM run"),
    ],
)  # fmt: skip
def test_the_database_refuses_to_change(path: Path, statement: str) -> None:
    before = state_of(path.parent)
    with open_reader(path) as connection:
        assert connection is not None
        with pytest.raises(LedgerError, match="the database refused the statement"):
            adhoc.select(driver(connection), statement)
    assert state_of(path.parent) == before


@pytest.mark.parametrize(
    "statement",
    [
        *("SELECT 1", "VALUES (1, 2)", "SELECT name FROM sqlite_master", "PRAGMA table_info(run)"),
        *("SELECT data FROM lines", "EXPLAIN QUERY PLAN SELECT 1", "SELECT * FROM pragma_table_info('run')"),
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n WHERE x < 9) SELECT * FROM n",
        *("SELECT json_extract(detail, '$.name') FROM event", "SELECT count(*) FROM json_tree('[1, [2]]')"),
        "SELECT e.key, e.value FROM event, json_each(event.detail) AS e",
    ],
)  # fmt: skip
def test_the_database_answers_any_question(path: Path, statement: str) -> None:
    with open_reader(path) as connection:
        assert connection is not None
        columns, rows = adhoc.select(driver(connection), statement)
        assert columns and all(len(row) == len(columns) for row in rows)


def test_arguments_past_what_a_database_takes_are_answered(mirror: Mirror, path: Path) -> None:
    odd = os.fsdecode(b"\xff")
    for filters in ({"metric": odd}, {"status": odd}):
        assert found(mirror, "runs", **filters) == []
    with pytest.raises(LedgerError, match="no session"):
        found(mirror, "runs", sessions=(odd,))
    assert found(mirror, "runs", limit=2**64) == found(mirror, "runs")
    code, out, err = cli.ledger(path.parent, "sql", f"SELECT '{odd}' AS odd", "--format", "csv")
    assert (code, out, err) == (0, "odd\n\\xff\n", "")


def test_a_mirror_is_read_while_another_writes_it(path: Path, tmp_path: Path) -> None:
    with sqlite3.connect(path, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE run SET status = 'crash'")
        code, _, err = cli.ledger(path.parent, "db", "backup", "-o", tmp_path / "copy.db")
        assert (code, err) == (0, "")
        writer.execute("ROLLBACK")
    writer.close()
    with mirror_at(tmp_path / "copy.db") as copy, mirror_at(path) as original:
        for view in views.VIEWS:
            assert copy.rows(view.name) == original.rows(view.name)
        assert copy.raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_marks_within_quotes_are_none(mirror: Mirror):
    found = mirror.raw.execute("""SELECT '?''?' AS "what?", '%s', CAST(? AS text)""", ("?",)).fetchone()
    assert tuple(found) == ("?'?", "%s", "?")
