"""Side files that hold one JSON object, replaced as a whole."""

import json
from pathlib import Path
from typing import Any

from ledger.base.files import put
from ledger.log.jsontext import decode, dump
from ledger.log.source import read_small


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
