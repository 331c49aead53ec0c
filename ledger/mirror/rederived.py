"""A session derived a second time, apart from the mirror, to hold the mirror's rows to."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import zip_longest
from typing import Any

from sqlalchemy import Table, create_engine

from ledger.base.errors import LedgerError
from ledger.dialects import names
from ledger.log.source import LogFile
from ledger.mirror import schema, side_rows, store
from ledger.mirror.ingest import Ingestion
from ledger.mirror.raw import Raw, driver
from ledger.mirror.store import StoredSession
from ledger.reading.whole_log import open_reader

_OF_SESSION = ("dialect", "lines", "state", "quarantined", "run_json")

_BY_ID = "SELECT id & {line}, {columns} FROM {table} WHERE id >= ? AND id < ? ORDER BY id"
_METRICS = """SELECT v.run_id & {line}, n.name, v.value
FROM run_metric AS v LEFT JOIN metric_name AS n ON n.id = v.name_id
WHERE v.run_id >= ? AND v.run_id < ? ORDER BY v.run_id, n.name"""
_SEGMENTS = "SELECT line, {columns} FROM segment WHERE session = ? ORDER BY segment"
_STATISTICS = """SELECT (SELECT line FROM segment AS g WHERE g.session = t.session AND g.segment = t.segment),
{columns}
FROM segment_stat AS t WHERE session = ? ORDER BY segment"""
_FINDINGS = """SELECT CASE WHEN source IS NULL THEN line ELSE 0 END, {columns}
FROM diagnostic WHERE session = ? ORDER BY line, "column", code, name, severity, message, source NULLS FIRST"""
_SIDES = "SELECT 0, {columns} FROM {table} WHERE session = ? ORDER BY number"


def _select(table: Table, sql: str = _BY_ID) -> str:
    names = (f'"{column.name}"' for column in table.columns if column.name != "id")
    return sql.format(line=2**schema.LINE_BITS - 1, columns=", ".join(names), table=table.name)


_ROWS = (
    *map(_select, (schema.run, schema.event, schema.unread)),
    _select(schema.run_metric, _METRICS),
    _select(schema.segment, _SEGMENTS),
    _select(schema.segment_stat, _STATISTICS),
    _select(schema.diagnostic, _FINDINGS),
    "SELECT 0, kind FROM side WHERE session = ? ORDER BY kind",
    _select(schema.acceptance, _SIDES),
    _select(schema.repair, _SIDES),
)
"""Every derived row of a session, a table at a time, in an order that does not show when each row came.

The first column is the line that the row stands for, 0 where that is none of the log's.
"""


@contextmanager
def derived(raw: Raw, session: StoredSession, size: int) -> Iterator[tuple[sqlite3.Connection, StoredSession]]:
    """Derive a session from its stored bytes, `size` of them, into a private database that is gone afterwards.

    The database is a temporary file of SQLite's own, so that memory stays bounded.
    """
    connect = partial(sqlite3.connect, "", isolation_level=None, check_same_thread=False)
    engine = create_engine("sqlite+pysqlite://", creator=connect)
    with engine.connect() as connection, LogFile(None, store.spool(raw, session), size) as file:
        apart = driver(connection)
        assert isinstance(apart, sqlite3.Connection)
        apart.execute("PRAGMA journal_mode = OFF")
        schema.metadata.create_all(connection, checkfirst=False)
        apart.execute("BEGIN")
        dialect = session.dialect if session.dialect in names() else None
        run_json = session.run_json if isinstance(session.run_json, bytes) else None
        reader, undecided = open_reader(file, dialect, run_json)
        if session.pending_bytes:  # the log goes on, so its end was not judged
            reader.torn, undecided = True, None
        beside = reader.dialect is not None and reader.dialect.run_json is not None
        blank = store.blank(session.id, session.key, session.path, session.host)._replace(
            run_json=run_json if beside else None
        )
        apart.execute(f"INSERT INTO session VALUES ({','.join('?' * len(blank))})", blank)
        Ingestion(apart, file, reader, blank, quarantine=True, store_blocks=False).go("rebuilt", undecided)
        side_rows.keep(apart, session.id, side_rows.stored(raw, session.id))
        with suppress(LedgerError):  # of side files that cannot be read nothing is derived
            side_rows.derive(apart, session.id, session.file, raw)
        yield apart, store.every(apart)[0]
    engine.dispose()


def first_difference(raw: Raw, session: StoredSession, apart: sqlite3.Connection, again: StoredSession) -> int | None:
    """Find the first line whose rows are not those derived again; 0 if no line is known, None if there is none."""
    scopes = {1: (session.id,), 2: (schema.first_id(session.id), schema.first_id(session.id + 1))}
    asked = [(sql, scopes[sql.count("?")]) for sql in _ROWS]
    with _as_stored(raw, apart):
        lines = [_first(raw.cursor().execute(*one), apart.execute(*one)) for one in asked]
    if any(getattr(session, name) != getattr(again, name) for name in _OF_SESSION) or not _same_fold(session, again):
        lines.append(0)
    found = [line for line in lines if line is not None]
    return min(filter(None, found), default=0) if found else None


@contextmanager
def _as_stored(raw: Raw, apart: sqlite3.Connection) -> Iterator[None]:
    """Read text as bytes: also such as no longer is UTF-8, which a server's always is."""
    if not isinstance(raw, sqlite3.Connection):
        yield
        return
    raw.text_factory = apart.text_factory = bytes
    try:
        yield
    finally:
        raw.text_factory = apart.text_factory = str


def _first(mine: Iterable[tuple[Any, ...]], theirs: Iterable[tuple[Any, ...]]) -> int | None:
    """Find the line of the first rows that differ; both come in the same order."""
    for pair in zip_longest(mine, theirs):
        if pair[0] != pair[1]:
            return min((row[0] for row in pair if row is not None and isinstance(row[0], int)), default=0)
    return None


def _same_fold(session: StoredSession, again: StoredSession) -> bool:
    """Compare what two folds say: the order of keys is of no matter."""
    try:
        return session.fold == again.fold or bool(json.loads(session.fold) == json.loads(again.fold))
    except ValueError:
        return False


def orphans(raw: Raw) -> dict[str, int]:
    """Count the rows that belong to no session, by table."""
    homes = [(table.name, f"{key} >> {schema.LINE_BITS}") for table, key in schema.BY_RECORD]
    homes += [(table.name, "session") for table in (*schema.BY_SESSION, *schema.OWN)]
    sql = "SELECT count(*) FROM {} WHERE {} NOT IN (SELECT id FROM session)"
    counts = {name: int(raw.execute(sql.format(name, home)).fetchone()[0]) for name, home in homes}
    return {name: count for name, count in counts.items() if count}
