"""What `sync` does with a log that is new, has grown, or is no longer what it was."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.mirror.location import Location
from ledger.mirror.raw import written_for
from ledger.mirror.writer_thread import WriterThread, statement_batches
from tests.oracle import codex
from tests.oracle.encode import Num, Style, lines
from tests.support import cli
from tests.support.mirroring import Mirror, mirror_at, write

HEADER = cli.lines(cli.HEADER)


def a_run(number: int, metric: float = 10, status: str = "keep", **more: Any) -> bytes:
    return cli.lines(cli.run(number, metric, status, **more))


SOUND = HEADER + a_run(1) + a_run(2, 9)
BROKEN = HEADER + b'{"run":1,"metric":NaN,"status":"keep"}\n' + a_run(2)
CONFIG = codex.config(target=1)
HISTORY = lines(codex.simulate(CONFIG, Num("10"), [codex.Step("try", Num(metric)) for metric in ("9", "11")]), Style())


@pytest.fixture(scope="module")
def shared(new_mirror: Callable[[Path], Location], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    with mirror_at(new_mirror(tmp_path_factory.mktemp("mirror"))) as opened:
        yield opened


@pytest.fixture
def mirror(shared: Mirror) -> Iterator[Mirror]:
    yield shared
    shared.forget(*(Path(path) for (path,) in shared.raw.execute("SELECT path FROM session").fetchall()))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "autoresearch.jsonl"


def said(mirror: Mirror, log: Path, data: bytes | None = None, **options: Any) -> tuple[str, int, int, int]:
    """Write a log, sync it, hold the mirror to what it says it did, and give that."""
    if data is not None:
        log.write_bytes(data)
    outcome = mirror.sync(log, **options)
    if not outcome.refused and outcome.status != "waiting":
        there = log.read_bytes()
        assert mirror.export(log) == there[: len(there) - outcome.pending]
        proof = mirror.verify(log)
        assert proof.ok and (proof.lines, proof.pending_bytes) == (outcome.lines, outcome.pending)
    return outcome.status, outcome.lines, outcome.runs, outcome.pending


def test_new_unchanged_grown(mirror: Mirror, log: Path) -> None:
    assert said(mirror, log, SOUND) == ("new", 3, 2, 0)
    before = mirror.session(log)
    assert said(mirror, log) == ("unchanged", 3, 2, 0)
    assert mirror.session(log) == before
    assert said(mirror, log, SOUND + a_run(3, 8)) == ("grown", 4, 3, 0)
    assert mirror.session(log).key == before.key


def test_a_log_with_errors_is_refused_whole_and_quarantined_on_demand(mirror: Mirror, log: Path) -> None:
    assert said(mirror, log, BROKEN) == ("refused", 3, 0, 0)
    assert mirror.raw.execute("SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM block)").fetchone() == (0,)
    assert said(mirror, log, quarantine=True) == ("new", 3, 1, 0)
    assert mirror.session(log).quarantined
    assert [(row["line"], row["code"]) for row in mirror.rows("findings", log) if row["severity"] == "error"] == [
        (2, "L106")
    ]
    assert said(mirror, log, BROKEN + a_run(3)) == ("refused", 4, 0, 0)
    assert said(mirror, log, quarantine=True) == ("grown", 4, 2, 0)


def test_errors_among_what_was_appended_leave_the_mirror_as_it_was(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND)
    before = mirror.laid_open(log)
    outcome = mirror.sync(write_to(log, SOUND + a_run(3) + b"{]\n" + a_run(4)))
    assert outcome.refused and [(found.line, found.code) for found in outcome.diagnostics if found.is_error] == [
        (5, "L103")
    ]
    assert mirror.laid_open(log) == before


def test_a_quarantined_log_that_was_repaired_is_taken_with_replace(mirror: Mirror, log: Path) -> None:
    said(mirror, log, BROKEN, quarantine=True)
    outcome = mirror.sync(write_to(log, SOUND))
    assert outcome.refused and "line 2 differs" in outcome.reason
    assert said(mirror, log, replace=True) == ("replaced", 3, 2, 0)
    assert not mirror.session(log).quarantined and not mirror.rows("findings", log)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (SOUND.replace(b'"metric":10', b'"metric":11'), 2),
        (SOUND.replace(b"speed", b"speeds"), 1),
        (SOUND.replace(b"\n", b"\r\n"), 1),
        (b"\n" + SOUND, 1),
        (SOUND.rstrip(b"\n"), 3),
        (SOUND[:-9], 3),
        (HEADER, 2),
        (HEADER[:10], 1),
        (b"", 1),
        (SOUND[:-1] + b" \n" + a_run(3), 3),
    ],
)
def test_a_rewritten_log_is_refused_by_its_first_line_that_differs(
    mirror: Mirror, log: Path, data: bytes, line: int
) -> None:
    said(mirror, log, SOUND)
    before = mirror.laid_open(log)
    outcome = mirror.sync(write_to(log, data))
    assert (outcome.status, outcome.reason) == (
        "refused", f"its mirrored lines were rewritten: line {line} differs; use --replace to take the new content",
    )  # fmt: skip
    assert mirror.laid_open(log) == before
    proof = mirror.verify(log)
    assert (proof.bytes_ok, proof.values_ok, proof.difference) == (False, True, line)
    if data not in (b"", HEADER[:10]):
        assert said(mirror, log, replace=True)[0] == "replaced"


def test_a_change_far_down_a_long_log_is_found(mirror: Mirror, log: Path) -> None:
    data = HEADER + b"".join(a_run(number) for number in range(1, 2001))
    assert said(mirror, log, data) == ("new", 2001, 2000, 0)
    assert "line 1801 differs" in mirror.sync(write_to(log, data.replace(b'"run":1800,', b'"run":1801,'))).reason


def test_replacing_with_errors_needs_quarantine_too(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND)
    assert said(mirror, log, BROKEN, replace=True)[0] == "refused"
    assert mirror.export(log) == SOUND
    assert said(mirror, log, replace=True, quarantine=True) == ("replaced", 3, 1, 0)


def test_a_torn_tail_waits_until_it_is_whole(mirror: Mirror, log: Path) -> None:
    torn = a_run(3)[:20]
    assert said(mirror, log, SOUND + torn) == ("new", 3, 2, 20)
    assert not mirror.session(log).quarantined and not mirror.rows("findings", log)
    assert said(mirror, log) == ("unchanged", 3, 2, 20)
    assert said(mirror, log, SOUND + a_run(3)[:30]) == ("unchanged", 3, 2, 30)
    assert said(mirror, log, SOUND + a_run(3)) == ("grown", 4, 3, 0)


def test_a_torn_tail_may_become_whole_at_the_same_size(mirror: Mirror, log: Path) -> None:
    whole = a_run(3)
    assert said(mirror, log, SOUND + b"x" * len(whole)) == ("new", 3, 2, len(whole))
    assert said(mirror, log, SOUND + whole) == ("grown", 4, 3, 0)


def test_a_log_of_one_torn_line_waits_outside_the_mirror(mirror: Mirror, log: Path) -> None:
    assert said(mirror, log, HEADER[:30]) == ("waiting", 0, 0, 30)
    assert mirror.raw.execute("SELECT count(*) FROM session").fetchone() == (0,)
    assert said(mirror, log, HEADER) == ("new", 1, 0, 0)


def test_quarantine_takes_a_torn_tail_for_the_time_being(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND + b'{"run":')
    assert said(mirror, log, quarantine=True) == ("grown", 4, 2, 0)
    assert mirror.session(log).quarantined
    assert [row["kind"] for row in mirror.rows("lines", log)] == ["config", "run", "run", "torn"]
    assert said(mirror, log, SOUND + a_run(3)) == ("grown", 4, 3, 0)
    assert not mirror.session(log).quarantined


def test_a_whole_record_without_its_newline_is_mirrored_and_read_again(mirror: Mirror, log: Path) -> None:
    last = a_run(3)[:-1]
    assert said(mirror, log, SOUND + last) == ("new", 4, 3, 0)
    assert [row["code"] for row in mirror.rows("findings", log)] == ["L116"]
    assert said(mirror, log) == ("unchanged", 4, 3, 0)
    assert said(mirror, log, SOUND + last + b"\n") == ("grown", 4, 3, 0)
    assert not mirror.rows("findings", log)
    assert said(mirror, log, SOUND + last + b"\n" + a_run(4)) == ("grown", 5, 4, 0)


def test_an_unfinished_last_line_may_become_another(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND + a_run(3, 8)[:-1])
    assert said(mirror, log, SOUND + a_run(3, 7)) == ("grown", 4, 3, 0)
    assert mirror.rows("best", log)[0]["metric"] == 7
    said(mirror, log, SOUND + a_run(3, 7) + a_run(4, 1)[:-1])
    assert said(mirror, log, SOUND + a_run(3, 7)) == ("grown", 4, 3, 0)
    assert mirror.rows("best", log)[0]["metric"] == 7


def test_an_unfinished_header_opens_its_segment_for_the_time_being(mirror: Mirror, log: Path) -> None:
    other = HEADER.replace(b"speed", b"writer")
    assert said(mirror, log, SOUND + other[:-1]) == ("new", 4, 2, 0)
    assert [row["name"] for row in mirror.rows("segments", log)] == ["speed", "writer"]
    said(mirror, log, SOUND + other.replace(b"writer", b"reader") + a_run(3))
    assert [(row["name"], row["runs"]) for row in mirror.rows("segments", log)] == [("speed", 2), ("reader", 1)]


def test_an_unfinished_decision_decides_for_the_time_being(mirror: Mirror, log: Path) -> None:
    stamp = '"timestamp":"2026-05-06T12:00:00Z"'
    data = (
        '{"type":"config","schema_version":1,"name":"n","metric":"ms","direction":"lower","created_at":"2026-05-06T12:00:00Z"}\n'
        f'{{"type":"result","run":1,"metric":"ms","value":9,{stamp}}}\n'
    ).encode()
    decision = f'{{"type":"decision","run":1,"action":"keep","reason":"r",{stamp}}}\n'.encode()
    said(mirror, log, data + decision[:-1])
    assert [row["status"] for row in mirror.rows("runs", log)] == ["keep"]
    said(mirror, log, data + decision.replace(b"keep", b"discard"))
    assert [row["status"] for row in mirror.rows("runs", log)] == ["discard"]
    assert mirror.rows("best", log) == [] and len(mirror.rows("streaks", log)) == 1


def test_an_empty_log_under_quarantine_grows_into_one(mirror: Mirror, log: Path) -> None:
    assert said(mirror, log, b"")[0] == "refused"
    assert said(mirror, log, b"", quarantine=True) == ("new", 0, 0, 0)
    assert said(mirror, log, b"\n\n", quarantine=True) == ("grown", 2, 0, 0)
    assert said(mirror, log, b"\n\n" + SOUND) == ("grown", 5, 2, 0)
    assert not mirror.session(log).quarantined


def test_segments_are_more_than_a_statement_takes(mirror: Mirror, log: Path) -> None:
    count = 6000
    heads = [cli.lines({**cli.HEADER, "name": f"part {number}"}) for number in range(count)]
    again = cli.lines({**cli.HEADER, "name": "named anew"})
    data = b"".join(head + a_run(number, segment=number - 1) for number, head in enumerate(heads, 1)) + again
    assert said(mirror, log, data + again)[:3] == ("new", 2 * count + 2, count)
    rows = mirror.raw.execute("SELECT segment, line, name FROM segment ORDER BY segment").fetchall()
    assert [tuple(row) for row in rows] == [
        *((number, 2 * number + 1, f"part {number}") for number in range(count)),
        (count, 2 * count + 2, "named anew"),
    ]


def test_logs_of_many_lengths_share_their_statements(
    mirror: Mirror, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver keeps what it has prepared, and what was translated for a server is kept for good."""
    sent: set[str] = set()

    def noting(
        run: Callable[[WriterThread, str, Sequence[Any]], None],
    ) -> Callable[[WriterThread, str, Sequence[Any]], None]:
        def note(pipe: WriterThread, sql: str, values: Sequence[Any]) -> None:
            sent.add(sql)
            run(pipe, sql, values)

        return note

    for name in ("execute", "_run"):
        monkeypatch.setattr(WriterThread, name, noting(getattr(WriterThread, name)))
    part = HEADER + a_run(1)
    for count in (tens + ones for tens in (32, 64, 96) for ones in (1, 2, 3, 4)):
        assert said(mirror, log, part * count, replace=True)[2] == count
    for table in ("segment", "run", "event"):
        assert len({sql for sql in sent if sql.startswith(f"INSERT INTO {table} ")}) <= 7


def test_rows_are_cut_into_few_lengths_that_recur() -> None:
    most, seen = 2000, set()
    for count in range(5000):
        rows = [(number,) for number in range(count)]
        parts = list(statement_batches(rows, most))
        assert [row for part in parts for row in part] == rows and len(parts) <= count // most + 3
        seen |= {len(part) for part in parts}
    assert max(seen) == most and len(seen) <= 2 * 31 + 2


def test_the_protocol_may_be_told(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND)
    assert said(mirror, log, dialect="autoresearch")[0] == "unchanged"
    assert said(mirror, log, dialect="state-protocol")[0] == "refused"
    assert said(mirror, log, dialect="state-protocol", quarantine=True) == ("grown", 3, 0, 0)
    assert mirror.session(log).dialect == "state-protocol"


def test_a_moved_log_is_the_same_session(mirror: Mirror, log: Path, tmp_path: Path) -> None:
    said(mirror, log, SOUND)
    key = mirror.session(log).key
    elsewhere = tmp_path.resolve() / "else" / "where.jsonl"
    elsewhere.parent.mkdir()
    log.rename(elsewhere)
    assert said(mirror, elsewhere) == ("moved", 3, 2, 0)
    assert mirror.session(elsewhere).key == key
    assert len(mirror.rows("sessions")) == 1
    assert said(mirror, elsewhere) == ("unchanged", 3, 2, 0)
    again = elsewhere.rename(log)
    assert said(mirror, again, SOUND + a_run(3)) == ("grown", 4, 3, 0)
    assert mirror.session(log).key == key


def test_a_copy_is_a_session_of_its_own_and_so_is_another_log_at_a_new_place(mirror: Mirror, log: Path) -> None:
    said(mirror, log, SOUND)
    copy = log.with_name("copy.jsonl")
    assert said(mirror, copy, SOUND) == ("new", 3, 2, 0)
    log.unlink()
    other = log.with_name("other.jsonl")
    assert said(mirror, other, SOUND.replace(b"speed", b"writer")) == ("new", 3, 2, 0)
    assert len({row["session"] for row in mirror.rows("sessions")}) == 3


def test_of_two_copies_of_a_log_that_is_gone_one_is_it_and_the_other_is_new(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    log = cli.log(folder, SOUND)
    assert cli.ledger(folder, "sync").code == 0
    log.unlink()
    for name in ("a", "b"):
        cli.log(folder, SOUND, f"{name}/autoresearch.jsonl")
    code, out, err = cli.ledger(folder, "sync", ".")
    assert (code, [line.split()[0] for line in out.splitlines()], err) == (0, ["moved", "new"], "")
    code, out, _ = cli.ledger(folder, "sync", ".")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["unchanged", "unchanged"])


def test_a_run_json_that_cannot_be_read_is_in_no_other_log_s_way(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name in ("a", "z"):
        cli.log(folder, SOUND.replace(b"speed", name.encode()), f"{name}/autoresearch.jsonl")
    cli.log(folder, HISTORY, "m/autoresearch-results/events.jsonl")
    (folder / "m/autoresearch-results/run.json").mkdir()
    code, out, err = cli.ledger(folder, "sync", ".")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (2, ["new", "new"])
    assert err.endswith("m/autoresearch-results/run.json: it is a folder\n") and err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may look everywhere")
def test_a_log_that_may_not_be_looked_at_is_neither_gone_nor_in_the_way(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    hidden = cli.log(folder, SOUND, "hidden/autoresearch.jsonl")
    assert cli.ledger(folder, "sync", hidden).code == 0
    hidden.parent.chmod(0)
    try:
        copy = cli.log(folder, SOUND)
        code, out, err = cli.ledger(folder, "sync")
        assert (code, out.split()[0], err) == (0, "new", "") and copy.exists()
    finally:
        hidden.parent.chmod(0o755)


def test_run_json_is_part_of_the_session(mirror: Mirror, tmp_path: Path) -> None:
    log = write(tmp_path.resolve(), "codex", HISTORY, CONFIG)
    beside = log.with_name("run.json")
    assert said(mirror, log) == ("new", 3, 2, 0)
    assert mirror.session(log).run_json == beside.read_bytes()
    original = beside.read_bytes()
    beside.write_bytes(original.replace(b"/srv/project", b"/srv/projects"))
    assert "run.json was changed" in mirror.sync(log).reason
    proof = mirror.verify(log)
    assert (proof.ok, proof.bytes_ok, proof.values_ok, proof.difference) == (False, False, True, 0)
    assert said(mirror, log, replace=True) == ("replaced", 3, 2, 0)
    beside.unlink()
    assert mirror.sync(log).refused and not mirror.verify(log).ok


def test_a_run_json_that_was_missing_may_be_added(mirror: Mirror, tmp_path: Path) -> None:
    log = write(tmp_path.resolve(), "codex", HISTORY)
    assert said(mirror, log)[0] == "refused"
    assert said(mirror, log, quarantine=True) == ("new", 3, 2, 0)
    assert mirror.rows("segments", log)[0]["metric_name"] is None
    write(tmp_path.resolve(), "codex", HISTORY, CONFIG)
    assert said(mirror, log) == ("grown", 3, 2, 0)
    assert mirror.rows("segments", log)[0]["metric_name"] == "errors"
    assert not mirror.session(log).quarantined


def test_a_history_is_refused_while_its_end_is_missing_and_taken_once_it_is_there(
    mirror: Mirror, tmp_path: Path
) -> None:
    config = codex.config(target=5)
    data = lines(codex.simulate(config, Num("10"), [codex.Step("try", Num("4"))]), Style())
    cut = data.index(b"\n", data.index(b"iteration")) + 1
    log = write(tmp_path.resolve(), "codex", data[:cut], config)
    assert [found.code for found in mirror.sync(log).diagnostics] == ["E354"]
    said(mirror, log, quarantine=True)
    assert mirror.session(log).quarantined
    assert said(mirror, log, data) == ("grown", 3, 1, 0)
    assert not mirror.session(log).quarantined and not mirror.rows("findings", log)


def test_what_lies_beside_other_logs_is_none_of_their_business(mirror: Mirror, log: Path) -> None:
    (log.parent / "run.json").mkdir()
    assert said(mirror, log, SOUND) == ("new", 3, 2, 0)
    assert said(mirror, log) == ("unchanged", 3, 2, 0)


NAMES = [
    b"with space",
    b"quo'te\"",
    b"new\nline",
    b"per%20cent?#",
    b"\xff\xfe",
    b"b\\xff",
    "µ\u2028".encode(),
    b"-",
    b"*",
]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_any_file_name_is_a_session(mirror: Mirror, tmp_path: Path, name: bytes) -> None:
    log = tmp_path.resolve() / os.fsdecode(name)
    said(mirror, log, SOUND)
    twin = log.with_name("twin")
    assert said(mirror, twin, SOUND) == ("new", 3, 2, 0)
    assert said(mirror, log) == ("unchanged", 3, 2, 0)
    assert len(mirror.rows("runs", log)) == 2
    log.unlink()
    assert mirror.verify(log).gone and mirror.verify(log).ok
    mirror.forget(log)
    assert [row["path"] for row in mirror.rows("sessions")] == [str(twin)]


def test_a_log_that_cannot_be_read_is_told(mirror: Mirror, log: Path) -> None:
    with pytest.raises(LedgerError, match="no such file"):
        mirror.sync(log)
    log.mkdir()
    with pytest.raises(LedgerError, match="it is a folder"):
        mirror.sync(log)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE run SET metric = metric + 1 WHERE id & 4294967295 = 3",
        "UPDATE run SET metric = 9.000000000000002 WHERE id & 4294967295 = 3",
        "UPDATE run SET run = 7 WHERE id & 4294967295 = 3",
        "UPDATE run SET \"commit\" = 'abc1235' WHERE id & 4294967295 = 3",
        "UPDATE run SET description = NULL WHERE id & 4294967295 = 3",
        "UPDATE run SET at_ms = at_ms + 1 WHERE id & 4294967295 = 3",
        "UPDATE run SET status = 'discard' WHERE id & 4294967295 = 3",
        "UPDATE run SET extras = '{\"x\":2}' WHERE id & 4294967295 = 3",
        "UPDATE run SET asi = '{}' WHERE id & 4294967295 = 3",
        "UPDATE run SET confidence = 2 WHERE id & 4294967295 = 3",
        "UPDATE run_metric SET value = value + 1 WHERE run_id & 4294967295 = 3",
        "DELETE FROM run_metric WHERE run_id & 4294967295 = 3",
        "DELETE FROM run WHERE id & 4294967295 = 3",
        "INSERT INTO event SELECT id + 5, segment, 0, 1, kind, state, run, at_ms, time_unit, detail FROM event",
        "UPDATE event SET detail = '{}' WHERE id & 4294967295 = 1",
        "UPDATE event SET kind = 'status' WHERE id & 4294967295 = 1",
        "DELETE FROM event",
        "DELETE FROM unread",
    ],
)  # fmt: skip
def test_verify_finds_a_value_that_is_not_the_log_s(mirror: Mirror, log: Path, change: str) -> None:
    data = HEADER + a_run(1) + a_run(2, 9, metrics={"mem": 1.5}, x=1) + b"\n" + a_run(3)
    log.write_bytes(data.replace(b'"run":3', b'"run":3 '))
    assert mirror.sync(log).status == "new" and mirror.verify(log).ok
    mirror.raw.execute(change)
    proof = mirror.verify(log)
    assert (proof.bytes_ok, proof.values_ok) == (True, False)
    assert proof.difference in ((1, 6) if "event" in change else (4,) if "unread" in change else (3, 6))
    mirror.rebuild(log)
    assert mirror.verify(log).ok


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE block SET data = [[bytes substr(data, 1, 99) || 'x' || substr(data, 101)]]",
        "UPDATE block SET data = substr(data, 1, length(data) - 1)",
        "DELETE FROM block",
        "UPDATE session SET sha256 = 'x'",
    ],
)
def test_verify_finds_bytes_that_are_not_the_log_s(mirror: Mirror, log: Path, change: str) -> None:
    assert said(mirror, log, SOUND)[0] == "new"
    mirror.raw.execute(written_for(mirror.raw, change))
    assert not mirror.verify(log).bytes_ok
    log.unlink()
    assert not mirror.verify(log).bytes_ok


def write_to(log: Path, data: bytes) -> Path:
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    return log


def test_a_log_that_is_being_written_is_never_in_the_way(mirror: Mirror, log: Path) -> None:
    """Sync again and again while another thread writes records, each in two pieces."""
    log.write_bytes(HEADER)
    records = [a_run(number, description="x" * 3000) for number in range(1, 301)]
    done = threading.Event()

    def append() -> None:
        with log.open("ab", buffering=0) as file:
            for record in records:
                file.write(record[:1500])
                file.write(record[1500:])
        done.set()

    writer = threading.Thread(target=append)
    writer.start()
    statuses = {mirror.sync(log).status}
    while not done.is_set():
        statuses.add(mirror.sync(log).status)
    writer.join()
    mirror.sync(log)
    assert statuses <= {"new", "grown", "unchanged"}
    assert mirror.export(log) == HEADER + b"".join(records) and mirror.verify(log).ok


def test_the_worst_of_many_logs_is_the_exit_status(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name, data in (("a", SOUND), ("b", BROKEN), ("c", SOUND + b'{"run":')):
        cli.log(folder, data, f"{name}/autoresearch.jsonl")
    code, out, _ = cli.ledger(folder, "sync", ".")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (1, ["new", "refused", "new"])
    assert cli.ledger(folder, "sync", "a", "c").code == 0
    cli.log(folder, SOUND.replace(b'"metric":10', b'"metric":12'), "a/autoresearch.jsonl")
    assert cli.ledger(folder, "sync", "a", "c").code == 1
    code, out, _ = cli.ledger(folder, "verify", "--all", "--format", "json")
    proofs = [(log["ok"], log["pending_bytes"], log["first_difference"]) for log in json.loads(out)["logs"]]
    assert (code, proofs) == (1, [(False, 0, 2), (True, 7, None)])
    assert cli.ledger(folder, "sync", "a", "b", "--replace", "--quarantine").code == 0
    assert cli.ledger(folder, "verify", "--all").code == 0
    assert cli.ledger(folder, "sync", "b", "nowhere").code == 2


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
def test_a_name_that_is_no_text_is_named_like_any_other(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xfflog.jsonl")
    cli.log(tmp_path, SOUND, name)
    assert cli.ledger(tmp_path, "sync", name).code == 0
    code, out, err = cli.ledger(tmp_path, "sync", name)
    assert (code, out.split()[0], err) == (0, "unchanged", "")
    for arguments in (
        ("verify", name),
        ("export", name),
        ("runs", "--session", name, "--format", "json"),
        ("forget", name, "--yes"),
    ):
        code, out, err = cli.ledger(tmp_path, *arguments)
        assert (code, err) == (0, "") and out
