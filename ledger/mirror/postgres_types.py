"""How values pass to a PostgreSQL server and back, so that they are the same as through SQLite.

A server's text cannot hold U+0000. There it is stored as U+0001 U+0001, and U+0001 as U+0001 U+0002: nothing is lost,
and texts keep their order and their equality. A number of any size is `numeric`; past 64 bits it is the nearest double,
as it is in SQLite.
"""

import re
from decimal import Decimal
from struct import Struct
from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.numeric import NumericBinaryLoader
from psycopg.types.string import StrDumperUnknown

from ledger.log.jsontext import INT64

_LOW = re.compile("\x01([\x01\x02])")
_HEAD = Struct("!hhHh").unpack_from


def lowered(text: str) -> str:
    """Write text as a server's tables hold it."""
    if "\x00" in text or "\x01" in text:
        return text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01")
    return text


class _TextDumper(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(lowered(obj))


class _TextLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        text = str(data, "utf-8")
        return _LOW.sub(lambda found: "\x00" if found[1] == "\x01" else "\x01", text) if "\x01" in text else text


class _NumberLoader(Loader):
    """Read a numeric as an integer where it is one of 64 bits, else as the nearest double."""

    format = Format.BINARY

    def __init__(self, oid: int, context: AdaptContext | None = None):
        super().__init__(oid, context)
        self._exact = NumericBinaryLoader(oid, context)

    def load(self, data: Buffer) -> int | float:
        digits, weight, sign, _ = _HEAD(data)
        if digits == 1 and weight == 0 and not sign:  # a run's number below ten thousand
            return data[8] << 8 | data[9]
        return _number(self._exact.load(data))


class _NumberTextLoader(Loader):
    def load(self, data: Buffer) -> int | float:
        return _number(Decimal(str(data, "ascii")))


def _number(exact: Decimal) -> int | float:
    whole = exact.is_finite() and exact == exact.to_integral_value() and int(exact) in INT64
    return int(exact) if whole else float(exact)


class _PlainLoader(_TextLoader):
    format = Format.TEXT


_OWN = frozenset(("int2", "int4", "int8", "oid", "float4", "float8", "bool", "bytea"))


def register_plain(cursor: Any) -> None:
    """Have what a cursor gets in text format stay the text that the server writes, but for numbers, booleans and bytes.

    A typed statement may ask for values of any type, most of which Python has no counterpart of.
    """
    for known in cursor.adapters.types:
        for oid in (known.oid, known.array_oid) if known.name not in _OWN else (known.array_oid,):
            if oid:
                cursor.adapters.register_loader(oid, _PlainLoader)
    cursor.adapters.register_loader("numeric", _NumberTextLoader)


def register(connection: Any) -> None:
    """Give a connection these rules."""
    connection.adapters.register_dumper(str, _TextDumper)
    for name in ("text", "varchar", "bpchar", "name", "json"):
        connection.adapters.register_loader(name, _TextLoader)
    connection.adapters.register_loader("numeric", _NumberLoader)
