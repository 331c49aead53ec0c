"""JSON Lines: one object a line."""

from collections.abc import Sequence
from typing import TextIO

import orjson

from ledger.exports.cell_text import Rows, distinct, tidy


def write(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write each row as an object on a line of its own."""
    keys = distinct(columns)
    stream.writelines(orjson.dumps(dict(zip(keys, map(tidy, row), strict=True))).decode() + "\n" for row in rows)
