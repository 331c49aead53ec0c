"""Sessions and their stored bytes: found by path, key or name, read back, dropped."""

import hashlib
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from sqlalchemy import Connection

from ledger.mirror import schema
from ledger.mirror.derive import drop_derived

_ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")


NOTHING = hashlib.sha256().hexdigest()
"""The hash of no bytes."""


class Session(NamedTuple):
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

    @property
    def file(self) -> Path:
        """The log's file, also where the bytes of its path are not UTF-8."""
        return _file(self.path)

    @property
    def missing(self) -> bool:
        """Whether the log's file is gone; one that may not be looked at is not."""
        return _missing(self.path)


def _file(text: str) -> Path:
    path = Path(text)
    if "\\x" not in text or os.path.lexists(path):
        return path
    return Path(os.fsdecode(_ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())))


def _missing(text: str) -> bool:
    try:
        _file(text).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


_SELECTED = ", ".join(Session._fields)


def driver(connection: Connection) -> sqlite3.Connection:
    """Give the driver's own connection, on which rows are read and written in bulk."""
    return cast("sqlite3.Connection", connection.connection.driver_connection)


def path_text(path: Path) -> str:
    """Write a path as the mirror stores it."""
    return readable(str(path))


def readable(text: str) -> str:
    """Write text that came from outside so that it can be stored: bytes that are not UTF-8 become escapes."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def find(connection: sqlite3.Connection, path: Path) -> Session | None:
    """Find the session of a log's canonical path."""
    row = connection.execute(f"SELECT {_SELECTED} FROM session WHERE path = ?", (path_text(path),)).fetchone()
    return None if row is None else Session(*row)


def every(connection: sqlite3.Connection) -> list[Session]:
    """List all sessions by path."""
    return [Session(*row) for row in connection.execute(f"SELECT {_SELECTED} FROM session ORDER BY path")]


def paths(connection: sqlite3.Connection) -> set[str]:
    """Give the paths of all sessions."""
    return {row[0] for row in connection.execute("SELECT path FROM session")}


def lost(connection: sqlite3.Connection) -> list[Session]:
    """List the sessions whose files are gone."""
    paths = [row[0] for row in connection.execute("SELECT path FROM session") if _missing(row[0])]
    return [session for path in paths if (session := find(connection, Path(path))) is not None]


def matching(connection: sqlite3.Connection, names: tuple[str, ...]) -> list[int]:
    """Find the ids of the sessions that any of the names means: a path, a session's key, or a segment's name."""
    found: dict[int, None] = {}
    for name in names:
        path, text = Path(os.path.realpath(name)), readable(name)
        beside = path.with_name("events.jsonl") if path.name == "run.json" else path
        rows = connection.execute(
            "SELECT id FROM session WHERE path IN (?, ?, ?) OR key = ?"
            " UNION SELECT session FROM segment WHERE name = ? ORDER BY 1",
            (*map(path_text, (path, path / "events.jsonl", beside)), text, text),
        )
        found.update((row[0], None) for row in rows)
    return list(found)


def blank(session_id: int, key: str, path: Path) -> Session:
    """Make the row of a session of which nothing is mirrored yet."""
    return Session(session_id, key, path_text(path), None, 0, NOTHING, 0, 0, 0, "none", "", None, False, False, 0)


def add(connection: sqlite3.Connection, path: Path) -> int:
    """Make the row of a new session and return its id."""
    text = path_text(path)
    digest = hashlib.sha256(text.encode()).hexdigest()
    near = connection.execute("SELECT key FROM session WHERE key BETWEEN ? AND ?", (digest[:8], digest[:8] + "g"))
    taken = {row[0] for row in near}
    key = next(digest[:length] for length in range(8, 65) if digest[:length] not in taken)
    values = blank(0, key, path)[1:]
    cursor = connection.execute(
        f"INSERT INTO session ({', '.join(Session._fields[1:])}) VALUES ({','.join('?' * len(values))})", values
    )
    return int(cursor.lastrowid or 0)


def update(connection: sqlite3.Connection, session: Session) -> None:
    """Write a session's row."""
    assignments = ", ".join(f"{name} = ?" for name in Session._fields[1:])
    connection.execute(f"UPDATE session SET {assignments} WHERE id = ?", (*session[1:], session.id))


def mark_gone(connection: sqlite3.Connection, session: Session) -> None:
    """Note that a session's file is gone, unless the session has a new path by now."""
    connection.execute("UPDATE session SET gone = ? WHERE id = ? AND path = ?", (True, session.id, session.path))


def remove(connection: sqlite3.Connection, session_id: int) -> None:
    """Drop a session with its bytes and everything derived from them."""
    drop_derived(connection, session_id)
    connection.execute("DELETE FROM metric_name WHERE id NOT IN (SELECT name_id FROM run_metric)")
    for table in schema.OWN:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
    connection.execute("DELETE FROM session WHERE id = ?", (session_id,))


def count_runs(connection: sqlite3.Connection, session_id: int) -> int:
    """Count a session's runs, as `sessions` does."""
    sql = "SELECT coalesce(sum(runs), 0) FROM segment_stat WHERE session = ?"
    return int(connection.execute(sql, (session_id,)).fetchone()[0])


def count_errors(connection: sqlite3.Connection, session_id: int) -> tuple[int, int]:
    """Count a session's errors: all, and those that nobody accepted."""
    sql = "SELECT count(*), count(*) - count(accepted) FROM diagnostic WHERE session = ? AND severity = 'error'"
    errors, left = connection.execute(sql, (session_id,)).fetchone()
    return int(errors), int(left)


def stored(connection: sqlite3.Connection, session_id: int) -> Iterator[bytes]:
    """Yield a session's bytes, block by block."""
    sql = "SELECT CAST(data AS BLOB) FROM block WHERE session = ? ORDER BY start"
    for row in connection.execute(sql, (session_id,)):
        yield row[0]


def spool(connection: sqlite3.Connection, session: Session) -> IO[bytes]:
    """Copy a session's bytes to a temporary file, at its start."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    for data in stored(connection, session.id):
        file.write(data)
    file.seek(0)
    return file
