"""What reviewers found once, and must not come back."""

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.log.events import Event
from ledger.log.source import Block
from ledger.mirror.writer_thread import writer_thread
from ledger.reading.reader import Reader
from ledger.reading.whole_log import read_log
from tests.support import cli
from tests.support.mirroring import Mirror, mirror_at

pytestmark = pytest.mark.usefixtures("each_mirror")

RUNS = [cli.run(number, 100 + number % 7, metrics={"mem": number}) for number in range(1, 9)]


def state_log(pairs: int) -> bytes:
    day = "2026-05-06T12:00:00Z"
    config = {"type": "config", "schema_version": 1, "name": "n", "metric": "ms", "direction": "lower",
              "created_at": day, "min_effect_size_pct": 0}  # fmt: skip
    records: list[dict[str, Any]] = [config]
    for number in range(1, pairs + 1):
        records.append({"type": "result", "run": number, "metric": "ms", "value": 1e6 - number, "timestamp": day})
        records.append({"type": "decision", "run": number, "action": "keep", "reason": "better", "timestamp": day})
    return cli.lines(*records)


def test_runs_that_state_a_segment_before_any_header_are_one_error(tmp_path: Path):
    log = cli.log(tmp_path, cli.lines(*({**run, "segment": 0} for run in RUNS)))
    assert [(found.code, found.line) for found in read_log(log).diagnostics] == [("S401", 1)]


def test_no_statement_follows_a_transaction_that_ended_by_itself(tmp_path: Path):
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.raw.execute("CREATE TABLE t (a INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)")
        with pytest.raises(sqlite3.Error):
            fill(mirror)
        assert mirror.raw.execute("SELECT count(*) FROM t").fetchone() == (0,)


def fill(mirror: Mirror) -> None:
    """Insert in many statements, the second of which makes SQLite roll back, as a full disk does."""
    with mirror.connection.begin(), writer_thread(mirror.raw) as pipe:
        pipe.insert("t", [(number,) for number in range(30_000)])
        pipe.insert("t", [(0,)] * 30_000)
        for start in range(1, 9):
            pipe.insert("t", [(number,) for number in range(start * 40_000, start * 40_000 + 30_000)])


def test_the_id_of_a_session_is_never_given_again(tmp_path: Path):
    one, two = (cli.log(tmp_path / name, cli.SOUND) for name in "ab")
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(one)
        first = mirror.session(one).id
        mirror.forget(one)
        mirror.sync(two)
        assert mirror.session(two).id > first
        assert mirror.raw.execute("SELECT count(*) FROM metric_name").fetchone() == (1,)


def test_a_session_of_decisions_takes_time_in_proportion(tmp_path: Path):
    with mirror_at(tmp_path / "mirror.db") as mirror:
        spent = []
        for pairs in (400, 3200):
            log = cli.log(tmp_path / str(pairs), state_log(pairs))
            start = time.process_time()
            assert mirror.sync(log).status == "new"
            spent.append(time.process_time() - start)
    assert spent[1] < 24 * spent[0]  # eight times the records; if each cost what all before it cost, 64 times


@pytest.mark.parametrize("value", ["-9999999999999999999", "9999999999999999999", "-99999999999999999999"])
def test_a_long_integer_survives_between_two_syncs(value: str, tmp_path: Path):
    common = '"schema_version":1,"run_id":"r","time":"2026-05-06T12:00:00Z","verify_log":"v","guard_log":null'
    metric = {"name": "m", "direction": "lower", "command": "c", "json_key": None}
    config = {"schema_version": 1, "run_id": "r", "created_at": "2026-05-06T12:00:00Z", "repo": "/r", "branch": "b",
              "mode": "m", "goal": "g", "scope": ["a"], "metric": metric, "guard": None, "target": -1e300,
              "max_iterations": None, "timeout_seconds": 1, "background": None}  # fmt: skip
    baseline = f'{{{common},"seq":0,"event":"baseline","head":"h","metric":{value}}}\n'.encode()
    trial = (
        f'{{{common},"seq":1,"event":"iteration","iteration":1,"outcome":"discard","description":"d",'
        f'"previous_metric":{value},"trial_metric":1e30,"retained_metric":{value},"trial_commit":"t","head":"u",'
        f'"revert_commit":"u","guard":"not_run"}}\n'
    ).encode()
    (tmp_path / "run.json").write_text(json.dumps(config))
    log = cli.log(tmp_path, baseline, "events.jsonl")
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert mirror.sync(log).status == "new"
        log.write_bytes(baseline + trial)
        assert mirror.sync(log).status == "grown"


def test_a_quarantined_log_may_move_and_come_back(tmp_path: Path):
    log = cli.log(tmp_path / "a", cli.BAD)
    there = tmp_path / "b" / log.name
    there.parent.mkdir()
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(log, quarantine=True)
        log.rename(there)
        assert mirror.sync(there).status == "moved"
        there.write_bytes(cli.BAD + cli.lines(cli.run(3, 1)))
        outcome = mirror.sync(there)
        assert outcome.refused and "already" in outcome.reason
        assert mirror.sync(there, quarantine=True).status == "grown"


def test_of_several_lost_logs_the_longest_prefix_is_the_one_that_moved(tmp_path: Path):
    short, long = (
        cli.log(tmp_path / "a", cli.lines(cli.HEADER, *RUNS[:3])),
        cli.log(tmp_path / "b", cli.lines(cli.HEADER, *RUNS)),
    )
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(short)
        mirror.sync(long)
        key = mirror.session(long).key
        there = tmp_path / "c" / long.name
        there.parent.mkdir()
        long.rename(there)
        short.unlink()
        assert mirror.sync(there).status == "moved"
        assert mirror.session(there).key == key


def test_a_moved_log_without_its_last_newline_is_moved(tmp_path: Path):
    log = cli.log(tmp_path / "a", cli.SOUND[:-1])
    there = tmp_path / "b" / log.name
    there.parent.mkdir()
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(log)
        log.rename(there)
        assert mirror.sync(there).status == "moved"
        assert mirror.verify(there).ok


def test_replace_reads_a_log_again_though_its_bytes_are_the_same(tmp_path: Path):
    log = cli.log(tmp_path, cli.SOUND)
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(log, dialect="state-protocol", quarantine=True)
        assert mirror.sync(log, replace=True).runs == 3


def test_secondary_metrics_keep_their_order(tmp_path: Path):
    names = [f"metric{number}" for number in range(40)]
    log = cli.log(tmp_path, cli.lines(cli.HEADER, *(cli.run(n, 1, metrics=dict.fromkeys(names, n)) for n in (1, 2))))
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(log)
        assert [row["name"] for row in mirror.rows("metrics")] == names * 2


def test_sessions_beyond_number_may_share_a_name(tmp_path: Path):
    logs = [cli.log(tmp_path / str(number), cli.SOUND) for number in range(130)]
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync_many(*logs)
        assert len(mirror.rows("runs", sessions=("speed",))) == 3 * 130


@pytest.mark.parametrize(("value", "shown"), [(0.0, "0.0"), (1.0, "1.0"), (True, "true"), (None, "null")])
def test_a_value_is_shown_as_it_was_written(value: object, shown: str, tmp_path: Path):
    log = cli.log(tmp_path, cli.lines(cli.HEADER, {**RUNS[0], "run": value}))
    assert [found.message for found in read_log(log).diagnostics] == [f"'run' must be an integer, not {shown}"]


def test_a_damaged_marker_does_not_undo_the_one_before(tmp_path: Path):
    marker = {"type": "status", "state": "done", "timestamp": 1_700_000_000_000}
    log = cli.log(tmp_path, cli.lines(cli.HEADER, marker, *RUNS, {**marker, "state": 7}))
    out = cli.ledger(tmp_path, "verdict", log)
    assert out.code == 1 and "LAST_STATUS=done" in out.out and "VERDICT=concluded" in out.out


def test_a_gain_of_exactly_the_threshold_is_enough(tmp_path: Path):
    day = "2026-05-06T12:00:00Z"
    records = [json.loads(line) for line in state_log(2).splitlines()]
    records[0]["min_effect_size_pct"] = 2
    records[1]["value"], records[3]["value"] = 0.7, 0.686
    assert read_log(cli.log(tmp_path, cli.lines(*records))).diagnostics == [], day


@pytest.mark.parametrize("commit", [None, 1234567, "abc123", ["abc1234"]])
def test_a_commit_of_any_other_kind_is_flagged_and_kept(commit: object, tmp_path: Path):
    log = cli.log(tmp_path, cli.lines(cli.HEADER, RUNS[0], {**RUNS[1], "status": "discard", "commit": commit}))
    assert [(found.code, found.line, found.is_error) for found in read_log(log).diagnostics] == [("R215", 3, False)]
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert mirror.sync(log).status == "new"
        assert mirror.verify(log).ok


def test_two_logs_with_the_same_content_may_both_move(tmp_path: Path):
    logs = [cli.log(tmp_path / "old" / name, cli.SOUND) for name in "ab"]
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync_many(*logs)
        keys = {mirror.session(log).key for log in logs}
        (tmp_path / "old").rename(tmp_path / "new")
        there = [tmp_path / "new" / name / logs[0].name for name in "ab"]
        assert [mirror.sync(log).status for log in there] == ["moved", "moved"]
        assert {mirror.session(log).key for log in there} == keys


def test_a_log_that_is_rewritten_while_it_is_read_is_not_mirrored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = cli.log(tmp_path, cli.SOUND)
    read = Reader.read

    def rewriting(self: Reader, block: Block) -> Iterator[Event]:
        yield from read(self, block)
        log.write_bytes(cli.SOUND.replace(b"104.5", b"104.6"))

    with mirror_at(tmp_path / "mirror.db") as mirror:
        monkeypatch.setattr(Reader, "read", rewriting)
        with pytest.raises(LedgerError, match="was rewritten while it was read"):
            mirror.sync(log)
        assert mirror.raw.execute("SELECT count(*) FROM session").fetchone() == (0,)
