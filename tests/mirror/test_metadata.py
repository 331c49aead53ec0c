"""The mirror in a real Datasette: every view and every query opens, with what its metadata says."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest

from ledger.mirror import schema
from ledger.mirror.datasette import CANNED_QUERIES, COLUMNS, CannedQuery, describe, metadata
from ledger.mirror.views import VIEWS, View
from tests.support import deciding
from tests.support.cli import HEADER, SAMPLES, environment, ledger, lines, log, run

PATIENCE = 60
STUCK = lines(HEADER, run(1, 100), *(run(number, 110, "crash", asi={"error_details": "boom"}) for number in (2, 3, 4)))
ODD = lines(
    {**HEADER, "name": "<script>x</script>", "metricName": "</script>"},
    run(1, 1e-300, metrics={"'\"": 1e300}, description="<!--<script>"),
    run(2, 1e300, "discard", asi={"rollback_reason": ["a", 1]}),
    run(3, 5e-324, description="a\u202eb\x00c", confidence=1e300),
    {"type": "note", "text": "é"},
)
_ADDRESS = re.compile(r"Uvicorn running on (http://127\.0\.0\.1:\d+)")


class Site(NamedTuple):
    """A Datasette at work; `database` is the folder of its pages."""

    address: str
    database: str

    def page(self, path: str, /, **parameters: str) -> str:
        """Open a page. Raises AssertionError unless its status is 200."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        try:
            with build_opener(ProxyHandler({})).open(f"{self.address}/{path}{query}", timeout=PATIENCE) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            raise AssertionError(f"{path}{query}: {error.code} {error.read().decode()[:2000]}") from error

    def rows(self, name: str, /, **parameters: str) -> list[dict[str, Any]]:
        found = json.loads(self.page(f"{self.database}/{name}.json", _shape="array", **parameters))
        assert isinstance(found, list)
        return found


@contextmanager
def datasette(folder: Path, *arguments: str, database: str = "mirror") -> Iterator[Site]:
    """Serve a mirror on a port that is free, and stop at the end."""
    with (folder / "datasette.log").open("w+b") as heard:
        process = subprocess.Popen(
            [sys.executable, "-m", "datasette", "--host", "127.0.0.1", "--port", "0", *arguments],
            cwd=folder, env={**environment(folder), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL, stdout=heard, stderr=heard,
        )  # fmt: skip
        try:
            yield Site(_address(process, folder / "datasette.log"), database)
        finally:
            process.kill()
            process.wait(timeout=PATIENCE)


def _address(process: "subprocess.Popen[bytes]", heard: Path) -> str:
    """Wait until a Datasette says where it is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := _ADDRESS.search(heard.read_text()):
            return found[1]
        assert process.poll() is None, heard.read_text()
        time.sleep(0.05)
    raise AssertionError(f"Datasette does not start: {heard.read_text()}")


def mirrored(folder: Path) -> Path:
    """Mirror the bundled samples and logs that are odd; write the metadata, and give the mirror."""
    log(folder, STUCK, "stuck/autoresearch.jsonl")
    odd = log(folder, ODD, "odd/autoresearch.jsonl")
    deciding.accept(odd)
    deciding.note_repair(odd)
    assert ledger(folder, "sync", SAMPLES, "stuck", "odd", "--quarantine").err.count("refused") == 0
    (folder / "metadata.json").write_text(ledger(folder, "db", "metadata").out)
    return folder / "mirror.db"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasette")
    with closing(sqlite3.connect(mirrored(folder))) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    with datasette(folder, "mirror.db", "--metadata", "metadata.json") as site:
        yield site


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_opens(view: View, site: Site, folder: Path):
    page, rows = site.page(f"mirror/{view.name}"), site.rows(view.name)
    with closing(sqlite3.connect(folder / "mirror.db")) as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {view.name}").fetchone()
    asked = {question.name: question.doc for question in CANNED_QUERIES}
    assert count and len(rows) == (count if view.name in asked else min(count, 100))
    assert tuple(rows[0]) == view.columns
    text = unescape(page)
    assert str(rows[0]["path"]) in text and asked.get(view.name, view.doc) in text
    assert view.name in asked or all(f"<dd>{describe(view.name, column)}</dd>" in text for column in view.columns)
    assert "<script>x</script>" not in page and "<!--<script>" not in page


@pytest.mark.parametrize("question", CANNED_QUERIES, ids=lambda question: question.name)
def test_every_query_opens(question: CannedQuery, site: Site):
    page, rows = unescape(site.page(f"mirror/{question.name}")), site.rows(question.name)
    assert question.title in page and question.doc in page
    assert rows and all(f'<th class="col-{column}"' in page for column in rows[0])


def test_the_database_shows_views_and_queries_but_no_table(site: Site):
    page, held = site.page("mirror"), json.loads(site.page("mirror.json"))
    assert [table["name"] for table in held["tables"] if not table["hidden"]] == []
    assert {table["name"] for table in held["tables"]} == {
        *schema.metadata.tables, schema.VERSION_TABLE, "sqlite_sequence"
    }  # fmt: skip
    assert {view["name"] for view in held["views"]} == {view.name for view in VIEWS}
    assert [query["name"] for query in held["queries"]] == [question.name for question in CANNED_QUERIES]
    assert all(question.title in page for question in CANNED_QUERIES)
    assert "Experiment logs" in site.page("")


def test_answers(site: Site, folder: Path):
    stuck = str((folder / "stuck/autoresearch.jsonl").resolve())
    found = {row["path"]: row["streak"] for row in site.rows("stuck_sessions")}
    assert found[stuck] == 3 and min(found.values()) >= 3
    assert site.rows("stuck_sessions", streak="4") == [row for row in site.rows("stuck_sessions") if row["streak"] >= 4]
    assert {"status": "crash", "reason": "boom", "runs": 3, "path": stuck, "line": 5} in site.rows("failure_reasons")
    assert [row["reason"] for row in site.rows("failure_reasons") if "odd" in row["path"]] == ['["a",1]']
    times = [row["at"] for row in site.rows("latest_runs")]
    assert times == sorted(times, reverse=True)
    best = {(row["metric_name"], row["unit"]): row["best"] for row in site.rows("best_per_metric")}
    assert best["throughput", "MB/s"] == 471 and best["errors", ""] == 0
    assert all(row["confidence"] >= 2 and row["improvement_pct"] > 0 for row in site.rows("likely_gains"))
    assert len(site.rows("likely_gains", confidence="4")) < len(site.rows("likely_gains"))
    assert [row["run"] for row in site.rows("one_session", path="stuck/")] == [1, 2, 3, 4]
    assert sum(row["findings"] for row in site.rows("findings_by_rule")) == len(site.rows("findings"))
    assert [row["line"] for row in site.rows("lines", path="stuck/", first="4")] == [4, 5]
    assert site.rows("lines", path="odd/")[0]["data"] == ODD.decode().split("\n")[0] + "\n"


def test_pages_are_sorted_and_have_units_and_facets(site: Site):
    times = [row["last_at"] for row in site.rows("sessions")]
    assert times == sorted(times, reverse=True)
    assert "14.320388\xa0%" in unescape(site.page("mirror/best"))
    assert {row["improvement_pct"] > 30 for row in site.rows("best", improvement_pct__gt="30")} == {True}
    runs = site.page("mirror/runs")
    assert "?status=checks_failed" in runs
    assert "?_sort=metric" in runs and "?_sort=description" not in runs


def test_what_is_synced_meanwhile_is_shown(tmp_path: Path):
    log(tmp_path, STUCK, "first/autoresearch.jsonl")
    log(tmp_path, ODD, "second/autoresearch.jsonl")
    (tmp_path / "metadata.json").write_text(ledger(tmp_path, "db", "metadata").out)
    assert ledger(tmp_path, "sync", "first").code == 0
    with closing(sqlite3.connect(tmp_path / "mirror.db")) as reader:
        reader.execute("SELECT count(*) FROM run").fetchone()  # it keeps the write-ahead log from being cleared away
        assert ledger(tmp_path, "sync", "second").code == 0
        assert (tmp_path / "mirror.db-wal").stat().st_size > 0
        with datasette(tmp_path, "mirror.db", "--metadata", "metadata.json") as site:
            assert len(site.rows("sessions")) == 2
            log(tmp_path, SAMPLES.joinpath("json-codec/autoresearch.jsonl").read_bytes(), "third/autoresearch.jsonl")
            assert ledger(tmp_path, "sync", "third").code == 0
            assert len(site.rows("sessions")) == 3
    assert ledger(tmp_path, "sessions", "--format", "jsonl").out.count("\n") == 3


def test_a_copy_at_rest_opens_as_immutable(folder: Path, tmp_path: Path):
    assert ledger(folder, "db", "backup", "-o", tmp_path / "copy.db").code == 0
    (tmp_path / "metadata.json").write_text(ledger(tmp_path, "db", "metadata", "--db", "copy.db").out)
    with datasette(tmp_path, "-i", "copy.db", "--metadata", "metadata.json", database="copy") as site:
        assert len(site.rows("sessions")) == 8
        assert site.rows("one_session", path="stuck/")
    assert not list(tmp_path.glob("copy.db-*"))


def test_metadata_needs_no_mirror_and_goes_by_its_name(tmp_path: Path):
    code, out, err = ledger(tmp_path, "db", "metadata", "--db", "a folder/no.such.mirror.db")
    assert (code, err) == (0, "") and list(json.loads(out)["databases"]) == ["no.such.mirror"]
    assert json.loads(out) == metadata("no.such.mirror")
    assert list(json.loads(ledger(tmp_path, "db", "metadata").out)["databases"]) == ["mirror"]
    assert not list(tmp_path.iterdir())
    if os.name != "nt":
        code, out, err = ledger(tmp_path, "db", "metadata", "--db", os.fsdecode(b"a\xffb.db"))
        assert (code, err) == (0, "") and list(json.loads(out)["databases"]) == ["a�b"]


def test_every_column_is_described_and_no_other():
    used = {(view.name, column) for view in VIEWS for column in view.columns}
    assert all(describe(*one).endswith(".") for one in used)
    assert {column for _, column in used} == set(COLUMNS)
    with pytest.raises(KeyError):
        describe("runs", "no_such_column")


def test_questions_are_named_apart_and_run_in_plain_sqlite(folder: Path):
    assert len({question.name for question in CANNED_QUERIES}) == len(CANNED_QUERIES)
    with closing(sqlite3.connect(folder / "mirror.db")) as connection:
        for question in CANNED_QUERIES:
            named = dict.fromkeys(re.findall(r":(\w+)", question.sql), "")
            assert all(f"`{name}`" in question.doc for name in named), question.name
            assert connection.execute(question.sql, named).fetchone() is not None, question.name
