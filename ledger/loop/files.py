"""Small files of the program's own: written whole beside their place and moved there, so that none is ever half."""

import contextlib
import os
from pathlib import Path
from typing import Any

from ledger.errors import LedgerError
from ledger.jsontext import decode, dump
from ledger.source import read_small, show_path


def put(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace a file's content in one step; a `durable` one survives a crash of the machine. Raises LedgerError."""
    import tempfile  # what only reads needs none of it

    temporary = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise LedgerError(f"cannot write {show_path(path)}: {(error.strerror or str(error)).lower()}") from None


def put_object(path: Path, value: Any, *, durable: bool = False) -> None:
    """Replace a file's content by a JSON object."""
    put(path, dump(value).encode() + b"\n", durable=durable)


def get_object(path: Path) -> dict[str, Any] | None:
    """Read a file that holds a JSON object; None if there is none, or it holds anything else."""
    data = read_small(path)
    value = decode(data.strip()).value if data and data.strip() else None
    return value if isinstance(value, dict) else None
