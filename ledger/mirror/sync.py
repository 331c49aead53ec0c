"""Bring a log into the mirror: strict, one transaction a log, reading only what was appended."""

import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from ledger.diagnostics import Diagnostic, Severity
from ledger.dialects import by_name
from ledger.events import Unread
from ledger.jsontext import decode
from ledger.log import open_reader
from ledger.mirror import foldtext, store
from ledger.mirror.derive import derive, drop_derived
from ledger.mirror.rows import RowWriter
from ledger.mirror.store import Session
from ledger.reader import TORN, Reader
from ledger.source import LogFile, open_log, read_small, run_json_of

TORN_TAIL = "L115"
_REPLAY_ENDS = ("E354", "E355")


class Outcome(NamedTuple):
    """Say what a sync did with one log.

    `status` is new, grown, unchanged, replaced, moved, gone or refused; `reason` says why it was refused, or what waits.
    `runs` counts the session's runs, `pending` the bytes of a torn tail that is held back.
    """

    path: Path
    status: str
    lines: int = 0
    runs: int = 0
    pending: int = 0
    quarantined: bool = False
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the log was left as the mirror had it."""
        return self.status == "refused"


def sync_log(
    connection: Connection, path: Path, *, dialect: str | None = None, quarantine: bool = False, replace: bool = False
) -> Outcome:
    """Mirror one log in one transaction. Raises LedgerError if it cannot be read, or is rewritten meanwhile."""
    raw = store.driver(connection)
    with open_log(path) as file:
        run_json = read_small(run_json_of(path)) if run_json_of(path).exists() else None
        known = store.find(raw, path)
        if known is not None and (quick := _unchanged(raw, known, file, run_json)) is not None:
            file.check_unchanged()
            return quick
    with open_log(path) as file, connection.begin() as transaction:
        outcome = _sync(raw, path, file, _Options(dialect, quarantine, replace))
        file.check_unchanged()
        if outcome.status in ("refused", "waiting"):
            transaction.rollback()
        return outcome


class _Options(NamedTuple):
    dialect: str | None
    quarantine: bool
    replace: bool


def _unchanged(raw: sqlite3.Connection, known: Session, file: LogFile, run_json: bytes | None) -> Outcome | None:
    """Recognise a log that holds exactly what is mirrored and waits."""
    if file.size != known.size + known.tail_size + known.pending_bytes or known.gone or _differs(known, run_json):
        return None
    if file.skip(known.size).hex() != known.sha256:
        return None
    if known.tail_size:
        tail = b"".join(block.data for block in file.blocks(known.size))
        stored = raw.execute("SELECT data FROM block WHERE session = ? AND start = ?", (known.id, known.size)).fetchone()
        if stored is None or stored[0] != tail:
            return None
    elif known.pending_bytes:
        for _ in file.blocks(known.size):
            pass
    lines = known.lines + bool(known.tail_size)
    return Outcome(Path(known.path), "unchanged", lines, _runs(raw, known.id), known.pending_bytes, known.quarantined)


def _differs(known: Session, run_json: bytes | None) -> bool:
    return known.dialect == "codex" and known.run_json != run_json


def _runs(raw: sqlite3.Connection, session_id: int) -> int:
    counted = raw.execute("SELECT coalesce(sum(runs), 0) FROM segment_stat WHERE session = ?", (session_id,)).fetchone()
    return int(counted[0])


def _sync(raw: sqlite3.Connection, path: Path, file: LogFile, options: _Options) -> Outcome:
    run_json = read_small(run_json_of(path)) if run_json_of(path).exists() else None
    known = store.find(raw, path) or _moved(raw, path, file)
    if known is None:
        return _load(raw, path, file, run_json, None, options, "new")
    if options.replace:
        return _load(raw, path, file, run_json, known, options, "replaced")
    if file.size < known.size or file.skip(known.size).hex() != known.sha256:
        return Outcome(path, "refused", reason=_first_difference(raw, known, path))
    if _differs(known, run_json) and known.run_json is not None:
        reason = "its run.json was changed since it was mirrored; use --replace to take it"
        return Outcome(path, "refused", reason=reason)
    # A provisional tail, a protocol that was unknown or a run.json that was missing: all of it may read otherwise now.
    if known.tail_size or known.dialect is None or _differs(known, run_json) or options.dialect not in (None, known.dialect):
        with open_log(path) as again:
            outcome = _load(raw, path, again, run_json, known, options, "grown")
    else:
        outcome = _grow(raw, path, file, known, options)
    moved = known.path != store.path_text(path)
    return outcome._replace(status="moved") if moved and outcome.status == "unchanged" else outcome


def _moved(raw: sqlite3.Connection, path: Path, file: LogFile) -> Session | None:
    """Find the session that this file was before it was moved: old path gone, whole mirrored prefix the same."""
    for candidate in store.every(raw):
        if candidate.size and candidate.size <= file.size and not Path(candidate.path).exists():
            with open_log(path) as again:
                if again.skip(candidate.size).hex() == candidate.sha256:
                    return candidate
    return None


def _first_difference(raw: sqlite3.Connection, known: Session, path: Path) -> str:
    line = first_difference(store.stored(raw, known.id), path)
    return f"its mirrored lines were rewritten: line {line} differs; use --replace to take the new content"


def first_difference(stored: Iterable[bytes], path: Path) -> int | None:
    """Find the first line in which a file differs from stored bytes that should be its beginning; None if none does."""
    line = 1
    with open_log(path) as file:
        there = (part for block in file.blocks() for part in _lines(block.data))
        for mine in (part for data in stored for part in _lines(data)):
            theirs = next(there, b"")
            unfinished = not mine.endswith(b"\n")
            if mine != theirs and not (unfinished and theirs.startswith(mine)):
                return line
            line += 1
    return None


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _load(
    raw: sqlite3.Connection, path: Path, file: LogFile, run_json: bytes | None, known: Session | None, options: _Options,
    status: str,
) -> Outcome:  # fmt: skip
    """Mirror a whole log, in place of what the mirror had of it."""
    reader, undecided = open_reader(file, options.dialect)
    session_id = store.add(raw, path) if known is None else known.id
    if known is not None:
        drop_derived(raw, session_id)
        raw.execute("DELETE FROM block WHERE session = ?", (session_id,))
    key = raw.execute("SELECT key FROM session WHERE id = ?", (session_id,)).fetchone()[0]
    blank = Session(session_id, key, store.path_text(path), None, 0, "", 0, 0, 0, "none", "", None, False, False, 0)
    session = blank._replace(run_json=run_json if reader.dialect and reader.dialect.name == "codex" else None)
    return _Run(raw, file, reader, session, options, status).go(undecided)


def _grow(raw: sqlite3.Connection, path: Path, file: LogFile, known: Session, options: _Options) -> Outcome:
    """Mirror what was appended to a log, after its mirrored prefix was found unchanged."""
    state = foldtext.load(known.fold, _config(known))
    reader = Reader(by_name(str(known.dialect)), state)
    marks = ",".join("?" * len(_REPLAY_ENDS))
    raw.execute(f"DELETE FROM diagnostic WHERE session = ? AND code IN ({marks})", (known.id, *_REPLAY_ENDS))
    return _Run(raw, file, reader, known._replace(path=store.path_text(path)), options, "grown").go(None)


def _config(known: Session) -> dict[str, Any] | None:
    """Read the run.json that was mirrored with a codex log, if it is sound."""
    if known.run_json is None:
        return None
    judge = Reader(by_name("codex"))
    value = decode(known.run_json.replace(b"\n", b" ")).value
    if isinstance(value, dict):
        judge.configure(value, known.run_json)
    config = judge.state.replay.config
    return dict(config) if config is not None else None


def ingest_stored(raw: sqlite3.Connection, known: Session) -> None:
    """Derive a session's rows anew from its stored bytes alone."""
    with LogFile(None, store.spool(raw, known), known.size + known.tail_size) as file:
        reader, undecided = open_reader(file, known.dialect, known.run_json)
        drop_derived(raw, known.id)
        fresh = known._replace(size=0, lines=0, tail_size=0)
        _Run(raw, file, reader, fresh, _Options(None, True, False), "rebuilt", store_blocks=False).go(undecided)
        raw.execute("UPDATE session SET quarantined = ?, synced_ms = ?, pending_bytes = ?, gone = ? WHERE id = ?",
                    (known.quarantined, known.synced_ms, known.pending_bytes, known.gone, known.id))  # fmt: skip


class _Run:
    """Read a file into rows, from where its reading stands to its end."""

    def __init__(
        self, raw: sqlite3.Connection, file: LogFile, reader: Reader, session: Session, options: _Options, status: str,
        *, store_blocks: bool = True,
    ) -> None:  # fmt: skip
        self.raw = raw
        self.file = file
        self.reader = reader
        self.session = session
        self.options = options
        self.status = status
        self.store_blocks = store_blocks
        self.writer = RowWriter(raw, session.id)
        self.found: list[Diagnostic] = []
        self.errors = 0

    def go(self, undecided: tuple[int, list[str], bool] | None) -> Outcome:
        """Take every block; the fold of the terminated lines is kept before an unterminated one is taken."""
        session, reader = self.session, self.reader
        size, lines, tail, pending = session.size, session.lines, 0, 0
        if reader.state.segment is not None and session.size == 0:
            self.writer.segment(reader.state)  # a codex log's segment stands in its run.json
        fold: str | None = None
        digest = self.file.hash.hexdigest()
        if not self.options.quarantine:
            before = self.raw.execute(
                "SELECT count(*) FROM diagnostic WHERE session = ? AND severity = 'error'", (session.id,)
            ).fetchone()
            self.errors = before[0]
        for block in self.file.blocks(size, lines + 1):
            self._drain()
            if block.terminated:
                digest = self.file.hash.hexdigest()
            else:
                fold = foldtext.dump(reader.state)
            taken = [event for event in reader.read(block) if self._take(event)]
            self._drain()
            if block.terminated:
                size, lines = size + len(block.data), lines + len(block.lines)
            elif taken:
                tail = len(block.data)
            else:
                pending = len(block.data)
                continue
            if self.store_blocks and not self._failed:
                self.writer.block(block)
        reader.finish(undecided)
        self._drain()
        if self._failed:
            reason = "it has errors; see ledger check, or use --quarantine to mirror it anyway"
            return Outcome(_path(session), "refused", lines, reason=reason, diagnostics=tuple(self._sorted()))
        if size + tail == 0 and pending:
            return Outcome(_path(session), "waiting", pending=pending, reason="its only line is unfinished")
        self.writer.flush()
        self.writer.diagnostics(self.found)
        if self.writer.first_touched is not None:
            derive(self.raw, session.id, self.writer.first_touched)
        errors = any(d.severity is Severity.ERROR for d in self.found) or session.quarantined
        store.update(
            self.raw,
            session._replace(
                dialect=reader.dialect.name if reader.dialect else None, size=size, sha256=digest, lines=lines,
                tail_size=tail, pending_bytes=pending, state=reader.state.status,
                fold=fold if fold is not None else foldtext.dump(reader.state), quarantined=errors, gone=False,
                synced_ms=time.time_ns() // 1_000_000,
            ),  # fmt: skip
        )
        total = lines + bool(tail)
        return Outcome(
            _path(session), self._status(size + tail), total, _runs(self.raw, session.id), pending, errors,
            diagnostics=tuple(self._sorted()),
        )  # fmt: skip

    def _status(self, size: int) -> str:
        return "unchanged" if self.status == "grown" and size == self.session.size else self.status

    @property
    def _failed(self) -> bool:
        return self.errors > 0 and not self.options.quarantine

    def _take(self, event: object) -> bool:
        """Write an event's rows, and tell whether its line is mirrored: a torn tail is only under quarantine."""
        if isinstance(event, Unread) and event.kind == TORN and not self.options.quarantine:
            return False
        if not self._failed:
            self.writer.event(event, self.reader.state)  # type: ignore[arg-type]
        return True

    def _drain(self) -> None:
        """Take the reader's findings over; the torn tail's is no error here, and no finding of what is mirrored."""
        for diagnostic in self.reader.diagnostics:
            if diagnostic.code == TORN_TAIL and not self.options.quarantine:
                continue
            self.found.append(diagnostic)
            self.errors += diagnostic.is_error
        self.reader.diagnostics.clear()

    def _sorted(self) -> list[Diagnostic]:
        return sorted(self.found, key=lambda d: (d.source is None, d.line, d.column))


def _path(session: Session) -> Path:
    return Path(session.path)
