"""The one way into a log: under a lock on a side file, one write of whole lines at its end, then fsync (PROTOCOLS 7).

Nothing that stands in a log is ever rewritten. A write that does not fit on the disk is taken back.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import LedgerError
from ledger.source import show_path

PATIENCE = 60.0
"""Seconds to wait for another writer; each holds the lock for milliseconds."""

_PAUSE = 0.004


def lock_of(log: Path) -> Path:
    """Name the side file whose lock guards a log; it stays, since a lock on a removed file guards nothing."""
    return log.with_name(f"{log.stem}.lock")


@contextmanager
def locked(path: Path, patience: float = PATIENCE, busy: str = "") -> Iterator[None]:
    """Hold the lock of a side file, which is made if need be.

    `patience` is in seconds. Raises LedgerError if another process holds the lock for longer (`busy` says what that
    means), or it cannot be had.
    """
    import portalocker

    deadline = time.monotonic() + patience
    try:
        file = path.open("ab")
    except OSError as error:
        raise LedgerError(f"cannot write {show_path(path)}: {(error.strerror or str(error)).lower()}") from None
    with file:
        while True:
            try:
                portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
                break
            except portalocker.LockException:
                if time.monotonic() >= deadline:
                    raise LedgerError(busy or f"{show_path(path)} is locked by another process") from None
                time.sleep(_PAUSE)
        yield


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the lock of a side file."""
    if not path.exists():
        return False
    try:
        with locked(path, 0):
            return False
    except LedgerError:
        return True


def append(log: Path, data: bytes, size: int) -> None:
    """Write whole lines at the end of a log that is `size` bytes long, and make them durable.

    The caller holds the lock and has read those bytes. Raises LedgerError, the log being as it was, if it has another
    size or the disk does not take all of `data`.
    """
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise _failed(log, error) from None
    try:
        if os.fstat(descriptor).st_size != size:
            raise LedgerError(f"{show_path(log)} was written to without its lock; run the command again")
        _write(descriptor, log, data, size)
    finally:
        os.close(descriptor)


def create(log: Path, data: bytes) -> None:
    """Make a log of these lines, in a folder that exists, and make both durable. Raises LedgerError if it exists."""
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise _failed(log, error) from None
    try:
        _write(descriptor, log, data, 0)
    except LedgerError:
        log.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    sync_folder(log.parent)


def sync_folder(folder: Path) -> None:
    """Make a folder's entries durable, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(descriptor: int, log: Path, data: bytes, size: int) -> None:
    try:
        done = os.write(descriptor, data)
        while done < len(data):  # a disk that is filling up takes a part, and says why not the rest when asked again
            done += os.write(descriptor, data[done:])
        os.fsync(descriptor)
    except OSError as error:
        os.ftruncate(descriptor, size)
        raise _failed(log, error) from None


def _failed(log: Path, error: OSError) -> LedgerError:
    return LedgerError(f"cannot write {show_path(log)}: {(error.strerror or str(error)).lower()}; nothing was written")
