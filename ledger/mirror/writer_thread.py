"""A second thread for the database, so that it stores rows while the next lines are read.

SQLite works outside the interpreter's lock, and statements are few and large, so the two hardly wait for each other.
"""

import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from typing import Any

from ledger.mirror.postgres import Server
from ledger.mirror.raw import Raw

_PENDING = 6
"""Batches that may wait: enough to keep the thread busy, few enough to bound memory."""

_SWITCH_SECONDS = 0.0001
"""How long the database's thread waits for the interpreter after a statement; the default is fifty times that."""

_VALUES = 30_000
"""Values in one statement; SQLite takes 32,766."""

_BLOCKS = 16
"""Blocks in one statement, a megabyte of text."""

_COPIED = 8000
"""Rows in one COPY to a server, whose every statement costs the way there and back."""


def statement_batches(rows: Sequence[tuple[Any, ...]], most: int) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Cut rows for statements of `most` rows, then of as many as one digit says of what is left, to the base of 32.

    Statements are kept once they are prepared, megabytes for a large one: a length of its own for each log's last rows
    would fill memory, and none would be used again. Yet a small log must not take many, each of which waits its turn.
    """
    start = 0
    while left := len(rows) - start:
        scale = 32 ** ((left.bit_length() - 1) // 5)
        count = most if left >= most else left // scale * scale
        yield rows[start : start + count]
        start += count


class WriterThread:
    """Run statements on one connection, in order, on a thread of their own. Failures show at the next call."""

    def __init__(self, connection: Raw) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(1)
        self._waiting: deque[Future[object]] = deque()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one statement: here and now where nothing waits, so that a small log never starts the thread."""
        if self._waiting:
            self._submit(self._run, sql, values)
        else:
            self._run(sql, values)

    def insert(self, table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Insert rows into a table, in order, as far as they fill statements, and return those left over.

        Each statement makes the two threads wait for each other once, so there must be few.
        """
        full = self._full(table, rows)
        end = len(rows) // full * full
        for start in range(0, end, full):
            self._submit(self._insert, *self._ready(table, rows[start : start + full]))
        return rows[end:]

    def finish(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Wait for all before, and insert the last rows of a table here and now."""
        self.flush()
        if rows:
            self._insert(*self._ready(table, rows))

    def flush(self) -> None:
        """Wait until everything is stored."""
        while self._waiting:
            self._waiting.popleft().result()

    def _submit(self, call: Callable[..., object], *arguments: Any) -> None:
        while len(self._waiting) >= _PENDING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(call, *arguments))

    def _full(self, table: str, rows: list[tuple[Any, ...]]) -> int:
        """Say how many rows one statement takes."""
        return _BLOCKS if table == "block" else _VALUES // len(rows[0]) if rows else 1

    def _ready(self, table: str, rows: list[tuple[Any, ...]]) -> tuple[str, Any]:
        """Make of rows what `_insert` takes, on the thread that read them."""
        return table, rows

    def _run(self, sql: str, values: Sequence[Any]) -> None:
        """Run a statement inside the transaction: after a full disk SQLite ends it by itself, and none may follow."""
        if not self._connection.in_transaction:
            raise sqlite3.OperationalError("the transaction has ended; the disk may be full")
        self._connection.execute(sql, values)

    def _insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Insert many rows with one statement: for small rows that halves the cost."""
        marks = f"({','.join('?' * len(rows[0]))})"
        for part in statement_batches(rows, self._full(table, rows)):
            self._run(f"INSERT INTO {table} VALUES {','.join([marks] * len(part))}", tuple(chain.from_iterable(part)))

    def close(self) -> None:
        """End the thread; what still waits is dropped, since the transaction is rolled back then."""
        self._thread.shutdown(wait=True, cancel_futures=True)


class _CopyThread(WriterThread):
    """A thread to a server, which takes rows by COPY."""

    def _full(self, table: str, rows: list[tuple[Any, ...]]) -> int:
        return _BLOCKS if table == "block" else max(len(rows), _COPIED)

    def _ready(self, table: str, rows: list[tuple[Any, ...]]) -> tuple[str, Any]:
        from ledger.mirror.postgres_copy import written

        return written(table, rows)

    def _insert(self, statement: str, data: Any) -> None:
        assert isinstance(self._connection, Server)
        with self._connection.connection.cursor() as cursor, cursor.copy(statement) as stream:
            stream.write(data)


@contextmanager
def writer_thread(connection: Raw) -> Iterator[WriterThread]:
    """Start a thread for a connection, which nothing else may use meanwhile except after `flush`."""
    thread = _CopyThread(connection) if isinstance(connection, Server) else WriterThread(connection)
    try:
        with quick_switching():
            yield thread
            thread.flush()
    finally:
        thread.close()


@contextmanager
def quick_switching() -> Iterator[None]:
    """Let a thread that waits for the interpreter have it soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
