"""What people decided about a log, in the mirror: findings accepted, repairs made, with or without the files."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ledger.mirror import schema
from ledger.mirror.location import Location
from ledger.reading import accepted
from ledger.reading.side_files import side_file
from ledger.reading.whole_log import read_log
from tests.support import cli, damaged, deciding
from tests.support.cli import BAD, HEADER, ROOT, ledger, lines, run
from tests.support.mirroring import Mirror, examples, mirror_at, write

NAME = "autoresearch.jsonl"
TWO = BAD + lines(b'{"run":3,"metric":NaN,"status":"keep"}')


@pytest.fixture
def mirror(new_mirror: Callable[[Path], Location], tmp_path: Path) -> Iterator[Mirror]:
    with mirror_at(new_mirror(tmp_path)) as opened:
        yield opened


def errors(mirror: Mirror, log: Path) -> tuple[int, list[bool]]:
    """Give how many errors the session counts, and which of its errors are accepted."""
    (session,) = mirror.rows("sessions", log)
    return session["errors"], [row["accepted"] for row in mirror.rows("findings", log) if row["severity"] == "error"]


def test_a_refused_log_is_taken_once_its_last_error_is_accepted(mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, TWO)
    deciding.accept(log, "L106")
    side = side_file(log, "accepted")
    both = side.read_bytes()
    side.write_bytes(both.splitlines(keepends=True)[0])
    refused = mirror.sync(log)
    assert refused.status == "refused"
    told = [(one.line, one.accepted) for one in refused.diagnostics if one.code == "L106"]
    assert told == [(3, "known"), (4, None)]
    assert mirror.rows("sessions") == [] and mirror.raw.execute("SELECT count(*) FROM side").fetchone() == (0,)
    side.write_bytes(both)
    taken = mirror.sync(log)
    assert (taken.status, taken.quarantined) == ("new", False) and mirror.session(log).quarantined
    assert errors(mirror, log) == (0, [True, True])
    assert mirror.verify(log).ok


def test_decisions_alone_update_the_mirror(mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, BAD)
    assert mirror.sync(log, quarantine=True).status == "new" and errors(mirror, log) == (1, [False])
    deciding.accept(log)
    deciding.note_repair(log)
    done = mirror.sync(log)
    assert (done.status, done.quarantined) == ("updated", False) and errors(mirror, log) == (0, [True])
    assert mirror.sync(log).status == "unchanged"
    (row,) = [row for row in mirror.rows("accepted", log) if row["code"] == "L106"]
    assert row == {
        "path": str(log.resolve()), "line": 3, "code": "L106", "source": None, "reason": "known", "by": deciding.BY,
        "at": deciding.AT, "found": True,
    }  # fmt: skip
    (repair,) = mirror.rows("repairs", log)
    assert (repair["number"], repair["action"], repair["before"]) == (1, "repair", "0" * 64)
    assert json.loads(repair["items"])[0]["code"] == "L106"
    deciding.drop(log, "L106")
    done = mirror.sync(log)
    assert (done.status, done.quarantined) == ("updated", True) and errors(mirror, log) == (1, [False])
    side_file(log, "repairs").unlink()
    assert mirror.sync(log).status == "updated" and mirror.rows("repairs", log) == []
    assert mirror.verify(log).ok


def test_what_is_accepted_stays_so_as_the_log_grows_moves_and_is_replaced(mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, BAD)
    deciding.accept(log)
    mirror.sync(log)
    log.write_bytes(BAD + lines(run(3, 80)))
    done = mirror.sync(log)
    assert (done.status, done.quarantined) == ("grown", False) and errors(mirror, log) == (0, [True])
    assert mirror.session(log).quarantined and mirror.verify(log).ok
    with log.open("ab") as file:
        file.write(b'{"run":4')
    assert mirror.sync(log).pending == 8
    deciding.drop(log, "L106")
    done = mirror.sync(log, quarantine=True)
    assert done.status != "unchanged" and errors(mirror, log)[1].count(False) >= 1
    log.write_bytes(lines(HEADER, b"", run(1, 100)) + BAD.splitlines(keepends=True)[2])
    deciding.accept(log, "L106")
    assert mirror.sync(log, replace=True).status == "replaced" and errors(mirror, log) == (0, [True])
    moved = tmp_path / "elsewhere" / NAME
    moved.parent.mkdir()
    log.rename(moved)
    side_file(log, "accepted").rename(side_file(moved, "accepted"))
    done = mirror.sync(moved)
    assert (done.status, done.quarantined) == ("moved", False) and errors(mirror, moved) == (0, [True])


def test_a_tail_that_waits_keeps_no_decision_from_the_mirror(mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, BAD + b'{"run":3')
    deciding.accept(log, "L106")
    assert mirror.sync(log).status == "new" and mirror.sync(log).status == "unchanged"
    deciding.note_repair(log)
    done = mirror.sync(log)
    assert (done.status, done.pending) == ("updated", 8) and len(mirror.rows("repairs")) == 1


def test_rebuilt_without_the_files_and_forgotten(mirror: Mirror, tmp_path: Path) -> None:
    log, other = cli.log(tmp_path, TWO), cli.log(tmp_path, BAD, "other/autoresearch.jsonl")
    for one in (log, other):
        deciding.accept(one)
        deciding.note_repair(one)
        mirror.sync(one)
    before = mirror.laid_open(log)
    assert before["side"] and before["acceptance"] and before["repair"]
    for path in tmp_path.glob(f"{NAME}*"):
        path.unlink()
    mirror.raw.execute("DELETE FROM acceptance")
    mirror.raw.execute("UPDATE diagnostic SET accepted = NULL")
    assert not mirror.verify(log).ok
    mirror.rebuild(log)
    assert mirror.laid_open(log) == before and mirror.verify(log).ok
    mirror.rebuild(other)
    mirror.forget(log, other)
    counts = [mirror.raw.execute(f"SELECT count(*) FROM {table}").fetchone() for table in schema.metadata.tables]
    assert set(counts) == {(0,)}


@pytest.mark.parametrize(
    "falsehood",
    [
        "UPDATE acceptance SET reason = 'another'",
        "DELETE FROM acceptance WHERE number = 2",
        "UPDATE repair SET \"by\" = 'nobody'",
        "DELETE FROM repair",
        "UPDATE diagnostic SET accepted = NULL",
        "DELETE FROM side WHERE kind = 'repairs'",
    ],
)
def test_verify_sees_decisions_that_nobody_made(falsehood: str, mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, TWO)
    deciding.accept(log)
    deciding.note_repair(log)
    mirror.sync(log)
    assert mirror.verify(log).ok
    mirror.raw.execute(falsehood)
    assert not mirror.verify(log).ok
    if "FROM side" not in falsehood:
        mirror.rebuild(log)
        assert mirror.verify(log).ok


def test_findings_about_the_whole_log_and_about_run_json(mirror: Mirror, tmp_path: Path) -> None:
    log = cli.log(tmp_path, b"")
    deciding.accept(log)
    assert mirror.sync(log).status == "new" and errors(mirror, log) == (0, [True])
    folder = ROOT / "tests" / "rules" / "L114" / "good"
    config = json.loads((folder / "run.json").read_bytes())
    codex = write(tmp_path, "codex", (folder / "events.jsonl").read_bytes(), {**config, "more": 1})
    deciding.accept(codex, "R207")
    assert mirror.sync(codex).status == "new" and errors(mirror, codex) == (0, [True])
    assert [row["source"] for row in mirror.rows("accepted", codex)] == ["run.json"]
    assert mirror.verify(log).ok and mirror.verify(codex).ok


@given(damaged.damaged(), st.data())
@examples(60)
def test_the_mirror_accepts_what_check_accepts(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[bytes, Any], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("sides")
    log = write(folder, "log", *drawn)
    codes = sorted({one.code for one in read_log(log).diagnostics} - {accepted.TORN_TAIL})
    if chosen := data.draw(st.lists(st.sampled_from(codes), unique=True)) if codes else []:
        deciding.accept(log, *chosen)
    if extra := data.draw(st.sampled_from([b"", b"\n", b"garbage\n"])):
        log.write_bytes(extra + log.read_bytes())
    with mirror_at(folder / "mirror.db") as mirror:
        done = mirror.sync(log)
        found = read_log(log)
        assume(all(one.code != accepted.TORN_TAIL for one in found.diagnostics))  # what is held back is not mirrored
        assert done.refused == (not found.ok)
        mirror.sync(log, quarantine=True)
        told = [(row["line"], row["code"], row["reason"]) for row in mirror.rows("findings", log)]
        assert sorted(map(repr, told)) == sorted(repr((one.line, one.code, one.accepted)) for one in found.diagnostics)
        kept = mirror.laid_open(log)
        mirror.rebuild(log)
        assert mirror.laid_open(log) == kept and mirror.verify(log).ok


@pytest.mark.parametrize("kind", ["accepted", "repairs"])
def test_what_cannot_be_read_leaves_the_mirror_as_it_was(kind: str, tmp_path: Path) -> None:
    log, other = cli.log(tmp_path), cli.log(tmp_path, name="other/autoresearch.jsonl")
    assert ledger(tmp_path, "sync", NAME).code == 0
    side_file(log, kind).write_bytes(b"{}\n<<<<<<< HEAD\n" if kind == "repairs" else b"<<<<<<< HEAD\n")
    done = ledger(tmp_path, "sync", NAME, other)
    assert done.code == 2 and f"{NAME}.{kind}.jsonl:" in done.err and "mend or remove" in done.err
    assert done.out.startswith("new ")
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert len(mirror.rows("sessions")) == 2 and mirror.export(log) == log.read_bytes()
        assert mirror.raw.execute("SELECT count(*) FROM side").fetchone() == (0,)


def test_every_command_tells_the_same(tmp_path: Path) -> None:
    log = cli.log(tmp_path, BAD)
    assert ledger(tmp_path, "sync", "--quarantine", NAME).code == 0
    assert ledger(tmp_path, "review", "accept", NAME, "L106", "--reason", "the run is lost").code == 0
    done = ledger(tmp_path, "sync")
    assert (done.code, done.err) == (0, "") and done.out.startswith("updated ") and "quarantined" not in done.out
    call = ("sql", "SELECT line, accepted, reason FROM findings WHERE code = 'L106'", "--format", "json")
    assert json.loads(ledger(tmp_path, *call).out) == [{"line": 3, "accepted": 1, "reason": "the run is lost"}]
    view = ("export", "--view", "findings", "--format", "json")
    assert [row["accepted"] for row in json.loads(ledger(tmp_path, *view).out)] == [True]
    for there in (True, False):
        if not there:
            log.unlink()
        page = ledger(tmp_path, "report", "--session", NAME, "-o", "page.html")
        assert page.code == 0 and "accepted: the run is lost" in (tmp_path / "page.html").read_text()
    with sqlite3.connect(tmp_path / "mirror.db") as raw:
        assert raw.execute("SELECT errors FROM sessions").fetchall() == [(0,)]
