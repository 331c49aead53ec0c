"""A PostgreSQL server behind the few methods of SQLite's connection that the mirror uses."""

import itertools
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Engine, create_engine, event

from ledger.base.errors import LedgerError
from ledger.mirror.location import show

if TYPE_CHECKING:
    import psycopg

for _name in ("psycopg", "sqlalchemy"):  # what they tell when a connection is lost is raised as well
    logging.getLogger(_name).addHandler(logging.NullHandler())

OLDEST = 14
BUSY_SECONDS = 20
"""How long to wait for another writer of the same log."""

OWN_SCHEMA = "quote_ident(current_schema())::regnamespace"
"""The schema that holds the mirror, whatever characters its name has."""

_CONNECT_SECONDS = 10
_FETCHED = 2000
"""Rows that come in one answer of a streamed query."""

_DDL, _NAMES = 0x1ED6E700000001, 0x1ED6E700000002
"""Keys of the advisory locks that are about no log."""

_QUICK_COMPRESSION = (
    "SELECT set_config(name, 'lz4', false) FROM pg_settings"
    " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)"
)
"""Of the stored bytes, where the server has it: its own takes longer than all else it does in a sync."""

_LEARN = """
INSERT INTO metric_name SELECT (SELECT coalesce(max(id), 0) FROM metric_name) + row_number() OVER (ORDER BY place), name
FROM unnest(CAST(? AS text[])) WITH ORDINALITY AS fresh (name, place)
WHERE NOT EXISTS (SELECT 1 FROM metric_name AS known WHERE known.name = fresh.name)
"""

_QUOTED_OR_MARK = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\?""")

_NUMBERS = itertools.count()
"""What tells the open cursors of a connection apart."""


@lru_cache(256)
def _numbered(sql: str) -> str:
    """Count a statement's marks, `$1` for the first `?`, as the server reads them; within quotes a `?` is none."""
    numbers = itertools.count(1)
    return _QUOTED_OR_MARK.sub(lambda found: f"${next(numbers)}" if found[0] == "?" else found[0], sql)


class Server:
    """Run statements on a server, `?` for each value, as on SQLite's connection."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self.connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement and hold its whole result."""
        from psycopg import RawCursor

        return RawCursor(self.connection).execute(_numbered(sql), values, binary=True)

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each row."""
        from psycopg import RawCursor

        RawCursor(self.connection).executemany(_numbered(sql), rows)

    def cursor(self) -> "Stream":
        """Give a cursor whose rows come as they are asked for."""
        return Stream(self)

    def begin(self) -> None:
        """Open a transaction that waits for other writers, but not for ever, and then sees what they wrote."""
        self.connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '{BUSY_SECONDS}s'")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.connection.info.transaction_status != 0

    def lock(self, key: int) -> None:
        """Hold an advisory lock to the end of the transaction. `key` is a signed integer of 64 bits."""
        self.execute("SELECT pg_advisory_xact_lock(CAST(? AS bigint))", (key,))

    def lock_schema(self) -> None:
        """Keep other clients from making or changing the schema."""
        self.lock(_DDL)

    def keep_names(self) -> None:
        """Keep the names of metrics from being dropped until the transaction's values are there."""
        self.execute("SELECT pg_advisory_xact_lock_shared(CAST(? AS bigint))", (_NAMES,))

    def may_drop_names(self) -> bool:
        """Tell whether nobody is about to store values, and keep it so."""
        return bool(self.execute("SELECT pg_try_advisory_xact_lock(CAST(? AS bigint))", (_NAMES,)).fetchone()[0])

    def learn(self, names: Sequence[str]) -> dict[str, int]:
        """Give metric names their ids, for all clients at once.

        In a transaction of its own: within that of the log, two clients would wait for each other.
        """
        import psycopg

        info = self.connection.info
        with psycopg.connect(info.dsn, password=info.password or None, client_encoding="UTF8") as apart:
            apart.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            aside = _adapted(apart)
            aside.lock(_NAMES + 1)
            aside.execute(_LEARN, (list(names),))
            rows = aside.execute(
                "SELECT name, id FROM metric_name WHERE name = ANY (CAST(? AS text[]))", (list(names),)
            )
            return dict(rows.fetchall())


class Stream:
    """Yield a query's rows, a few thousand at a time, so that memory stays bounded."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query; outside of a transaction, where a cursor cannot live, its result is held whole."""
        if not self._server.connection.autocommit or self._server.in_transaction:
            return self._rows(_numbered(sql), values)
        return iter(self._server.execute(sql, values))

    def as_typed(self, sql: str) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Run one query as a person typed it, and give its columns too. A cursor takes nothing but a query."""
        found = self._typed(sql)
        return next(found), found

    def _rows(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        with self._cursor() as cursor:
            yield from cursor.execute(sql, values, binary=True)

    def _typed(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield the columns' names, once the first rows are there, and the rows."""
        from ledger.mirror.postgres_types import register_plain

        with self._cursor() as cursor:
            register_plain(cursor)
            first = cursor.execute(sql).fetchmany(_FETCHED)
            yield tuple(column.name for column in cursor.description or ())
            yield from first
            yield from cursor

    def _cursor(self) -> "psycopg.RawServerCursor[Any]":
        from psycopg import RawServerCursor

        cursor = RawServerCursor(self._server.connection, f"ledger_{next(_NUMBERS)}", scrollable=False)
        cursor.itersize = _FETCHED
        return cursor


def _adapted(connection: "psycopg.Connection[Any]") -> Server:
    from ledger.mirror.postgres_types import register

    register(connection)
    connection.prepare_threshold = None  # a pool between here and the server may not keep what is prepared
    return Server(connection)


def engine(address: URL, *, reading: bool) -> Engine:
    """Make an engine on a server's database. A reader's statements are one read-only transaction with one snapshot.

    Raises LedgerError if psycopg is not installed, or does not find its library.
    """
    try:
        import psycopg
    except ImportError:
        raise LedgerError(
            "a mirror on a PostgreSQL server needs its extra: pip install 'autoresearch-ledger[postgres]'"
        ) from None

    def connect() -> "psycopg.Connection[Any]":
        told: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, "application_name": "ledger"}
        told |= {name: value if isinstance(value, str) else ",".join(value) for name, value in address.query.items()}
        told |= address.translate_connect_args(username="user", database="dbname")
        made = psycopg.connect(**told, autocommit=not reading, client_encoding="UTF8")
        server = _adapted(made)
        if made.info.server_version < OLDEST * 10_000:
            version = made.info.server_version // 10_000
            made.close()
            raise LedgerError(f"{show(address)} is PostgreSQL {version}; ledger needs {OLDEST} or a newer one")
        if (encoding := made.info.parameter_status("server_encoding")) != "UTF8":
            made.close()
            raise LedgerError(f"the database {show(address)} holds text as {encoding}; ledger needs one made for UTF8")
        if reading:
            made.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            made.read_only = True
            made.execute("SET jit = off; SET cursor_tuple_fraction = 1; SET extra_float_digits = 1")
            made.commit()
        else:
            server.connection.execute("SET jit = off")
            server.execute(_QUICK_COMPRESSION)
        return made

    made = create_engine("postgresql+psycopg://", creator=connect, use_native_hstore=False)
    if not reading:
        event.listen(made, "begin", lambda connection: Server(connection.connection.driver_connection).begin())
    return made


def failures() -> tuple[type[Exception], ...]:
    """Give what the driver raises, if it is there at all."""
    psycopg = sys.modules.get("psycopg")
    return (psycopg.Error,) if psycopg else ()


_REASONS = {
    "42501": "{name} does not let this user do that: {reason}",
    "25006": "{name} is read-only; name another with --db",
    "53100": "the server's disk is full; {name} is as it was before",
    "55P03": f"{{name}} is locked: another command has been writing for {BUSY_SECONDS} s; try again",
    "40": "{name} was changed by another command at the same moment; try again",
    "57014": "a statement on {name} took too long and was stopped by the server",
}
_TURNED_AWAY = {
    "authentication failed": "refuses this user",
    "no password supplied": "refuses this user",
    "role ": "refuses this user",
    "pg_hba.conf": "refuses this user",
    "database ": "is not there",
}
"""What is told of a connection that did not come to be, which has no code."""

_LOST_SIGNS = (
    "closed the connection unexpectedly", "connection is lost", "connection is closed", "socket closed",
    "already in progress",  # said when a statement was under way, and is to be rolled back
    "terminat", "EOF detected",
)  # fmt: skip
_LOST = "the server of {name} ended the connection; what was not finished left no trace; try again"


def explain(error: Exception, address: URL) -> LedgerError:
    """Turn the driver's failure into a sentence about the mirror, without a password."""
    cause: Any = getattr(error, "orig", None) or error
    name, state = f"the mirror {show(address)}", getattr(cause, "sqlstate", None) or ""
    # What came before the last reason says which server was tried.
    line = next(iter(str(cause).strip().splitlines()), "no reason was given")
    reason = line.rsplit(" failed: ", 1)[-1].removeprefix("FATAL:").removeprefix("ERROR:").strip()
    for beginning, sentence in _REASONS.items():
        if state.startswith(beginning):
            return LedgerError(sentence.format(name=name, reason=reason))
    if state.startswith(("08", "57P")) or (not state and any(words in str(cause) for words in _LOST_SIGNS)):
        return LedgerError(_LOST.format(name=name))
    if not state:
        how = next((how for words, how in _TURNED_AWAY.items() if words in reason), "cannot be reached")
        return LedgerError(f"{name} {how}: {reason}")
    return LedgerError(f"{name} failed: {reason}")
