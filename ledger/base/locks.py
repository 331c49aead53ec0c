"""Locks on side files: one writer at a time, whichever process it is in."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.paths import cannot_write, show_path

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
    return cannot_write(path, error)


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
