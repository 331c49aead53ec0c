"""SQL as a person typed it: only ever read, and only for so long."""

import math
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any, cast

from ledger.base.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.postgres import Server, failures
from ledger.mirror.raw import Raw

Rows = Iterator[Sequence[Any]]

TOO_LONG = "the statement took too long and was stopped; --timeout gives it more time"
_MOST_BYTES = 1 << 28
"""Bytes of the largest value that a typed statement may make; a line of a log is a sixteenth of it."""

_MOST_HELD = 3 << 28
"""Bytes, about, of the rows of a typed statement that are held together; a million runs take less."""

_READING_PRAGMAS = frozenset((
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list",
    "function_list",
))  # fmt: skip


def select(raw: Raw, sql: str, seconds: float = 0) -> tuple[tuple[str, ...], Rows]:
    """Run SQL as typed, for at most so many seconds of computing (0: no limit).

    The database itself refuses all but reading. Raises LedgerError with its reason.
    """
    if isinstance(raw, Server):
        return _select_there(raw, store.readable(sql), seconds)
    end = time.process_time() + seconds if seconds else math.inf
    raw.set_authorizer(_authorize)
    raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    raw.set_progress_handler(lambda: time.process_time() > end, 100_000)  # lets Ctrl-C through as well
    try:
        cursor = raw.execute(store.readable(sql))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _refusal(error, "refused", end) from None
    return tuple(column[0] for column in cursor.description or ()), readable(cursor, end)


def readable(cursor: Rows, end: float = math.inf) -> Rows:
    """Show bytes as text, what is no UTF-8 as escapes."""
    try:
        for row in cursor:
            yield [value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value for value in row]
    except sqlite3.Error as error:
        raise _refusal(error, "stopped", end) from None


def held(rows: Rows) -> Rows:
    """Yield rows that are going to be held together. Raises LedgerError when they come to more than memory may take."""
    room = _MOST_HELD
    for row in rows:
        room -= 160 + sum(16 + len(cell) if isinstance(cell, str) else 16 for cell in row)
        if room < 0:
            raise LedgerError("the result is too large for a table; use --format csv or json, or a LIMIT")
        yield row


def _refusal(error: Exception, verb: str, end: float) -> BaseException:
    """Say why a statement failed; Ctrl-C reaches the database first, which knows no better than to call it an error."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        return LedgerError(TOO_LONG) if time.process_time() > end else KeyboardInterrupt()
    return LedgerError(f"the database {verb} the statement: {error}")


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    allowed = (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
        or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() != "load_extension")
        or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _READING_PRAGMAS)
        or (action == sqlite3.SQLITE_UPDATE and first == "sqlite_master")  # how json_each is declared
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


_PLAIN = re.compile(r"(\s|--[^\r\n]*[\r\n])*(explain|show)\b", re.IGNORECASE)
"""What only tells something and is no query, for which there is a cursor. Comments of the other kind may be nested, and
would need more than this to be passed over."""


def _select_there(server: Server, sql: str, seconds: float) -> tuple[tuple[str, ...], Rows]:
    """Run a statement on a server, in a transaction that may only read.

    A cursor is for a single query: nothing that acts, such as COPY to a program, is one.
    """
    begun = time.monotonic()
    try:
        server.execute(f"SET LOCAL statement_timeout = {min(math.ceil(seconds * 1000), 2**31 - 1)}")
        if _PLAIN.match(sql):
            found = server.connection.cursor(binary=True).execute(sql)  # two statements at once are refused
            return tuple(column.name for column in found.description or ()), readable(iter(found.fetchall()))
        columns, rows = server.cursor().as_typed(sql)
    except failures() as error:
        raise _refusal_there(error, "refused") from None
    return columns, readable(_told(rows, seconds - (time.monotonic() - begun) if seconds else math.inf))


def _told(rows: Rows, left: float) -> Rows:
    """Yield rows as long as the server takes no longer for all of them; its own limit is one for each answer."""
    while True:
        begun = time.monotonic()
        try:
            row = next(rows, None)
        except failures() as error:
            raise _refusal_there(error, "stopped") from None
        left -= time.monotonic() - begun
        if row is None:
            return
        if left < 0:
            raise LedgerError(TOO_LONG)
        yield row


def _refusal_there(error: Any, verb: str) -> BaseException:
    """Say why a server would not; that the connection is lost is said elsewhere."""
    state = error.sqlstate or ""
    if state == "57014":  # it was stopped
        return LedgerError(TOO_LONG)
    if not state or state.startswith(("08", "57")):
        return cast("Exception", error)
    return LedgerError(f"the database {verb} the statement: {error.diag.message_primary or 'no reason was given'}")
