"""Scenes for faults: folders in which one command has work to do, and what may be there when it was cut short."""

import hashlib
import json
import shutil
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path

from ledger.mirror import schema, store
from ledger.reading.whole_log import read_log
from ledger.repair.apply import undo
from tests.support import cli
from tests.support.cli import HEADER, ROOT, Result, lines, run
from tests.support.mirroring import mirror_at

RUNS = 2500
LONG = lines(HEADER, *(run(number, number % 97, metrics={"mem": number}) for number in range(1, RUNS + 1)))
HALF = LONG[: LONG.index(b"\n", len(LONG) // 2) + 1]
DAMAGED = LONG.replace(b'{"run":100,', b'\n\xef\xbb\xbf{"run":100,').replace(b'"run":900,', b'"run":1,"run":900,')[:-1]


class Scene(ABC):
    """A command at work in a folder, at the same place each time, since a mirror knows its logs by their paths."""

    name: str
    command: tuple[str, ...]

    def __init__(self, top: Path) -> None:
        self.template = top.resolve() / f"{self.name} template"
        self.folder = top.resolve() / self.name
        self.folder.mkdir()
        self.set_up()
        shutil.copytree(self.folder, self.template)

    def reset(self) -> None:
        """Make the folder what it was; it is emptied, not removed, since a file system may be mounted there."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.template, self.folder, dirs_exist_ok=True)

    def variables(self) -> dict[str, str]:
        """Give what the command needs in its environment."""
        return {"PYTHONDONTWRITEBYTECODE": "1"}  # a full disk would cut that short as well

    def ledger(self, *arguments: str) -> Result:
        return cli.ledger(self.folder, *arguments, stdin=b"", **self.variables())

    @abstractmethod
    def set_up(self) -> None:
        """Make the folder in which the command has work to do."""

    @abstractmethod
    def check(self) -> bool:
        """Hold the folder to be as before or as after the command; tell whether it is as after."""

    @abstractmethod
    def complete(self) -> None:
        """Run what a person would run next, and hold that everything is as after the command."""

    def prove(self, count: int) -> None:
        """Hold the mirror to have so many sessions, each of which is proved: as `verify --all`, but quicker."""
        with mirror_at(self.folder / "mirror.db") as mirror:
            sessions = store.every(mirror.raw)
            assert len(sessions) == count
            for session in sessions:
                assert mirror.verify(Path(session.path)).ok, session.path

    def sessions(self) -> dict[str, bytes]:
        """Open the mirror with nothing of ours and give its logs' bytes, by the folder that each is in."""
        mirror = self.folder / "mirror.db"
        if not mirror.exists() or not mirror.stat().st_size:
            return {}
        with closing(sqlite3.connect(mirror)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if not raw.execute("SELECT 1 FROM sqlite_master").fetchone():
                return {}
            found = {}
            for number, path, lines_of_it in raw.execute("SELECT id, path, lines + (tail_size > 0) FROM session"):
                blocks = raw.execute("SELECT data FROM block WHERE session = ? ORDER BY start", (number,))
                data = b"".join(row[0] for row in blocks)
                rows = [
                    raw.execute(f"SELECT count(*) FROM {table} WHERE id >> 32 = ?", (number,)).fetchone()[0]
                    for table in ("run", "event", "unread")
                ]
                assert sum(rows) == lines_of_it == len(data.splitlines()), (path, rows, lines_of_it)
                found[Path(path).parent.name] = data
        return found


class Sync(Scene):
    """Three logs: two of them grew since the last sync, one is new."""

    name = "sync"
    command = ("sync", ".")

    def set_up(self) -> None:
        self.after = {name: LONG.replace(b"speed", name.encode()) for name in ("a", "b", "c")}
        cut = len(LONG) - len(HALF)
        self.before = {name: data[: len(data) - cut] for name, data in self.after.items() if name != "c"}
        for name, data in self.before.items():
            cli.log(self.folder / name, data)
        assert self.ledger("sync", ".").code == 0
        for name, data in self.after.items():
            cli.log(self.folder / name, data)

    def check(self) -> bool:
        for name, data in self.after.items():
            assert (self.folder / name / "autoresearch.jsonl").read_bytes() == data
        found = self.sessions()
        for name, data in found.items():
            assert data in (self.before.get(name), self.after[name]), name
        return found == self.after

    def complete(self) -> None:
        done = self.ledger("sync", ".")
        assert done.code == 0, done
        assert self.check()
        self.prove(3)


class FirstSync(Sync):
    """Three logs, and no mirror yet."""

    name = "first sync"

    def set_up(self) -> None:
        super().set_up()
        self.before = {}
        (self.folder / "mirror.db").unlink()


class Repair(Scene):
    """A mirrored log with errors, and a plan that mends them."""

    name = "repair"
    command = ("repair", "a/autoresearch.jsonl", "--apply", "plan.json")

    def set_up(self) -> None:
        self.log = cli.log(self.folder / "a", DAMAGED)
        assert self.ledger("sync", "--quarantine", "a").code == 0
        assert self.ledger("repair", str(self.log), "--plan", "plan.json").code == 1
        mended = self.folder / "mended.jsonl"
        done = self.ledger("repair", str(self.log), "--apply", "plan.json", "-o", str(mended))
        assert done.code == 0, done
        self.mended = mended.read_bytes()
        mended.unlink()

    def check(self) -> bool:
        data = self.log.read_bytes()
        assert data in (DAMAGED, self.mended)
        (mirrored,) = self.sessions().values()
        assert mirrored in (DAMAGED, self.mended)
        if data == self.mended:  # nothing of the original is lost, and it is written down
            copy = self.log.with_name(f"{self.log.name}.{hashlib.sha256(DAMAGED).hexdigest()[:8]}.bak")
            assert copy.read_bytes() == DAMAGED
            records = self.log.with_name(f"{self.log.name}.repairs.jsonl").read_bytes().splitlines()
            assert json.loads(records[-1])["after"] == hashlib.sha256(data).hexdigest()
        return data == mirrored == self.mended

    def complete(self) -> None:
        data = self.log.read_bytes()
        done = self.ledger(*self.command)
        assert done.code == (0 if data == DAMAGED else 2), done
        assert self.log.read_bytes() == self.mended
        assert self.ledger("sync", "--replace", "a").code == 0
        assert self.check()
        self.prove(1)
        assert read_log(self.log).ok
        undo(self.log)
        assert self.log.read_bytes() == DAMAGED


MIGRATION = '''
"""A revision that rewrites every row, as a change of the tables might."""

from alembic import op

revision, down_revision, branch_labels, depends_on = "9000", {head!r}, None, None


def upgrade() -> None:
    op.execute("CREATE TABLE later (id INTEGER NOT NULL, PRIMARY KEY (id))")
    op.execute("INSERT INTO later SELECT id FROM run")
    op.execute("UPDATE run SET description = description || ''")
    op.execute("UPDATE block SET data = data")
'''


class Upgrade(Scene):
    """A mirror of this version's schema, before a version of ledger that has one more revision."""

    name = "upgrade"
    command = ("db", "upgrade")

    def set_up(self) -> None:
        for name in ("a", "b"):
            cli.log(self.folder / name, LONG.replace(b"speed", name.encode()))
        assert cli.ledger(self.folder, "sync", ".").code == 0
        self.code = self.folder.with_name("a later version")
        for part in ("ledger", "migrations"):
            shutil.copytree(ROOT / part, self.code / part, ignore=shutil.ignore_patterns("__pycache__"))
        tables = self.code / "ledger" / "mirror" / "schema.py"
        text = tables.read_text("utf-8").replace(f'REVISION = "{schema.REVISION}"', 'REVISION = "9000"')
        tables.write_text(
            f'{text}\nlater = Table("later", metadata, Column("id", Integer, primary_key=True))\n', "utf-8"
        )
        revision = self.code / "migrations" / "versions" / "9000_later.py"
        revision.write_text(MIGRATION.format(head=schema.REVISION), "utf-8")
        self.head = schema.REVISION
        self.logs, self.rows = self.sessions(), self.counts()
        assert len(self.logs) == 2

    def variables(self) -> dict[str, str]:
        return {**super().variables(), "PYTHONPATH": str(self.code)}

    def counts(self) -> dict[str, int]:
        with closing(sqlite3.connect(self.folder / "mirror.db")) as raw:
            names = raw.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
            return {
                name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for (name,) in names
                if name not in ("later", "lines") and not name.startswith("sqlite")
            }

    def check(self) -> bool:
        assert self.sessions() == self.logs
        assert self.counts() == self.rows
        with closing(sqlite3.connect(self.folder / "mirror.db")) as raw:
            (version,) = raw.execute("SELECT version_num FROM ledger_version").fetchone()
            later = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE name = 'later'")]
            assert (version, later) in ((self.head, []), ("9000", ["later"]))
            return bool(later)

    def complete(self) -> None:
        done = self.ledger("db", "upgrade")
        assert done.code == 0, done
        assert self.check()
        assert self.ledger("verify", "--all").code == 0


SCENES: tuple[type[Scene], ...] = (Sync, FirstSync, Repair, Upgrade)
