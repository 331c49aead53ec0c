"""The one way into a log: under a lock on a side file, one write of whole lines at its end, then fsync (PROTOCOLS 7).

Nothing that stands in a log is ever rewritten. A write that does not fit on the disk is taken back.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import LedgerError
from ledger.source import show_path

PATIENCE = 60.0
"""Seconds to wait for another writer; each holds the lock for milliseconds."""

_PAUSE = 0.004
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe without a reader would be waited for


def lock_of(log: Path) -> Path:
    """Name the side file whose lock guards a log; it stays, since a lock on a removed file guards nothing."""
    return log.with_name(f"{log.stem}.lock")


@contextmanager
def locked(path: Path, patience: float = PATIENCE, busy: str = "") -> Iterator[None]:
    """Hold the lock of a side file, which is made if need be; nothing is ever written to it.

    `patience` is in seconds. Raises LedgerError if another process holds the lock for longer (`busy` says what that
    means), or it cannot be had: a link that somebody put in its place is not followed, not even to make a file.
    """
    import portalocker

    deadline = time.monotonic() + patience
    descriptor = _open_lock(path)
    try:
        while True:
            try:
                portalocker.lock(descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
                break
            except portalocker.LockException:
                if time.monotonic() >= deadline:
                    raise LedgerError(busy or f"{show_path(path)} is locked by another process") from None
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    """Open a lock's file, made if there is none. Raises LedgerError for anything but a regular file of that name.

    What is there is opened without the flag that makes files: in a folder that everybody may write to, Linux refuses
    that flag on a file of another user.
    """
    flags = os.O_WRONLY | os.O_APPEND | _NO_LINK | _NO_WAIT
    while True:
        try:
            try:
                descriptor = os.open(path, flags)
            except FileNotFoundError:
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            if path.is_symlink():
                raise _no_lock(path, None) from None
            continue  # another process made it in between
        except OSError as error:
            irregular = error.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO)
            raise _no_lock(path, None if irregular else error) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _no_lock(path, None)
        return descriptor


def _no_lock(path: Path, error: OSError | None) -> LedgerError:
    """Say why a lock's file is of no use; without an error it is no regular file."""
    if error is None:
        return LedgerError(f"cannot lock {show_path(path)}: it is a link, or no regular file; remove it")
    return LedgerError(f"cannot write {show_path(path)}: {(error.strerror or str(error)).lower()}")


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the lock of a side file; a link, or no regular file, is nobody's lock.

    The look itself is a lock that looks share, so that two of them do not take each other for a holder.
    """
    import portalocker

    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    except OSError:
        return False
    try:
        portalocker.lock(descriptor, portalocker.LockFlags.SHARED | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.LockException:
        return True
    finally:
        os.close(descriptor)
    return False


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


def create(log: Path, data: bytes, mode: int | None = None) -> None:
    """Make a log of these lines, in a folder that exists, and make both durable. Raises LedgerError if it exists.

    It is there whole or not at all: an empty log would be in everybody's way. Its mode is what the umask leaves, or the
    one that is given.
    """
    fresh = log.with_name(f"{log.name}.{os.urandom(6).hex()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise _failed(log, error) from None
    try:
        try:
            if mode is not None:
                fresh.chmod(mode)
            _write(descriptor, log, data, 0)
        finally:
            os.close(descriptor)
        _name(fresh, log)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(log.parent)


def _name(fresh: Path, log: Path) -> None:
    try:
        os.link(fresh, log)
    except FileExistsError as error:
        raise _failed(log, error) from None
    except OSError:  # a file system without links
        if log.exists():
            raise LedgerError(f"cannot write {show_path(log)}: file exists; nothing was written") from None
        fresh.rename(log)


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
