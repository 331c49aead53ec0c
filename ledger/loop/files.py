"""Small files of the program's own: written whole beside their place and moved there, so that none is ever half."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from ledger.appending import sync_folder
from ledger.errors import LedgerError
from ledger.jsontext import decode, dump
from ledger.source import read_small, show_path


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


def put_object(path: Path, value: Any, *, durable: bool = False) -> None:
    """Replace a file's content by a JSON object."""
    try:
        data = dump(value).encode()
    except UnicodeEncodeError:  # a file's name may be any bytes
        data = json.dumps(value).encode()
    put(path, data + b"\n", durable=durable)


def get_object(path: Path) -> dict[str, Any] | None:
    """Read a file that holds a JSON object; None if there is none, or it holds anything else."""
    data = read_small(path)
    try:
        value = json.loads(data) if data and b"\\ud" in data else decode(data.strip()).value if data else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
