"""Rows to a server by COPY, written many at a time: that takes a fraction of writing them value by value."""

import re
from collections.abc import Callable, Sequence
from itertools import repeat
from struct import Struct
from typing import Any

import orjson

from ledger.mirror import schema
from ledger.mirror.postgres_types import lowered

_SIGNATURE, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_METRIC = Struct("!hiqiiid").pack
"""A row of run_metric in binary: the number of its fields, and each with its length in bytes."""


def written(table: str, rows: list[tuple[Any, ...]]) -> tuple[str, bytes]:
    """Write rows that fill a table's columns in order; give the statement that takes them, and their bytes."""
    columns = schema.metadata.tables[table].columns.keys()
    if table == "diagnostic":  # the last column is the row's number, which the server gives
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    names = ", ".join(f'"{name}"' for name in columns)
    data, form = (_BINARY[table](rows), "FORMAT binary") if table in _BINARY else _plain(rows)
    return f"COPY {table} ({names}) FROM STDIN ({form})", data


_NO_QUOTE = re.compile(rb'\\[^"]')


def _plain(rows: Sequence[tuple[Any, ...]]) -> tuple[bytes, str]:
    """Write rows as JSON, which is CSV too, but for control characters and for the sign that zero has not in SQLite."""
    data = b"\n".join([line[1:-1] for line in map(orjson.dumps, rows)])
    if b"-0.0" in data or (_NO_QUOTE.search(data) and b"\\" in data.replace(rb"\\", b"").replace(rb"\"", b"")):
        return "\n".join("\t".join(map(_word, row)) for row in rows).encode(), "FORMAT text"
    return data, r"FORMAT csv, NULL 'null', ESCAPE '\'"


def _word(value: Any) -> str:
    if value is None:
        return r"\N"
    if type(value) is str:
        return lowered(value).translate(_ESCAPES)
    return str(value + 0)


_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def _metrics(rows: Sequence[tuple[Any, ...]]) -> bytes:
    ids, names, values = zip(*rows, strict=True)
    packed = map(_METRIC, repeat(3), repeat(8), ids, repeat(4), names, repeat(8), [value + 0.0 for value in values])
    return b"".join((_SIGNATURE, *packed, _END))


_BLOCK = Struct("!hiqiqiii").pack


def _blocks(rows: Sequence[tuple[Any, ...]]) -> bytes:
    parts = [_SIGNATURE]
    for session, start, length, data in rows:
        parts += (_BLOCK(4, 8, session, 8, start, 4, length, len(data)), data)
    parts.append(_END)
    return b"".join(parts)


_BINARY: dict[str, Callable[[Sequence[tuple[Any, ...]]], bytes]] = {"run_metric": _metrics, "block": _blocks}
