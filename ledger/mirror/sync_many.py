"""Many logs synced in order: while some are stored, the next are read."""

import sqlite3
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from ledger.base.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.ingest import Ingestion, SyncOutcome
from ledger.mirror.prefetch import MOST_FOUND, Prefetched, prefetch
from ledger.mirror.raw import Raw, driver
from ledger.mirror.row_writer import writing
from ledger.mirror.store import StoredSession
from ledger.mirror.sync_one import sync_log
from ledger.mirror.writer_thread import quick_switching

_AHEAD = 1
"""Groups of logs that may be read before they are stored: enough to keep both threads busy, few to bound memory."""

_TOGETHER, _MOST_LOGS = 4 * 1024 * 1024, 32
"""Bytes of small logs in one transaction, and how many logs: each is an open file until then."""

_Group = list[tuple[Path, Prefetched | None]]
_Outcomes = list[tuple[Path, SyncOutcome | LedgerError]]


def sync_logs(
    connection: Connection, paths: Sequence[Path], *, dialect: str | None = None, quarantine: bool = False,
    replace: bool = False, lost: Sequence[StoredSession] = (),
) -> Generator[tuple[Path, SyncOutcome | LedgerError]]:  # fmt: skip
    """Sync logs and yield what came of them, in order; the connection is busy meanwhile.

    Each has a transaction of its own, but for small new ones without errors: in a file some of those share one.
    """
    sync = partial(sync_log, connection, dialect=dialect, quarantine=quarantine, replace=replace, lost=lost)
    if len(paths) == 1:
        yield paths[0], _outcome(sync, paths[0])
        return
    groups: Iterable[_Group] = ([(path, None)] for path in paths)
    if not lost:
        most = _TOGETHER if connection.dialect.name == "sqlite" else 0
        groups = _groups(paths, store.paths(driver(connection)), dialect, most)
    waiting: deque[Future[_Outcomes]] = deque()
    with quick_switching(), ThreadPoolExecutor(1) as thread:
        try:
            for group in groups:
                waiting.append(thread.submit(_stored, connection, sync, group))
                if len(waiting) > _AHEAD:
                    yield from waiting.popleft().result()
            for future in waiting:
                yield from future.result()
        finally:
            thread.shutdown(wait=True, cancel_futures=True)


def _groups(paths: Sequence[Path], known: set[str], dialect: str | None, most: int) -> Iterator[_Group]:
    """Read logs that are not `known`, and part all into those stored together, of `most` bytes, and others alone."""
    group: _Group = []
    size = found = 0
    for path in paths:
        text = store.path_text(path)
        prefetched = None if text in known else prefetch(path, dialect)
        sound = prefetched if prefetched and prefetched.sound else None
        more, told = (sound.file.size, len(sound.reader.diagnostics)) if sound else (0, 0)
        full = size + more > most or found + told > MOST_FOUND or len(group) == _MOST_LOGS
        if group and (full or not sound):
            yield group
            group, size, found = [], 0, 0
        if not sound:
            yield [(path, prefetched)]
            continue
        size, found = size + more, found + told
        known.add(text)
        group.append((path, prefetched))
    if group:
        yield group


def _stored(connection: Connection, sync: "partial[SyncOutcome]", group: _Group) -> _Outcomes:
    """Store a group's logs together if that can be, else one by one."""
    if len(group) > 1:
        logs = [(path, prefetched) for path, prefetched in group if prefetched is not None]
        if (outcomes := _together(connection, logs)) is not None:
            return [(path, outcome) for (path, _), outcome in zip(logs, outcomes, strict=True)]
        group = [(path, None) for path, _ in group]
    return [(path, _outcome(partial(sync, prefetched=prefetched), path)) for path, prefetched in group]


def _together(connection: Connection, logs: Sequence[tuple[Path, Prefetched]]) -> list[SyncOutcome] | None:
    """Mirror new logs in one transaction, so that their rows fill statements; each waits for the reading thread.

    None, and nothing done, if one of them must have its own, or fails.
    """
    raw = driver(connection)
    with ExitStack() as files:
        for _, prefetched in logs:
            files.enter_context(prefetched.file)
        try:
            with connection.begin() as transaction:
                if (taken := _taken(raw, logs)) is not None:
                    outcomes = [one.settle("new") for one in taken]
                    if all(outcome.status == "new" for outcome in outcomes):
                        return outcomes
                transaction.rollback()
        except LedgerError:
            pass  # its own transaction will say so
    return None


def _taken(raw: Raw, logs: Sequence[tuple[Path, Prefetched]]) -> list[Ingestion] | None:
    """Write the rows of new logs; None if one of them is refused, or is not new."""
    sessions = store.add_all(raw, [path for path, _ in logs]) if isinstance(raw, sqlite3.Connection) else None
    if sessions is None:
        return None
    taken = []
    with writing(raw) as writer:
        for session, (_, prefetched) in zip(sessions, logs, strict=True):
            one = Ingestion(raw, prefetched.file, prefetched.reader, session, quarantine=False, prefetched=prefetched)
            one.take(writer, prefetched.undecided, new=True)
            if one.failed:
                return None
            taken.append(one)
        writer.finish()
    return taken


def _outcome(sync: "partial[SyncOutcome]", path: Path) -> SyncOutcome | LedgerError:
    try:
        return sync(path)
    except LedgerError as error:
        return error
