"""Files written so that none is ever half: whole lines added durably at the end, or all of the content replaced.

A log is only ever appended to, under its lock (protocols.md 7). A write that does not fit on the disk is taken back.
"""

import contextlib
import os
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path


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


def put(path: Path, data: bytes, *, durable: bool = False, mode: int | None = None) -> None:
    """Replace a file's content in one step; it keeps its mode, a new one gets `mode`, else what the umask leaves.

    A `durable` one survives a crash of the machine. Raises LedgerError.
    """
    temporary = None
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else mode
        descriptor, temporary = _beside(path, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)  # the umask may have taken some of it
        temporary.replace(path)
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise LedgerError(f"cannot write {show_path(path)}: {(error.strerror or str(error)).lower()}") from None


def _beside(path: Path, mode: int) -> tuple[int, Path]:
    """Make a file in a file's folder, under a name that nobody can have put a link at; the umask counts.

    tempfile would make it for its owner alone, and then the umask, which only asking for another one tells, is lost.
    What a kill leaves begins like the file itself, so it too is the session's own.
    """
    fresh = path.with_name(f"{path.name[:200]}.{os.urandom(6).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(fresh, flags, mode), fresh
