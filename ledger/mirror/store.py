"""Sessions and their stored bytes: found by path, key or name, read back, dropped."""

import hashlib
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import IO, Any, NamedTuple

from ledger.mirror import schema
from ledger.mirror.origin import lock_key, origin_of, this_host
from ledger.mirror.postgres import Server
from ledger.mirror.raw import Raw, written_for

_ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")


_KEY_LENGTH = 8

NOTHING = hashlib.sha256().hexdigest()
"""The hash of no bytes."""


class StoredSession(NamedTuple):
    """Hold a session's row; see the schema for what each column means."""

    id: int
    key: str
    path: str
    dialect: str | None
    size: int
    sha256: str
    lines: int
    tail_size: int
    pending_bytes: int
    state: str
    fold: str
    run_json: bytes | None
    quarantined: bool
    gone: bool
    synced_ms: int
    host: str | None
    origin: str | None

    @property
    def file(self) -> Path:
        """The log's file on its machine, also where the bytes of its path are not UTF-8."""
        text = self.path if self.host is None else self.path.removeprefix(f"{self.host}:")
        if "\\x" not in text or os.path.lexists(text):
            return Path(text)
        return Path(os.fsdecode(_ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())))

    @property
    def foreign(self) -> bool:
        """Whether the log's file is on another machine."""
        return self.host not in (None, this_host())

    @property
    def missing(self) -> bool:
        """Whether the log's file is gone; one that may not be looked at is not, nor is one on another machine."""
        if self.foreign:
            return False
        try:
            self.file.stat()
        except OSError as error:
            return isinstance(error, FileNotFoundError | NotADirectoryError)
        return False

    @property
    def away(self) -> bool:
        """Whether there is no file here to look at."""
        return self.foreign or self.missing


_SELECTED = ", ".join(StoredSession._fields)
_GIVEN = ", ".join(StoredSession._fields[1:])
_MARKS = ",".join("?" * len(StoredSession._fields[1:]))


def path_text(path: Path) -> str:
    """Write a path as the mirror stores it."""
    return readable(str(path))


def readable(text: str) -> str:
    """Write text that came from outside so that it can be stored: bytes that are not UTF-8 become escapes."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def find(connection: Raw, path: Path) -> StoredSession | None:
    """Find the session of a log's canonical path, on this machine where the mirror has those of several."""
    where, values = _here(connection, [path_text(path)])
    return next(_select(connection, f"WHERE {where}", values), None)


def _select(connection: Raw, clause: str, values: Sequence[Any] = ()) -> Iterator[StoredSession]:
    return starmap(StoredSession, connection.execute(f"SELECT {_SELECTED} FROM session {clause}", values).fetchall())


def _here(connection: Raw, texts: Sequence[str]) -> tuple[str, list[str]]:
    """Make the condition on sessions whose logs have one of these paths on this machine."""
    marks = ",".join("?" * len(texts))
    if not isinstance(connection, Server):
        return f"path IN ({marks})", [*texts]
    host = this_host()
    return f"host = ? AND path IN ({marks},{marks})", [host, *texts, *(f"{host}:{text}" for text in texts)]


def read(connection: Raw, session_id: int) -> StoredSession | None:
    """Read a session's row."""
    return next(_select(connection, "WHERE id = ?", (session_id,)), None)


def claim(connection: Raw, session_id: int) -> StoredSession | None:
    """Read a session as it is by now, and keep others from changing it until the transaction ends."""
    if isinstance(connection, Server):
        connection.execute("SELECT id FROM session WHERE id = ? FOR UPDATE", (session_id,))
    return read(connection, session_id)


def clones(connection: Raw, path: Path) -> list[StoredSession]:
    """List the sessions that may be this log in other clones of its repository."""
    origin = origin_of(path) if isinstance(connection, Server) else None
    return [] if origin is None else [*_select(connection, "WHERE origin = ? ORDER BY lines DESC, id", (origin,))]


def lock(connection: Raw, path: Path) -> None:
    """Keep other clients from mirroring the log until the transaction ends; SQLite has one writer anyway."""
    if isinstance(connection, Server):
        connection.lock(lock_key(origin_of(path) or f"{this_host()}:{path_text(path)}"))


def placed(connection: Raw, path: Path, session_id: int | None = None) -> dict[str, Any]:
    """Say where a log is, as its session's row has it: the machine goes before a path that another session has."""
    text = path_text(path)
    if not isinstance(connection, Server):
        return {"path": text, "host": None, "origin": None}
    connection.lock(lock_key(text))
    taken = connection.execute("SELECT id FROM session WHERE path = ?", (text,)).fetchone()
    host = this_host()
    shown = text if taken is None or taken[0] == session_id else f"{host}:{text}"
    return {"path": shown, "host": host, "origin": origin_of(path)}


def every(connection: Raw) -> list[StoredSession]:
    """List all sessions by path."""
    return [*_select(connection, "ORDER BY path")]


def paths(connection: Raw) -> set[str]:
    """Give the paths of all sessions, without their machines."""
    rows = connection.execute("SELECT path, host FROM session")
    return {path if host is None else path.removeprefix(f"{host}:") for path, host in rows}


def lost(connection: Raw) -> list[StoredSession]:
    """List the sessions whose files are gone."""
    rows = connection.execute("SELECT id, path, host FROM session").fetchall()
    gone = [number for number, path, host in rows if blank(number, "", path, host).missing]
    return [session for number in gone if (session := read(connection, number)) is not None]


def matching(connection: Raw, names: tuple[str, ...]) -> list[int]:
    """Find the ids of the sessions that any of the names means: a path, a session's key, or a segment's name."""
    found: dict[int, None] = {}
    for name in names:
        path, text = Path(os.path.realpath(name)), readable(name)
        beside = path.with_name("events.jsonl") if path.name == "run.json" else path
        places = [path_text(one) for one in (path, path / "events.jsonl", beside)]
        where, values = _here(connection, places)
        rows = connection.execute(
            f"SELECT id FROM session WHERE ({where}) OR key = ?"
            " UNION SELECT session FROM segment WHERE name = ? ORDER BY 1",
            (*values, text, text),
        ).fetchall()
        if not rows and isinstance(connection, Server):
            rows = _elsewhere(connection, [*places, text], path)
        found.update((row[0], None) for row in rows)
    return list(found)


def _elsewhere(connection: Server, texts: Sequence[str], path: Path) -> list[tuple[int]]:
    """Find the sessions whose logs are on other machines: by the path there, or as clones of a log that is here."""
    marks = ",".join("?" * len(texts))
    rows = connection.execute(f"SELECT id FROM session WHERE path IN ({marks}) ORDER BY 1", texts).fetchall()
    return list(rows) or [(one.id,) for one in clones(connection, path)]


def blank(session_id: int, key: str, path: str, host: str | None = None, origin: str | None = None) -> StoredSession:
    """Make the row of a session of which nothing is mirrored yet."""
    return StoredSession(
        session_id, key, path, None, 0, NOTHING, 0, 0, 0, "none", "", None, False, False, 0, host, origin
    )


def add(connection: Raw, path: Path) -> StoredSession:
    """Make the row of a new session and return it."""
    place = placed(connection, path)
    digest = hashlib.sha256(place["path"].encode()).hexdigest()
    sql = f"INSERT INTO session ({_GIVEN}) VALUES ({_MARKS}) ON CONFLICT (key) DO NOTHING RETURNING id"
    made = (blank(0, digest[:length], **place) for length in range(_KEY_LENGTH, 65))
    tried = ((session, connection.execute(sql, session[1:]).fetchone()) for session in made)
    return next(session._replace(id=row[0]) for session, row in tried if row is not None)


def add_all(connection: sqlite3.Connection, paths: Sequence[Path]) -> list[StoredSession] | None:
    """Make the rows of new sessions in a file and return them; None if one of them is there, or needs a longer key."""
    texts = [path_text(path) for path in paths]
    made = [blank(0, hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH], text) for text in texts]
    sql = f"INSERT INTO session ({_GIVEN}) VALUES {','.join([f'({_MARKS})'] * len(made))} ON CONFLICT DO NOTHING"
    cursor = connection.execute(sql, [value for session in made for value in session[1:]])
    if cursor.rowcount < len(made) or cursor.lastrowid is None:
        return None
    first = cursor.lastrowid - len(made) + 1  # one statement, and one writer: the ids follow each other
    return [session._replace(id=number) for number, session in enumerate(made, first)]


_RUNS = "SELECT coalesce(sum(runs), 0) FROM segment_stat WHERE session = "


def update(connection: Raw, session: StoredSession) -> int:
    """Write a session's row, and count its runs on that way to the database."""
    assignments = ", ".join(f"{name} = ?" for name in StoredSession._fields[1:])
    sql = f"UPDATE session SET {assignments} WHERE id = ? RETURNING ({_RUNS}session.id)"
    return int(connection.execute(sql, (*session[1:], session.id)).fetchone()[0])


def remove(connection: Raw, session_id: int) -> None:
    """Drop a session with its bytes and everything derived from them."""
    drop_derived(connection, session_id)
    if not isinstance(connection, Server) or connection.may_drop_names():
        connection.execute("DELETE FROM metric_name WHERE id NOT IN (SELECT DISTINCT name_id FROM run_metric)")
    for table in schema.OWN:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
    connection.execute("DELETE FROM session WHERE id = ?", (session_id,))


def drop_derived(connection: Raw, session_id: int) -> None:
    """Drop everything derived from a session's bytes."""
    first, end = schema.first_id(session_id), schema.first_id(session_id + 1)
    for table, key in schema.BY_RECORD:
        connection.execute(f"DELETE FROM {table.name} WHERE {key} >= ? AND {key} < ?", (first, end))
    for table in schema.BY_SESSION:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))


def count_runs(connection: Raw, session_id: int) -> int:
    """Count a session's runs, as `sessions` does."""
    return int(connection.execute(f"{_RUNS}?", (session_id,)).fetchone()[0])


def count_errors(connection: Raw, session_id: int) -> tuple[int, int]:
    """Count a session's errors: all, and those that nobody accepted."""
    sql = "SELECT count(*), count(*) - count(accepted) FROM diagnostic WHERE session = ? AND severity = 'error'"
    errors, left = connection.execute(sql, (session_id,)).fetchone()
    return int(errors), int(left)


def stored(connection: Raw, session_id: int) -> Iterator[bytes]:
    """Yield a session's bytes, block by block."""
    sql = written_for(connection, "SELECT [[bytes data]] FROM block WHERE session = ? ORDER BY start")
    for row in connection.cursor().execute(sql, (session_id,)):
        yield row[0]


def sha256(connection: Raw, session_id: int, size: int = sys.maxsize) -> str:
    """Hash a session's bytes, or the first `size` of them."""
    digest = hashlib.sha256()
    for data in stored(connection, session_id):
        digest.update(data[:size])
        size -= len(data)
        if size <= 0:
            break
    return digest.hexdigest()


def spool(connection: Raw, session: StoredSession) -> IO[bytes]:
    """Copy a session's bytes to a temporary file, at its start."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    for data in stored(connection, session.id):
        file.write(data)
    file.seek(0)
    return file
