"""Mirrors that cannot be used, and commands that are stopped half way: a clear word, and nothing lost."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.mirror import engine, schema, store
from ledger.mirror.engine import open_reader, open_writer
from ledger.mirror.proof import verify
from ledger.mirror.raw import driver
from ledger.mirror.sync_one import sync_log
from tests.support import cli
from tests.support.mirroring import MORE, mirror_at

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and limits are other ones there")
KILLS = 6 * MORE


def fails(path: Path, *, writing: bool = True, reading: bool = True) -> str:
    """Hold a mirror to be refused, for reading and for writing, and to be as it was; give what was said."""
    before = path.read_bytes()
    said = set()
    for opened, wanted in ((open_writer, writing), (open_reader, reading)):
        if wanted:
            with pytest.raises(LedgerError) as caught, opened(path):
                pass
            said.add(str(caught.value))
    assert path.read_bytes() == before
    (one,) = said
    assert "\n" not in one and str(path) in one
    return one


@pytest.mark.parametrize("data", [b"text", b"text\n" * 1000, b"SQLite format 3\0" + b"\xff" * 2000, b"\0" * 4096])
def test_what_is_no_database(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mirror.db"
    path.write_bytes(data)
    assert fails(path).endswith("is no SQLite database, or a damaged one; name another with --db")


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE session (a)")
    assert fails(path).endswith("is a database, but no mirror of ledger; name another with --db")


def test_an_empty_file_is_filled_but_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mirror.db"
    path.touch()
    assert fails(path, writing=False).endswith("is an empty database; run ledger sync to fill it")
    with mirror_at(path) as mirror:
        assert mirror.sync(cli.log(tmp_path)).status == "new"


def test_a_mirror_made_by_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "mirror.db"
    with mirror_at(path) as mirror:
        mirror.sync(cli.log(tmp_path))
        mirror.raw.execute("UPDATE ledger_version SET version_num = '9999'")
    said = fails(path)
    assert "schema 9999" in said and f"knows {schema.REVISION}" in said and "newer" in said


def test_a_mirror_made_by_an_older_version_is_not_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mirror.db"
    with mirror_at(path):
        pass
    made = schema.REVISION
    monkeypatch.setattr(schema, "REVISION", f"{int(made) + 1:04}")
    said = fails(path, writing=False)
    assert f"schema {made}" in said and f"needs {schema.REVISION}" in said and said.endswith("run ledger db upgrade")


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_mirror_that_another_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.1)
    path = tmp_path / "mirror.db"
    log = cli.log(tmp_path).resolve()
    with mirror_at(path) as mirror:
        mirror.sync(log)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("BEGIN IMMEDIATE")
        assert "is locked: another command has been writing" in fails(path, reading=False)
        with open_reader(path) as connection:
            assert connection is not None and store.find(driver(connection), log) is not None
        other.execute("COMMIT")
        other.execute("BEGIN EXCLUSIVE")
        assert "is locked" in fails(path, reading=mode == "delete")
    with mirror_at(path) as mirror, closing(sqlite3.connect(path, isolation_level=None)) as other:
        cli.log(tmp_path, cli.SOUND + cli.lines(cli.run(4, 80)))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Exception, match="database is locked"):
            mirror.sync(log)
        other.execute("ROLLBACK")
        assert mirror.sync(log).status == "grown"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_mirror_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "mirror.db"
    log = cli.log(tmp_path)
    with mirror_at(path) as mirror:
        mirror.sync(log)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert fails(path, reading=False).endswith("is read-only; name another with --db")
        assert cli.ledger(tmp_path, "runs", "--db", path).code == 0
        code, out, err = cli.ledger(tmp_path, "sync", log, "--db", path.with_name("new.db"))
        assert (code, out) == (2, "") and err.endswith("cannot be opened; check the folder and its permissions\n")
    finally:
        path.parent.chmod(0o755)


LONG = cli.lines(cli.HEADER, *(cli.run(number, number % 97, metrics={"mem": number}) for number in range(1, 4001)))
HALF = LONG[: LONG.index(b"\n", len(LONG) // 2) + 1]


def test_a_full_disk_leaves_the_mirror_as_it_was(tmp_path: Path) -> None:
    path, log = tmp_path / "mirror.db", cli.log(tmp_path, HALF).resolve()
    with mirror_at(path) as mirror:
        mirror.sync(log)
        before = mirror.laid_open(log)
        log.write_bytes(LONG)

    def fill() -> None:
        with open_writer(path) as connection:
            raw = driver(connection)
            raw.execute(f"PRAGMA max_page_count = {raw.execute('PRAGMA page_count').fetchone()[0] + 20}")
            sync_log(connection, log)

    with pytest.raises(LedgerError, match=r"the disk is full; the mirror .* is as it was before"):
        fill()
    with mirror_at(path) as mirror:
        assert mirror.laid_open(log) == before
        assert mirror.sync(log).status == "grown" and mirror.verify(log).ok


@POSIX
@pytest.mark.parametrize("limit", [0, 8_000, 100_000])
def test_files_that_cannot_grow_leave_the_mirror_as_it_was(tmp_path: Path, limit: int) -> None:
    import resource

    def cannot(expected: int) -> None:
        done = subprocess.run(
            [*cli.COMMAND, "sync"],
            cwd=tmp_path,
            env=cli.environment(tmp_path, PYTHONDONTWRITEBYTECODE="1"),  # it would be cut short as well
            capture_output=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert (done.returncode, done.stdout) == (expected, b"")
        assert done.stderr.startswith(b"ledger: ") and done.stderr.count(b"\n") == 1

    log = cli.log(tmp_path, HALF).resolve()
    cannot(2)
    assert cli.ledger(tmp_path, "sync").code == 0
    log.write_bytes(LONG)
    cannot(2)
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert mirror.export(log) == HALF
        assert mirror.sync(log).status == "grown" and mirror.verify(log).ok


def test_a_writer_that_died_leaves_a_journal_that_a_reader_gets_over(tmp_path: Path) -> None:
    path, log = tmp_path / "mirror.db", cli.log(tmp_path, HALF).resolve()
    with mirror_at(path) as mirror:
        mirror.sync(log)
        before = mirror.laid_open(log)
        mirror.raw.execute("PRAGMA journal_mode = DELETE")  # as a first sync has, or a network's file system
    script = """if True:
        import os, sqlite3, sys
        mirror = sqlite3.connect(sys.argv[1], isolation_level=None)
        mirror.execute("PRAGMA cache_size = 5")
        mirror.execute("BEGIN")
        mirror.execute("UPDATE run SET description = hex(randomblob(200)), metric = 0")
        os._exit(9)
    """
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == 9
    assert path.with_name("mirror.db-journal").stat().st_size
    with open_reader(path) as connection:
        assert connection is not None
        raw = driver(connection)
        assert verify(raw, store.every(raw)[0]).ok
    with mirror_at(path) as mirror:
        assert mirror.laid_open(log) == before


def at_work(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*cli.COMMAND, *arguments],
        cwd=folder,
        env=cli.environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def before_or_after(folder: Path, before: dict[Path, bytes], after: dict[Path, bytes]) -> int:
    """Hold each log of a mirror to what it was or what it should become; give how many have become it."""
    done = 0
    with open_reader(folder / "mirror.db") as connection:
        if connection is None:
            return 0
        raw = driver(connection)
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for path, data in after.items():
            known = store.find(raw, path)
            stored = None if known is None else b"".join(store.stored(raw, known.id))
            assert stored in (before.get(path), data)
            assert known is None or stored is None or store.count_runs(raw, known.id) == stored.count(b"\n") - 1
            done += stored == data
    return done


@POSIX
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Kill `ledger sync` again and again; what it was at is as before or done, and the next sync does the rest."""
    folder = tmp_path.resolve()
    logs = [folder / name / "autoresearch.jsonl" for name in ("a", "b", "c")]
    after = {path: LONG.replace(b"speed", name) for path, name in zip(logs, (b"a", b"b", b"c"), strict=True)}
    before = {path: data[: len(HALF) + len(data) - len(LONG)] for path, data in list(after.items())[:2]}
    for path, data in before.items():
        cli.log(path.parent, data)
    assert cli.ledger(folder, "sync", ".").code == 0
    base = (folder / "mirror.db").read_bytes()
    for path, data in after.items():
        cli.log(path.parent, data)
    rng = random.Random(7)
    for place in range(KILLS):
        for leftover in folder.glob("mirror.db-*"):
            leftover.unlink()
        (folder / "mirror.db").write_bytes(base)
        told = place % 3  # each log is told once it is in the mirror
        with at_work(folder, "sync", ".") as process:
            assert process.stdout is not None
            for _ in range(told):
                assert process.stdout.readline()
            time.sleep(rng.uniform(0, 0.1 if told else 0.4))
            process.kill()
            process.communicate()
        assert before_or_after(folder, before, after) >= told
        if told == 1:
            assert cli.ledger(folder, "sync", ".").code == 0
            assert before_or_after(folder, before, after) == 3
    assert cli.ledger(folder, "sync", ".").code == cli.ledger(folder, "verify", "--all").code == 0


@POSIX
def test_interrupted(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    logs = [folder / str(number) / "autoresearch.jsonl" for number in range(30)]  # more than share a transaction
    after = {path: LONG.replace(b"speed", path.parent.name.encode()) for path in logs}
    for path, data in after.items():
        cli.log(path.parent, data)
    with at_work(folder, "sync", ".") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"new ")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, b"ledger: interrupted")
    assert 1 <= before_or_after(folder, {}, after) < 30
    assert cli.ledger(folder, "sync", ".").code == 0
    assert before_or_after(folder, {}, after) == 30


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    after = {}
    for number in range(12):
        path = folder / str(number) / "autoresearch.jsonl"
        after[path] = cli.lines({**cli.HEADER, "name": f"log {number}"}, *(cli.run(run, run) for run in range(1, 60)))
        cli.log(path.parent, after[path][: -number - 1] if number % 2 else after[path])
    for _ in range(2):
        workers = [at_work(folder, "sync", ".") for _ in range(3)]
        for worker in workers:
            _, err = worker.communicate(timeout=60)
            assert worker.returncode == 0 and all(line.startswith(b"warning: ") for line in err.splitlines()), err
        for path, data in after.items():
            cli.log(path.parent, data)
    assert before_or_after(folder, {}, after) == len(after)
    with mirror_at(folder / "mirror.db") as mirror:
        assert len(mirror.rows("sessions")) == len(after)
        assert mirror.rows("lines") and all(mirror.verify(path).ok for path in after)
