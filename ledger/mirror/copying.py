"""Rows to a server by COPY, written column by column: that takes a fraction of writing them value by value."""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from struct import Struct
from typing import Any

from ledger.mirror import schema
from ledger.mirror.server import Server
from ledger.mirror.servertypes import lowered

_FIELD, _ROW, _NULL = "\ud800", "\ud801", "\ud802"
"""Stand-ins that no stored text can hold, since none of them is a character, while text is escaped."""

_SIGNATURE, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_METRIC = Struct("!hiqiiid").pack
"""A row of run_metric in binary: the number of its fields, and each with its length in bytes."""


def copy_rows(server: Server, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Store rows in a table whose columns they fill in order."""
    columns = schema.metadata.tables[table].columns.keys()
    if table == "diagnostic":  # the last column is the row's number, which the server gives
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    data, form = (_text(rows), "TEXT") if table not in _BINARY else (_BINARY[table](rows), "BINARY")
    names = ", ".join(f'"{name}"' for name in columns)
    with (
        server.connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT {form})") as copy,
    ):
        copy.write(data)


def _text(rows: Sequence[tuple[Any, ...]]) -> str:
    columns = [_words(column) for column in zip(*rows, strict=True)]
    text = _ROW.join(map(_FIELD.join, zip(*columns, strict=True)))
    text = lowered(text).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return text.replace(_FIELD, "\t").replace(_ROW, "\n").replace(_NULL, "\\N") + "\n"


def _words(column: tuple[Any, ...]) -> Iterable[str]:
    """Write a column's values; zero has no sign, as in SQLite."""
    kinds = set(map(type, column))
    if kinds == {str}:
        return column
    if kinds <= {int}:
        return map(str, column)
    if kinds == {type(None)}:
        return repeat(_NULL, len(column))
    return [_NULL if value is None else value if type(value) is str else str(value + 0) for value in column]


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
