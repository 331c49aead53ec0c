"""Events written to the mirror as rows, many at a time on the driver's own connection."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

from ledger.base.numbers import is_number, residue
from ledger.fold.state import State
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Decision, Event, Header, Lifecycle, Marker, Other, Runs, Unread
from ledger.log.jsontext import INT64, dump
from ledger.log.source import Block
from ledger.mirror import schema
from ledger.mirror.postgres import Server
from ledger.mirror.prefetch import StateKept
from ledger.mirror.raw import Raw, written_for
from ledger.mirror.statistics import SEGMENT_STATS
from ledger.mirror.writer_thread import WriterThread, statement_batches, writer_thread

_TABLES = ("block", "run", "run_metric", "event", "unread", "diagnostic")
_FLUSH_ROWS = 4000
_HEADERS = 4096
"""Headers in one statement, of seven values each."""

_SEGMENT = "(?,?,?,?,?,?,?)"
_REPLACES = (
    " ON CONFLICT (session, segment) DO UPDATE SET line = excluded.line,"
    " name = excluded.name, metric_name = excluded.metric_name, unit = excluded.unit, direction = excluded.direction"
)

_OF_SPAN = "{0}session = ? AND {0}segment BETWEEN ? AND ?"
_FORGET = f"DELETE FROM segment_stat WHERE {_OF_SPAN.format('')}"
_DERIVE = (
    f"INSERT INTO segment_stat ({', '.join(column.name for column in schema.segment_stat.columns)})"
    f" {SEGMENT_STATS.format(scope='WHERE ' + _OF_SPAN.format('g.'))}"
)


_Span = tuple[int, int, int]
"""A session and its segments, the first to the last, whose statistics are to be derived."""


KINDS = {Header: "config", Marker: "status", Decision: "decision"}
"""The kind that events of a class are mirrored under; those of others have one each."""


class RowWriter:
    """Write events and bytes as rows, of a session that was begun, and derive what its segments amount to at the end.

    Another session may be begun when one was ended: the rows of many small ones fill statements together.
    """

    def __init__(self, connection: Raw, thread: WriterThread) -> None:
        self._thread = thread
        self._derivation = written_for(connection, _DERIVE)
        self._server = connection if isinstance(connection, Server) else None
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _TABLES}
        self._taken = 0  # rows since the last flush: those that fill no statement stay, and must not bring the next
        if self._server:
            self._server.keep_names()
        self._names: dict[str, int] = dict(connection.execute("SELECT name, id FROM metric_name"))
        self._next_name = max(self._names.values(), default=0) + 1
        self._headers: dict[tuple[int, int], tuple[Any, ...]] = {}
        self._decided: dict[int, tuple[str, int]] = {}
        self._ended: list[tuple[_Span, bool]] = []  # with whether something was derived of it before

    def begin(self, session_id: int, *, new: bool) -> None:
        """Write a session's rows from here on; of a new one nothing was derived before."""
        self._session = session_id
        self._base = schema.first_id(session_id)
        self._opened: int | None = None
        self._derive_from: int | None = None
        self._underived = 0 if new else None  # the first segment of which nothing was derived yet, where that is known

    def block(self, block: Block) -> None:
        """Store a block's bytes."""
        self._rows["block"].append((self._session, block.offset, len(block.data), block.data))

    def event(self, event: Event, state: State | StateKept) -> None:
        """Take an event that has just been folded into the state."""
        if isinstance(event, Runs):
            self._take_runs(event, state)
        elif isinstance(event, Unread):
            line, offset, size = event.place
            self._rows["unread"].append((self._base + line, offset, size, event.kind))
        else:
            self._take_event(event, state)
        self._taken += len(event.run) if isinstance(event, Runs) else 1
        if self._taken >= _FLUSH_ROWS:
            self.flush(state)

    def finding(self, found: Diagnostic) -> None:
        """Take a finding."""
        values = (found.line, found.column, found.code, found.name, found.severity.value, found.message, found.source)
        self._rows["diagnostic"].append((self._session, *values, None, None))

    def segment(self, state: State | StateKept) -> None:
        """Store the current segment's header, which replaces that of a segment without runs."""
        current = state.current()
        values = (current.name, current.metric_name, current.unit, current.direction)
        key = self._session, current.ordinal
        self._headers[key] = (*key, current.line, *values)
        self._opened = current.ordinal
        self._touch(current.ordinal)

    def flush(self, state: State | StateKept) -> None:
        """Hand rows to the thread, and derive the segments whose runs are all stored."""
        self._taken = 0
        self._store_headers()
        for table, rows in self._rows.items():
            self._rows[table] = self._thread.insert(table, rows)
        waiting = self._rows["run"][0][1] if self._rows["run"] else (state.segment or state.current()).ordinal
        if not self._ended and self._derive_from is not None and self._derive_from < waiting:
            self._derive(*self._span(waiting - 1))
            self._derive_from = waiting
            self._underived = None if self._underived is None else max(self._underived, waiting)

    def end(self, state: State | StateKept) -> None:
        """Note what the session's rows touched, which is derived when all are stored."""
        for row, (_, segment) in self._decided.items():
            if row >= self._base:
                self._touch(segment)
        if self._derive_from is not None:
            self._ended.append(self._span((state.segment or state.current()).ordinal))

    def finish(self) -> None:
        """Store what is left, and derive what the ended sessions' rows touched."""
        self._store_headers()
        for table, waiting in self._rows.items():
            self._thread.finish(table, self._thread.insert(table, waiting))
        for row, (status, _) in self._decided.items():
            self._thread.execute("UPDATE run SET status = ? WHERE id = ?", (status, row))
        for span, stale in self._ended:
            self._derive(span, stale)

    def _learn(self, fresh: Iterable[str]) -> None:
        """Give names that the mirror does not have yet their ids, in the order they came."""
        if self._server:
            self._names.update(self._server.learn(list(fresh)))
            return
        for name in fresh:
            self._names[name] = self._next_name
            self._thread.execute("INSERT INTO metric_name VALUES (?, ?)", (self._next_name, name))
            self._next_name += 1

    def _store_headers(self) -> None:
        """Store the segments that were opened since the last time."""
        for part in statement_batches([*self._headers.values()], _HEADERS):
            marks = ",".join([_SEGMENT] * len(part))
            self._thread.execute(f"INSERT INTO segment VALUES {marks}{_REPLACES}", tuple(chain.from_iterable(part)))
        self._headers.clear()

    def _span(self, last: int) -> tuple[_Span, bool]:
        """Give the segments of the session that are to be derived, and tell whether some were before."""
        first = self._derive_from or 0
        return (self._session, first, last), self._underived is None or first < self._underived

    def _derive(self, span: _Span, stale: bool) -> None:
        if stale:
            self._thread.execute(_FORGET, span)
        self._thread.execute(self._derivation, span)

    def _touch(self, segment: int) -> None:
        self._derive_from = segment if self._derive_from is None else min(self._derive_from, segment)

    def _take_runs(self, runs: Runs, state: State | StateKept) -> None:
        ordinal = (state.segment or state.current()).ordinal  # a stale one is as good here, and need not be folded
        if self._opened != ordinal:
            self.segment(state)  # it has no header, or an earlier sync opened it
        ids: Sequence[int] = [self._base + line for line in runs.line]
        metric, confidence, numbers = runs.metric, runs.confidence, runs.run
        left_out: Iterable[float | None] = repeat(None)
        if len(ids) == 1:
            left_out = (residue(metric[0]),)
            metric, numbers = (float(metric[0]),), (int_or_double(numbers[0]),)
            confidence = (None if confidence[0] is None else float(confidence[0]),)
        self._rows["run"] += zip(  # ids end it: the repeats have no end
            ids, repeat(ordinal), runs.offset, runs.size, numbers, runs.status, metric, left_out, runs.commit,
            runs.description, runs.at_ms, confidence, runs.asi, runs.extras, runs.shape,
        )  # fmt: skip
        names = self._names
        if not names.keys() >= set().union(*filter(None, runs.metrics)):
            self._learn(dict.fromkeys(name for values in runs.metrics for name in values or () if name not in names))
        if len(ids) == 1:
            self._rows["run_metric"] += [
                (ids[0], names[name], float(value))
                for name, value in (runs.metrics[0] or {}).items()
                if is_number(value)
            ]
        else:
            self._rows["run_metric"] += [
                (row, names[name], value)
                for row, values in zip(ids, runs.metrics, strict=True)
                if values
                for name, value in values.items()
            ]

    def _take_event(self, event: Header | Marker | Decision | Lifecycle | Other, state: State | StateKept) -> None:
        row: tuple[str, str | None, Any, int | None, str | None]
        if isinstance(event, Header):
            self.segment(state)
            row = (KINDS[Header], None, None, event.at_ms, None)
        elif isinstance(event, Marker):
            row = (KINDS[Marker], event.state, None, event.at_ms, event.time_unit)
        elif isinstance(event, Decision):
            row = (KINDS[Decision], event.action, int_or_double(event.run), event.at_ms, None)
            self._decide(event, state)
        elif isinstance(event, Lifecycle):
            row = (event.kind, None, None, event.at_ms, None)
        else:
            number: Any = event.detail.get("run")
            number = int_or_double(number) if type(number) is int else None
            row = (event.kind, event.state, number, event.at_ms, event.time_unit)
        ordinal = state.segment.ordinal if state.segment else 0
        line, offset, size = event.place
        self._rows["event"].append((self._base + line, ordinal, offset, size, *row, dump(event.detail)))

    def _decide(self, decision: Decision, state: State | StateKept) -> None:
        """Give the decided run its new status, wherever its segment is."""
        result = state.results.get(decision.run)
        if decision.action == "stop" or result is None:
            return
        self._decided[self._base + result.run.place.line] = result.status, result.segment


def int_or_double(value: int) -> Any:
    """Give an integer as SQLite can take it: past 64 bits the nearest double."""
    return value if value in INT64 else float(value)


@contextmanager
def writing(connection: Raw) -> Iterator[RowWriter]:
    """Open a writer of sessions' rows; what it finished is stored when the context ends without an error."""
    with writer_thread(connection) as thread:
        yield RowWriter(connection, thread)
