"""A log's content replaced in one step, under the writers' lock, with nothing lost whenever it is interrupted."""

import contextlib
import os
import stat
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.files import replacing, sync_folder
from ledger.base.paths import cannot_write, show_path
from ledger.log.source import check_kind, open_log


def check_replaceable(log: Path) -> None:
    """Raise LedgerError for a log that cannot be replaced without taking something from somebody."""
    check_kind(log)
    status, name = log.stat(), show_path(log)
    if not status.st_mode & stat.S_IWUSR or not os.access(log, os.W_OK):
        raise LedgerError(f"{name} is read-only; allow writing to it first, or repair to another file with -o")
    if status.st_nlink > 1:
        raise LedgerError(
            f"{name} has {status.st_nlink} names (hard links), and a repair would part them; remove the others first,"
            " or repair to another file with -o"
        )
    if hasattr(os, "geteuid") and os.geteuid() not in (0, status.st_uid):
        raise LedgerError(
            f"{name} belongs to another user, whose file it would not be any more; let them repair it, or repair to"
            " another file with -o"
        )


def keep_copy(log: Path, data: bytes, copy: Path) -> None:
    """Keep a log's content as another file beside it, durably; one that is there with this content will do.

    Raises LedgerError if something else is there, or it cannot be written.
    """
    if copy.is_symlink() or copy.exists():
        if copy.is_symlink() or content(copy) != data:
            raise LedgerError(f"{show_path(copy)} is in the way: it is no copy of the log; move it elsewhere")
        return
    _write(log, data, copy)


def put(log: Path, before: bytes, after: bytes) -> None:
    """Replace a log's content, durably, if it still is what was read. Raises LedgerError.

    Its mode stays, and so do owner and group as far as the system lets this user give files away.

    The caller holds the lock of the log; a writer that does not know of it is noticed up to the last moment.
    """
    _write(log, after, log, before)


def content(path: Path) -> bytes:
    """Read a file whole. Raises LedgerError if it cannot be read."""
    with open_log(path) as file:
        return b"".join(block.data for block in file.blocks())


def _write(log: Path, data: bytes, place: Path, before: bytes | None = None) -> None:
    # One name, so that what a kill leaves behind is found and taken away by the next repair.
    temporary = log.with_name(f".{log.name[:200]}.repair")
    try:
        temporary.unlink(missing_ok=True)
        status = log.stat()
        with replacing(place, stat.S_IMODE(status.st_mode), temporary) as file:
            file.write(data)
            file.flush()
            for owner in (-1, status.st_uid) if hasattr(os, "fchown") else ():
                with contextlib.suppress(OSError):  # a group may be one's own where only root could give the file away
                    os.fchown(file.fileno(), owner, status.st_gid)
            temporary.chmod(stat.S_IMODE(status.st_mode))
            os.fsync(file.fileno())
            if before is not None and content(log) != before:
                raise LedgerError(
                    f"{show_path(log)} was written to meanwhile; nothing was changed, run the command again"
                )
    except OSError as error:
        raise cannot_write(place, error, "; the log is as it was") from None
    sync_folder(log.parent)
