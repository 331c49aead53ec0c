"""Bring a log into the mirror: strict, one transaction a log, reading only what was appended."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, RootTransaction

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.times import now_ms
from ledger.dialects import by_name, names
from ledger.log.jsontext import decode
from ledger.log.rule import rules_on
from ledger.log.source import LogFile, open_log, read_small, run_json_of
from ledger.mirror import foldtext, side_rows, store
from ledger.mirror.ingest import Ingestion, SyncOutcome
from ledger.mirror.prefetch import Prefetched
from ledger.mirror.raw import Raw, driver
from ledger.mirror.store import StoredSession
from ledger.reading.reader import Reader
from ledger.reading.whole_log import open_reader


def sync_log(
    connection: Connection, path: Path, *, dialect: str | None = None, quarantine: bool = False, replace: bool = False,
    lost: Sequence[StoredSession] | None = None, prefetched: Prefetched | None = None,
) -> SyncOutcome:  # fmt: skip
    """Mirror one log in one transaction. Raises LedgerError if it cannot be read, or is rewritten meanwhile.

    `lost` are the sessions whose files are gone, if the caller looked already: one of them may be this log, moved.
    `prefetched` is what was read of a log that the mirror did not have; it is closed here.
    """
    raw = driver(connection)
    options = _Options(dialect, quarantine, replace)
    with prefetched.file if prefetched else open_log(path) as file:
        known = None if prefetched else store.find(raw, path)
        if known is not None and not (known.gone or replace) and _holds(raw, known, path, file, dialect):
            file.check_unchanged()
            if not side_rows.changed(raw, known.id, path):
                return _as_it_was(raw, known, path, "unchanged")
        if known is None:
            with connection.begin() as transaction:
                store.lock(raw, path)
                if store.find(raw, path) is None:  # nor has another process mirrored it meanwhile
                    return _settle(transaction, _sync(raw, path, file, options, None, lost, prefetched))
    with open_log(path) as file, connection.begin() as transaction:
        store.lock(raw, path)
        return _settle(transaction, _sync(raw, path, file, options, store.find(raw, path), lost))


def _settle(transaction: RootTransaction, outcome: SyncOutcome) -> SyncOutcome:
    """Undo what was done for a log that is not taken."""
    if outcome.status in ("refused", "waiting"):
        transaction.rollback()
    return outcome


def mark_gone(connection: Connection) -> list[StoredSession]:
    """Mark the sessions whose file is missing, and give those that were not marked yet."""
    raw = driver(connection)
    gone = [session for session in store.lost(raw) if not session.gone]
    for session in gone:
        with connection.begin():
            # unless the session has a new path by now
            raw.execute("UPDATE session SET gone = ? WHERE id = ? AND path = ?", (True, session.id, session.path))
    return gone


class _Options(NamedTuple):
    dialect: str | None
    quarantine: bool
    replace: bool


def _holds(raw: Raw, known: StoredSession, path: Path, file: LogFile, dialect: str | None) -> bool:
    """Tell whether a log holds exactly what is mirrored, read as the same protocol. The file is read to its end."""
    if file.size != known.size + known.tail_size or dialect not in (None, known.dialect):
        return False
    if known.pending_bytes or file.skip(known.size).hex() != known.sha256 or _differs(known, path):
        return False
    tail = b"".join(block.data for block in file.blocks(known.size))
    stored = raw.execute("SELECT data FROM block WHERE session = ? AND start = ?", (known.id, known.size)).fetchone()
    return tail == (stored[0] if stored else b"")


def _as_it_was(raw: Raw, known: StoredSession, path: Path, status: str) -> SyncOutcome:
    """Report a session whose rows stay as they are."""
    quarantined = known.quarantined and store.count_errors(raw, known.id)[1] > 0
    lines = known.lines + bool(known.tail_size)
    return SyncOutcome(path, status, lines, store.count_runs(raw, known.id), 0, quarantined)


def _differs(known: StoredSession, path: Path) -> bool:
    """Tell whether the run.json beside a log is not the mirrored one."""
    beside = known.dialect in names() and by_name(known.dialect).run_json is not None
    return beside and known.run_json != read_small(run_json_of(path))


def _sync(
    raw: Raw, path: Path, file: LogFile, options: _Options, known: StoredSession | None,
    lost: Sequence[StoredSession] | None, prefetched: Prefetched | None = None,
) -> SyncOutcome:  # fmt: skip
    if known is None and (clone := _clone(raw, path, file)) is not None:
        known, behind = clone
        if behind:
            return _as_it_was(raw, known, path, "unchanged")
        options = options._replace(replace=False)  # of another clone nothing is replaced
    known = known or _moved(raw, path, file, store.lost(raw) if lost is None else lost)
    known = known and store.claim(raw, known.id)
    if known is None:
        return _load(raw, path, file, None, options, "new", prefetched)
    if options.replace:
        return _load(raw, path, file, known, options, "replaced")
    if _holds(raw, known, path, file, options.dialect):
        moved = known.file != path
        store.update(raw, known._replace(**store.placed(raw, path, known.id), gone=False, synced_ms=now_ms()))
        reviewed = side_rows.take(raw, known.id, path)
        return _as_it_was(raw, known, path, "moved" if moved else "updated" if reviewed else "unchanged")
    with open_log(path) as again:
        return _append(raw, path, again, known, options)


def _append(raw: Raw, path: Path, file: LogFile, known: StoredSession, options: _Options) -> SyncOutcome:
    """Take what was appended to a log, if the part that the mirror has is unchanged."""
    if file.size < known.size or file.skip(known.size).hex() != known.sha256:
        line = first_difference(store.stored(raw, known.id), path)
        reason = f"its mirrored lines were rewritten: line {line} differs; use --replace to take the new content"
        return SyncOutcome(path, "refused", reason=reason)
    differs = _differs(known, path)
    if differs and known.run_json is not None:
        reason = "its run.json was changed since it was mirrored; use --replace to take it"
        return SyncOutcome(path, "refused", reason=reason)
    # A provisional tail, a protocol that was unknown or a run.json that was missing: all of it may read otherwise now.
    if known.tail_size or known.dialect is None or differs or options.dialect not in (None, known.dialect):
        with open_log(path) as whole:
            return _load(raw, path, whole, known, options, "grown")
    return _grow(raw, path, file, known, options)


def _clone(raw: Raw, path: Path, file: LogFile) -> tuple[StoredSession, bool] | None:
    """Find the session that this log is in another clone, and tell whether it is not ahead of what is mirrored.

    A log that went another way in its clone is a session of its own.
    """
    for known in store.clones(raw, path):
        with open_log(path) as again:
            if again.size > known.size + known.tail_size and again.skip(known.size).hex() == known.sha256:
                return known, False
        if file.size <= known.size + known.tail_size and _begins(store.stored(raw, known.id), path):
            return known, True
    return None


def _begins(stored: Iterable[bytes], path: Path) -> bool:
    """Tell whether stored bytes begin with all that a file holds."""
    with open_log(path) as file:
        parts, mine = iter(stored), b""
        for block in file.blocks():
            while len(mine) < len(block.data) and (part := next(parts, b"")):
                mine += part
            if not mine.startswith(block.data):
                return False
            mine = mine[len(block.data) :]
    return True


def _moved(raw: Raw, path: Path, file: LogFile, lost: Sequence[StoredSession]) -> StoredSession | None:
    """Find the session that this file was before it was moved: old path gone, whole mirrored prefix the same.

    The file is hashed once, however many are lost; the session that had most of it wins.
    """
    fitting = sorted((known for known in lost if 0 < known.size <= file.size), key=lambda known: known.size)
    found, read, digest = [], 0, store.NOTHING
    with open_log(path) as again:
        for known in fitting:
            if known.size > read:
                digest, read = again.skip(known.size - read).hex(), known.size
            if known.sha256 == digest:
                found.append(known)
    for candidate in reversed(found):
        current = store.find(raw, Path(candidate.path)) if candidate.missing else None
        if current is not None:  # no other log has become it meanwhile
            return current
    return None


def first_difference(stored: Iterable[bytes], path: Path) -> int | None:
    """Find the first line in which a file differs from stored bytes that should be its beginning; None if none does."""
    line = 1
    with open_log(path) as file:
        there = (part for block in file.blocks() for part in BytesIO(block.data))
        for mine in (part for data in stored for part in BytesIO(data)):
            theirs = next(there, b"")
            unfinished = not mine.endswith(b"\n")
            if mine != theirs and not (unfinished and theirs.startswith(mine)):
                return line
            line += 1
    return None


def _load(
    raw: Raw, path: Path, file: LogFile, known: StoredSession | None, options: _Options, status: str,
    prefetched: Prefetched | None = None,
) -> SyncOutcome:  # fmt: skip
    """Mirror a whole log, in place of what the mirror had of it."""
    reader, undecided = (prefetched.reader, prefetched.undecided) if prefetched else open_reader(file, options.dialect)
    if known is None:
        session = store.add(raw, path)
    else:
        session = store.blank(known.id, known.key, **store.placed(raw, path, known.id))
        store.drop_derived(raw, known.id)
        raw.execute("DELETE FROM block WHERE session = ?", (known.id,))
    session = session._replace(run_json=reader.run_json)
    ingestion = Ingestion(raw, file, reader, session, quarantine=options.quarantine, prefetched=prefetched)
    outcome = ingestion.go(status, undecided)
    beside = reader.dialect is not None and reader.dialect.run_json is not None
    if beside and read_small(run_json_of(path)) != reader.run_json:
        raise LedgerError(f"{show_path(run_json_of(path))} was changed while it was read; run the command again")
    return outcome


def _grow(raw: Raw, path: Path, file: LogFile, known: StoredSession, options: _Options) -> SyncOutcome:
    """Mirror what was appended to a log, after its mirrored prefix was found unchanged."""
    dialect = by_name(known.dialect)
    reader = Reader(dialect, foldtext.load(known.fold, dialect.folding, _config(known)))
    at_end = [(known.id, rule.code) for rule in rules_on("end", dialect.subjects)]
    raw.executemany("DELETE FROM diagnostic WHERE session = ? AND code = ?", at_end)
    session = known._replace(**store.placed(raw, path, known.id))
    errors, _ = store.count_errors(raw, known.id)
    return Ingestion(raw, file, reader, session, quarantine=options.quarantine, errors=errors).go("grown", None)


def _config(known: StoredSession) -> dict[str, Any] | None:
    """Read the run.json that was mirrored with a log, if it is sound."""
    dialect = by_name(known.dialect)
    if known.run_json is None or dialect.run_json is None:
        return None
    judge = Reader(dialect)
    value = decode(known.run_json.replace(b"\n", b" ")).value
    if isinstance(value, dict):
        judge.configure(value, known.run_json)
    config = judge.state.replay.config
    return dict(config) if config is not None else None


def ingest_stored(raw: Raw, known: StoredSession) -> None:
    """Derive a session's rows anew from its stored bytes alone."""
    with LogFile(None, store.spool(raw, known), known.size + known.tail_size) as file:
        reader, undecided = open_reader(file, known.dialect, known.run_json)
        if known.pending_bytes:  # the log goes on, so its end is not judged
            reader.torn, undecided = True, None
        store.drop_derived(raw, known.id)
        fresh = known._replace(size=0, lines=0, tail_size=0)
        Ingestion(raw, file, reader, fresh, quarantine=True, store_blocks=False).go("rebuilt", undecided)
        raw.execute("UPDATE session SET quarantined = ?, synced_ms = ?, pending_bytes = ?, gone = ? WHERE id = ?",
                    (known.quarantined, known.synced_ms, known.pending_bytes, known.gone, known.id))  # fmt: skip
