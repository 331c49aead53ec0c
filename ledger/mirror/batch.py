"""Many logs synced in order: while one is stored, the next is read."""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from ledger.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.ahead import read_ahead
from ledger.mirror.ingest import Outcome
from ledger.mirror.pipe import quick_switching
from ledger.mirror.raw import driver
from ledger.mirror.store import Session
from ledger.mirror.sync import sync_log

_AHEAD = 2
"""Logs that may be read before they are stored: enough to keep both threads busy, few enough to bound memory."""


def sync_logs(
    connection: Connection, paths: Sequence[Path], *, dialect: str | None = None, quarantine: bool = False,
    replace: bool = False, lost: Sequence[Session] = (),
) -> Generator[tuple[Path, Outcome | LedgerError]]:  # fmt: skip
    """Sync logs, a transaction each, and yield what came of them, in order; the connection is busy meanwhile."""
    sync = partial(sync_log, connection, dialect=dialect, quarantine=quarantine, replace=replace, lost=lost)
    if len(paths) == 1:
        yield paths[0], _outcome(sync, paths[0])
        return
    known = store.paths(driver(connection))
    waiting: deque[tuple[Path, Future[Outcome | LedgerError]]] = deque()
    with quick_switching(), ThreadPoolExecutor(1) as thread:
        try:
            for path in paths:
                ahead = None if store.path_text(path) in known or lost else read_ahead(path, dialect)
                waiting.append((path, thread.submit(_outcome, partial(sync, ahead=ahead), path)))
                if len(waiting) > _AHEAD:
                    done, future = waiting.popleft()
                    yield done, future.result()
            for done, future in waiting:
                yield done, future.result()
        finally:
            thread.shutdown(wait=True, cancel_futures=True)


def _outcome(sync: "partial[Outcome]", path: Path) -> Outcome | LedgerError:
    try:
        return sync(path)
    except LedgerError as error:
        return error
