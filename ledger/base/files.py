"""Files written so that none is ever half: whole lines added durably at the end, or all of the content replaced.

A log is only ever appended to, under its lock (protocols.md 7). A write that does not fit on the disk is taken back.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from ledger.base.errors import LedgerError
from ledger.base.paths import cannot_write, canonical, show_path


def append(log: Path, data: bytes, size: int) -> os.stat_result:
    """Write whole lines at the end of a log that is `size` bytes long, and make them durable; give its status then.

    The caller holds the lock and has read those bytes. Raises LedgerError, the log being as it was, if it has another
    size or the disk does not take all of `data`.
    """
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise cannot_write(log, error, "; nothing was written") from None
    try:
        return append_to(descriptor, log, data, size)
    finally:
        os.close(descriptor)


def append_to(descriptor: int, log: Path, data: bytes, size: int) -> os.stat_result:
    """Do the same to a log that is open for it."""
    if os.fstat(descriptor).st_size != size:
        raise LedgerError(f"{show_path(log)} was written to without its lock; run the command again")
    _write(descriptor, log, data, size)
    return os.fstat(descriptor)


def create(log: Path, data: bytes, mode: int | None = None) -> None:
    """Make a log of these lines, in a folder that exists, and make both durable. Raises LedgerError if it exists.

    It is there whole or not at all: an empty log would be in everybody's way. Its mode is what the umask leaves, or the
    one that is given.
    """
    fresh = log.with_name(f"{log.name}.{os.urandom(6).hex()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise cannot_write(log, error, "; nothing was written") from None
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
        raise cannot_write(log, error, "; nothing was written") from None
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
        raise cannot_write(log, error, "; nothing was written") from None


def put(path: Path, data: bytes, *, durable: bool = False, mode: int | None = None) -> None:
    """Replace a file's content in one step; it keeps its mode, a new one gets `mode`, else what the umask leaves.

    A `durable` one survives a crash of the machine. Raises LedgerError.
    """
    try:
        with replacing(path, mode) as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from None


def write_output(path: Path, write: Callable[[IO[bytes]], object], mode: int | None = None) -> None:
    """Write a file that a person named, so that nobody ever sees half of it.

    A link is followed; a device or a pipe is written to as it is. A file that is there keeps its mode; `mode` is that
    of a new one, what the umask leaves if not given.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file)
        return
    with output_file(path, mode) as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def output_file(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Give the file that is going to replace one that a person named, in its folder, which is made if need be.

    Raises LedgerError if there is no such place.
    """
    path = canonical(path)
    with contextlib.ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(replacing(path, mode))
        except (FileExistsError, NotADirectoryError):
            raise LedgerError(f"cannot write {show_path(path)}: what should be its folder is a file") from None
        except OSError as error:
            raise cannot_write(path, error) from None
        yield file


@contextlib.contextmanager
def replacing(path: Path, mode: int | None = None, fresh: Path | None = None) -> Iterator[BinaryIO]:
    """Give a new file beside another one, whose place it takes at the end; after an exception it is gone.

    A file that is there keeps its mode, a new one gets `mode`, else what the umask leaves. `fresh` names the new file;
    by default nobody can have put a link there.
    """
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else mode
    if fresh is None:  # what a kill leaves begins like the file itself, so it too is the session's own
        name = os.fsencode(path.name)[:200].decode("utf-8", "ignore")
        fresh = path.with_name(f"{name}.{os.urandom(6).hex()}")
    opener = partial(os.open, mode=0o666 if mode is None else mode)
    try:
        with open(fresh, "xb", opener=opener) as file:
            yield file
        if mode is not None:
            fresh.chmod(mode)  # the umask may have taken some of it
        fresh.replace(path)
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
