"""Events written to the mirror as rows, many at a time on the driver's own connection."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any

from ledger.diagnostics import Diagnostic
from ledger.events import Decision, Event, Header, Lifecycle, Marker, Other, Runs, Unread
from ledger.jsontext import INT64, dump
from ledger.mirror import schema
from ledger.numbers import is_number, residue
from ledger.source import Block
from ledger.state import State

_FLUSH_ROWS = 2000
_VALUES_AT_ONCE = 600

_INSERT_SEGMENT = "INSERT OR REPLACE INTO segment VALUES (?,?,?,?,?,?,?)"
_INSERT_DIAGNOSTIC = (
    'INSERT INTO diagnostic (session, line, "column", code, name, severity, message, source) VALUES (?,?,?,?,?,?,?,?)'
)


class RowWriter:
    """Write one session's events and bytes as rows. `first_touched` is the lowest segment whose runs changed."""

    def __init__(self, connection: sqlite3.Connection, session_id: int) -> None:
        self._connection = connection
        self._session = session_id
        self._base = schema.first_id(session_id)
        self._runs: list[tuple[Any, ...]] = []
        self._metrics: list[tuple[Any, ...]] = []
        self._events: list[tuple[Any, ...]] = []
        self._unread: list[tuple[Any, ...]] = []
        self._names: dict[str, int] = dict(connection.execute("SELECT name, id FROM metric_name"))
        self.first_touched: int | None = None

    def block(self, block: Block) -> None:
        """Store a block's bytes."""
        self._connection.execute(
            "INSERT INTO block VALUES (?,?,?,?)", (self._session, block.offset, len(block.data), block.data)
        )

    def event(self, event: Event, state: State) -> None:
        """Take an event that has just been folded into the state."""
        if isinstance(event, Runs):
            self._take_runs(event, state)
        elif isinstance(event, Unread):
            line, offset, size = event.place
            self._unread.append((self._base + line, offset, size, event.kind))
        else:
            self._take_event(event, state)
        if len(self._runs) + len(self._events) + len(self._unread) >= _FLUSH_ROWS:
            self.flush()

    def segment(self, state: State) -> None:
        """Store the current segment's header, which replaces that of a segment without runs."""
        current = state.current()
        self._connection.execute(
            _INSERT_SEGMENT,
            (self._session, current.ordinal, current.line, current.name, current.metric_name, current.unit, current.direction),
        )
        self._touch(current.ordinal)

    def flush(self) -> None:
        """Write what is held back."""
        for table, rows in (("run", self._runs), ("run_metric", self._metrics), ("event", self._events), ("unread", self._unread)):
            if rows:
                self._insert(table, rows)
                rows.clear()

    def _insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Insert rows, many in one statement: for small rows that halves the cost."""
        width, count, here = len(rows[0]), _VALUES_AT_ONCE // len(rows[0]), 0
        row = f"({','.join('?' * width)})"
        if len(rows) >= count:
            sql = f"INSERT INTO {table} VALUES {','.join([row] * count)}"
            while len(rows) - here >= count:
                self._connection.execute(sql, tuple(chain.from_iterable(rows[here : here + count])))
                here += count
        self._connection.executemany(f"INSERT INTO {table} VALUES {row}", rows[here:])

    def diagnostics(self, found: Iterable[Diagnostic]) -> None:
        """Store findings."""
        self._connection.executemany(
            _INSERT_DIAGNOSTIC,
            ((self._session, d.line, d.column, d.code, d.name, d.severity.value, d.message, d.source) for d in found),
        )

    def _touch(self, segment: int) -> None:
        self.first_touched = segment if self.first_touched is None else min(self.first_touched, segment)

    def _take_runs(self, runs: Runs, state: State) -> None:
        ordinal = state.current().ordinal
        if self.first_touched is None:
            self.segment(state)  # it has no header, or an earlier sync opened it
        ids: Sequence[int] = [self._base + line for line in runs.line]
        metric, confidence, numbers = runs.metric, runs.confidence, runs.run
        left_out: Iterable[float | None] = repeat(None)
        if len(ids) == 1:
            left_out = (residue(metric[0]),)
            metric, numbers = (float(metric[0]),), (_integer(numbers[0]),)
            confidence = (None if confidence[0] is None else float(confidence[0]),)
        self._runs.extend(
            zip(
                ids, repeat(ordinal), runs.offset, runs.size, numbers, runs.status, metric, left_out, runs.commit,
                runs.description, runs.at_ms, confidence, runs.asi, runs.extras, runs.shape,
            )  # fmt: skip
        )  # ids end the zip: the repeats have no end
        names = self._names
        for fresh in set().union(*filter(None, runs.metrics)).difference(names):
            cursor = self._connection.execute("INSERT INTO metric_name (name) VALUES (?)", (fresh,))
            names[fresh] = int(cursor.lastrowid or 0)
        if len(ids) == 1:
            self._metrics += [
                (ids[0], names[name], float(value)) for name, value in (runs.metrics[0] or {}).items() if is_number(value)
            ]
        else:
            self._metrics += [
                (row, names[name], value)
                for row, values in zip(ids, runs.metrics, strict=True)
                if values
                for name, value in values.items()
            ]

    def _take_event(self, event: Header | Marker | Decision | Lifecycle | Other, state: State) -> None:
        if isinstance(event, Header):
            self.segment(state)
            row = ("config", None, None, event.at_ms, None)
        elif isinstance(event, Marker):
            row = ("status", event.state, None, event.at_ms, event.time_unit)
        elif isinstance(event, Decision):
            row = ("decision", event.action, _integer(event.run), event.at_ms, None)
            self._decide(event, state)
        elif isinstance(event, Lifecycle):
            row = (event.kind, None, None, event.at_ms, None)
        else:
            row = (event.kind, event.state, _run_of(event), event.at_ms, event.time_unit)
        ordinal = state.segment.ordinal if state.segment else 0
        line, offset, size = event.place
        self._events.append((self._base + line, ordinal, offset, size, *row, dump(event.detail)))

    def _decide(self, decision: Decision, state: State) -> None:
        """Give the decided run its new status, wherever its segment is."""
        result = state.results.get(decision.run)
        if decision.action == "stop" or result is None:
            return
        self.flush()
        self._connection.execute(
            "UPDATE run SET status = ? WHERE id = ?", (result.status, self._base + result.run.place.line)
        )
        self._touch(result.segment)


def _integer(value: int) -> int | float:
    return value if value in INT64 else float(value)


def _run_of(event: Other) -> int | float | None:
    value = event.detail.get("run")
    return _integer(value) if type(value) is int else None
