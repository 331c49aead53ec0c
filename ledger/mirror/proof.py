"""Prove that the mirror lost nothing: its bytes by their hash, its rows by deriving them again, each record rebuilt."""

import hashlib
from collections.abc import Iterator
from heapq import merge
from itertools import groupby
from typing import Any, NamedTuple

from ledger.dialects import by_name
from ledger.dialects.base import Dialect
from ledger.log.events import Decision, Event, Header, Lifecycle, Marker, Other, Place, Run, Shape
from ledger.log.jsontext import decode, decode_many, load
from ledger.log.source import LogFile, open_log, read_small, run_json_of
from ledger.mirror import rederived, schema, store
from ledger.mirror.raw import Raw, written_for
from ledger.mirror.row_writer import KINDS
from ledger.mirror.store import StoredSession
from ledger.mirror.sync_one import first_difference

_LINE = 2**schema.LINE_BITS - 1


class Proof(NamedTuple):
    """Say whether a session's bytes and values are the log's.

    `difference` is the first line that differs, 0 where run.json does.

    `gone` tells that there is no file to compare with: the bytes are then compared with the hash of the last sync.
    """

    path: str
    bytes_ok: bool
    values_ok: bool
    sha256_source: str | None
    sha256_export: str
    lines: int
    pending_bytes: int
    difference: int | None
    gone: bool

    @property
    def ok(self) -> bool:
        """Whether both hold."""
        return self.bytes_ok and self.values_ok


def verify(raw: Raw, session: StoredSession) -> Proof:
    """Compare a session with its log, and its rows with what its bytes amount to. Raises LedgerError without the log.

    The rows are derived a second time; if they are the same, each record is rebuilt from them. Whatever was done to a
    mirror is a difference here, never a failure.
    """
    digest, size, laid_out = _stored(raw, session)
    source, pending, difference = None, 0, None
    gone = session.away
    if not gone:
        with open_log(session.file) as file:
            source = file.skip(size).hex()
            pending = max(file.size - size, 0)
    with rederived.derived(raw, session, size) as (apart, again):
        bytes_ok = laid_out and source in (None, digest) and _extent(again) == _extent(session)
        wrong = rederived.first_difference(raw, session, apart, again)
    if wrong is None:
        wrong = _first_wrong_value(raw, session, size)
    if not gone and not bytes_ok:
        difference = first_difference(store.stored(raw, session.id), session.file)
    elif not gone and session.run_json is not None and session.run_json != read_small(run_json_of(session.file)):
        bytes_ok, difference = False, 0
    return Proof(
        session.path, bytes_ok, wrong is None, source, digest, again.lines + bool(again.tail_size), pending,
        difference if difference is not None else wrong or None, gone,
    )  # fmt: skip


def _stored(raw: Raw, session: StoredSession) -> tuple[str, int, bool]:
    """Hash a session's bytes, count them, and tell whether each block stands where its row says."""
    digest, size, laid_out = hashlib.sha256(), 0, True
    sql = "SELECT start, length, [[bytes data]] FROM block WHERE session = ? ORDER BY start"
    for start, length, data in raw.cursor().execute(written_for(raw, sql), (session.id,)):
        laid_out = laid_out and (start, length) == (size, len(data))
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size, laid_out


def _extent(session: StoredSession) -> tuple[int, int, str]:
    return session.size, session.tail_size, session.sha256


def _first_wrong_value(raw: Raw, session: StoredSession, size: int) -> int | None:
    """Find the first line whose record, rebuilt from the typed columns alone, is not what the stored line says."""
    if session.dialect is None:
        return None
    dialect = by_name(session.dialect)
    rebuilt = rebuild(raw, session, dialect)
    expected = next(rebuilt, None)
    with LogFile(None, store.spool(raw, session), size) as file:
        for block in file.blocks():
            values = decode_many(block.lines)
            for line, (value, data) in enumerate(zip(values, block.lines, strict=True), block.first_line):
                if expected is not None and expected[0] == line:
                    if (decode(data).value if value is None else value) != expected[1]:
                        return line
                    expected = next(rebuilt, None)
                elif not raw.execute(
                    "SELECT 1 FROM unread WHERE id = ?", (schema.first_id(session.id, line),)
                ).fetchone():
                    return line
    return expected[0] if expected is not None else None


def rebuild(raw: Raw, session: StoredSession, dialect: Dialect) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, record) for every readable line, made from the typed columns alone."""
    first, end = schema.first_id(session.id), schema.first_id(session.id + 1)
    metrics = groupby(
        raw.cursor().execute(
            "SELECT v.run_id, n.name, v.value FROM run_metric AS v JOIN metric_name AS n ON n.id = v.name_id"
            " WHERE v.run_id >= ? AND v.run_id < ? ORDER BY v.run_id",
            (first, end),
        ),
        key=lambda row: row[0],
    )

    def runs() -> Iterator[tuple[Any, Event | Run]]:
        values = next(metrics, None)
        for row in raw.cursor().execute("SELECT * FROM run WHERE id >= ? AND id < ? ORDER BY id", (first, end)):
            mine: dict[str, float] = {}
            if values is not None and values[0] == row[0]:
                mine = {name: value for _, name, value in values[1]}
                values = next(metrics, None)
            yield row, _run(row, mine)

    rows = raw.cursor().execute("SELECT * FROM event WHERE id >= ? AND id < ? ORDER BY id", (first, end))
    events = ((row, _event(row, dialect)) for row in rows)
    for (row_id, segment, *_), event in merge(events, runs(), key=lambda one: one[0][0]):
        yield row_id & _LINE, dialect.record(event, segment)


def _run(row: tuple[Any, ...], metrics: dict[str, float]) -> Run:
    row_id, segment, start, length, run, status, metric, _, commit, description, at_ms, *more = row
    confidence, asi, extras, shape = more
    return Run(
        Place(row_id & _LINE, start, length), run, status, metric, commit, description, at_ms, None,
        segment if shape & Shape.SEGMENT else None, confidence, metrics, asi, extras, shape,
    )  # fmt: skip


def _event(row: tuple[Any, ...], dialect: Dialect) -> Event:
    row_id, _, start, length, kind, state, run, at_ms, time_unit, text = row
    place, detail = Place(row_id & _LINE, start, length), load(text)
    made = next((one for one, its_kind in KINDS.items() if its_kind == kind and one in dialect.events), None)
    if made is Header:
        return Header(place, None, "", "", "", at_ms, detail, {})
    if made is Marker:
        return Marker(place, state, None, at_ms, time_unit, detail)
    if made is Decision:
        return Decision(place, run, state, at_ms, detail)
    if Lifecycle in dialect.events:
        return Lifecycle(place, kind, at_ms, detail)
    return Other(place, kind, state, at_ms, time_unit, detail)
