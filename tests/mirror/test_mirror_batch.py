"""Small new logs that share a transaction: each is mirrored as it would be alone, and none harms the others."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from ledger.base.errors import LedgerError
from ledger.log.events import Event
from ledger.log.source import Block
from ledger.mirror import store, sync_many
from ledger.mirror.ingest import Ingestion, SyncOutcome
from ledger.mirror.sync_many import sync_logs
from ledger.reading.reader import Reader
from tests.oracle import strategies
from tests.oracle.encode import Record
from tests.support import cli
from tests.support.damaged import anything
from tests.support.mirroring import Mirror, examples, mirror_at, write
from tests.support.reading import DIALECTS

HEADER = cli.lines(cli.HEADER)


def sound(count: int, *, name: str = "a", extra: str = "b") -> bytes:
    """Make a log of two segments, with metrics that other logs do not have."""
    runs = [cli.run(number, 10 - number / 7, "keep", metrics={extra: number}) for number in range(1, count + 1)]
    half = count // 2
    return cli.lines({**cli.HEADER, "name": name}, *runs[:half], {**cli.HEADER, "name": f"{name} again"}, *runs[half:])


KINDS: dict[str, bytes] = {
    "sound": sound(9),
    "header": HEADER,
    "torn": sound(3) + b'{"run":4,"met',
    "unfinished": sound(3).rstrip(b"\n"),
    "only torn": b'{"type":"config","na',
    "broken": HEADER + b'{"run":1,"metric":NaN,"status":"keep"}\n',
    "warned": HEADER + cli.lines(cli.run(1, 1, "keep", commit=None)),
    "empty": b"",
    "foreign": b'{"some":"thing"}\n',
    "long": sound(2500, name="l", extra="c"),
    "last": sound(40, name="z", extra="é"),
}


def tree(folder: Path, contents: dict[str, bytes]) -> list[Path]:
    return [cli.log(folder.resolve() / name.replace(" ", "-"), data) for name, data in contents.items()]


def transactions(mirror: Mirror) -> list[None]:
    begun: list[None] = []
    event.listen(mirror.connection, "begin", lambda _: begun.append(None))
    return begun


def outcomes(mirror: Mirror, logs: list[Path], **options: Any) -> list[SyncOutcome]:
    found = list(sync_logs(mirror.connection, logs, **options))
    assert [path for path, _ in found] == logs
    assert all(isinstance(outcome, SyncOutcome) for _, outcome in found)
    return [outcome for _, outcome in found if isinstance(outcome, SyncOutcome)]


def segments(count: int, *, headers: int) -> bytes:
    """Make a log of segments with one run each, after so many headers."""
    head = {**cli.HEADER, "name": "part"}
    return b"".join(
        cli.lines(*[head] * headers, cli.run(number, 9, "keep", metrics=None)) for number in range(1, count + 1)
    )


def test_segments_are_derived_when_their_own_runs_are_stored(tmp_path: Path):
    """Rows of the first log wait still when the second hands over its own."""
    logs = tree(tmp_path, {"a": segments(2200, headers=1), "b": segments(1300, headers=2)})
    with mirror_at(tmp_path / "together.db") as together, mirror_at(tmp_path / "alone.db") as alone:
        begun = transactions(together)
        assert outcomes(together, logs) == [alone.sync(log) for log in logs]
        assert len(begun) == 1
        for log in logs:
            assert together.laid_open(log) == alone.laid_open(log)
            assert {row["runs"] for row in together.rows("segments", log)} == {1}


@pytest.mark.parametrize("quarantine", [False, True])
def test_many_are_mirrored_as_each_alone(tmp_path: Path, quarantine: bool):
    logs = tree(tmp_path, KINDS)
    with mirror_at(tmp_path / "together.db") as together, mirror_at(tmp_path / "alone.db") as alone:
        expected = [alone.sync(log, quarantine=quarantine) for log in logs]
        assert outcomes(together, logs, quarantine=quarantine) == expected
        for log, outcome in zip(logs, expected, strict=True):
            if outcome.refused or outcome.status == "waiting":
                assert store.find(together.raw, log) is None
            else:
                assert together.laid_open(log) == alone.laid_open(log), log
                assert together.verify(log).ok
        assert {outcome.status for outcome in expected} == ({"new"} if quarantine else {"new", "waiting", "refused"})
        assert {outcome.status for outcome in outcomes(together, logs, quarantine=quarantine)} <= {
            "unchanged", "waiting", "refused", "updated",
        }  # fmt: skip


ANY = st.one_of(anything, strategies.logs("autoresearch"), *map(strategies.logs, DIALECTS))


@examples(25)
@given(logs=st.lists(ANY, min_size=2, max_size=8), quarantine=st.booleans())
def test_any_are_mirrored_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, logs: list[tuple[bytes, Record | None]], quarantine: bool
):
    folder = tmp_path_factory.mktemp("tree").resolve()
    paths = [write(folder, str(number), data, run_json) for number, (data, run_json) in enumerate(logs)]
    with mirror_at(folder / "together.db") as together, mirror_at(folder / "alone.db") as alone:
        expected = [alone.sync(path, quarantine=quarantine) for path in paths]
        assert outcomes(together, paths, quarantine=quarantine) == expected
        for path, outcome in zip(paths, expected, strict=True):
            if outcome.refused or outcome.status == "waiting":
                assert store.find(together.raw, path) is None
            else:
                assert together.laid_open(path) == alone.laid_open(path)


def test_small_ones_share_a_transaction(tmp_path: Path):
    logs = tree(tmp_path, {f"log {number:03}": sound(5, name=str(number)) for number in range(150)})
    with mirror_at(tmp_path / "mirror.db") as mirror:
        begun = transactions(mirror)
        assert {outcome.status for outcome in outcomes(mirror, logs)} == {"new"}
        assert len(begun) == 5  # of 32 logs at most, which are open meanwhile
        assert len({mirror.session(log).key for log in logs}) == 150


def test_those_of_many_bytes_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = sound(20)
    monkeypatch.setattr(sync_many, "_TOGETHER", 2 * len(data))
    logs = tree(tmp_path, {str(number): data for number in range(6)})
    with mirror_at(tmp_path / "mirror.db") as mirror:
        begun = transactions(mirror)
        outcomes(mirror, logs)
        assert len(begun) == 3


def test_one_that_is_rewritten_meanwhile_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    logs = tree(tmp_path, {name: sound(5, name=name) for name in "abc"})
    read = Reader.read

    def rewriting(self: Reader, block: Block) -> Iterator[Event]:
        yield from read(self, block)
        if b'"b again"' in block.data:
            logs[1].write_bytes(block.data.replace(b"10", b"11"))

    with mirror_at(tmp_path / "mirror.db") as mirror:
        monkeypatch.setattr(Reader, "read", rewriting)
        found = dict(sync_logs(mirror.connection, logs))
        assert isinstance(found[logs[1]], LedgerError)
        assert store.find(mirror.raw, logs[1]) is None
        for log in (logs[0], logs[2]):
            outcome = found[log]
            assert isinstance(outcome, SyncOutcome) and outcome.status == "new" and mirror.verify(log).ok


def test_one_that_another_process_mirrors_meanwhile_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    logs = tree(tmp_path, {name: sound(5, name=name) for name in "abc"})
    add_all = store.add_all
    with mirror_at(tmp_path / "mirror.db") as mirror:

        def overtaken(connection: Any, paths: Any) -> list[store.StoredSession] | None:
            """Act as the other process would have, a moment before."""
            store.update(connection, store.add(connection, logs[1]))
            connection.commit()
            connection.execute("BEGIN IMMEDIATE")
            return add_all(connection, paths)

        monkeypatch.setattr(store, "add_all", overtaken)
        assert [outcome.status for outcome in outcomes(mirror, logs)] == ["new", "grown", "new"]
        assert mirror.raw.execute("SELECT count(*) FROM session").fetchone() == (3,)
        assert all(mirror.verify(log).ok for log in logs)


def test_a_failure_leaves_nothing_of_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    logs = tree(tmp_path, {name: sound(5, name=name) for name in "abc"})
    settle, settled = Ingestion.settle, []

    def failing(self: Ingestion, status: str) -> SyncOutcome:
        settled.append(settle(self, status))
        if len(settled) == 2:
            raise OSError("gone")
        return settled[-1]

    with mirror_at(tmp_path / "mirror.db") as mirror:
        monkeypatch.setattr(Ingestion, "settle", failing)
        with pytest.raises(OSError, match="gone"):
            list(sync_logs(mirror.connection, logs))
        assert all(
            mirror.raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
            for table in ("session", "run", "run_metric", "segment", "segment_stat", "block", "event")
        )


def test_a_key_that_is_taken_is_made_longer(tmp_path: Path):
    logs = tree(tmp_path, {name: sound(5, name=name) for name in "abc"})
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(logs[0])
        taken = sha256(store.path_text(logs[1]).encode()).hexdigest()
        mirror.raw.execute("UPDATE session SET key = ? WHERE path = ?", (taken[:8], str(logs[0])))
        assert [outcome.status for outcome in outcomes(mirror, logs)] == ["unchanged", "new", "new"]
        assert mirror.session(logs[1]).key == taken[:9]
        assert all(mirror.verify(log).ok for log in logs)


@pytest.mark.parametrize("quarantine", [False, True])
def test_one_without_any_line_is_refused_alone(tmp_path: Path, quarantine: bool):
    logs = tree(tmp_path, {"a": sound(5), "b": b"", "c": sound(6)})
    with mirror_at(tmp_path / "together.db") as together, mirror_at(tmp_path / "alone.db") as alone:
        options = {"dialect": "autoresearch", "quarantine": quarantine}
        assert outcomes(together, logs, **options) == [alone.sync(log, **options) for log in logs]


def test_those_of_many_findings_do_not_wait_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sync_many, "MOST_FOUND", 10)
    logs = tree(tmp_path, {str(number): sound(2) + b"\n" * 4 for number in range(6)})
    with mirror_at(tmp_path / "mirror.db") as mirror:
        begun = transactions(mirror)
        assert {outcome.status for outcome in outcomes(mirror, logs)} == {"new"}
        assert len(begun) == 3
        assert all(mirror.verify(log).ok for log in logs)
