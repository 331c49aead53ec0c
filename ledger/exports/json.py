"""JSON: one array of objects, written row by row."""

from collections.abc import Sequence
from typing import TextIO

import orjson

from ledger.exports.cell_text import Rows, distinct, tidy


def write(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write an array with an object a line; `[]` where there is none."""
    keys, before = distinct(columns), "[\n"
    for row in rows:
        stream.write(before + orjson.dumps(dict(zip(keys, map(tidy, row), strict=True))).decode())
        before = ",\n"
    stream.write("[]\n" if before == "[\n" else "\n]\n")
