"""The formats that rows are written in, one file each. The mapping is the registry."""

from collections.abc import Callable, Sequence
from typing import TextIO

from ledger.exports import csv, json, jsonl, markdown, table, tsv
from ledger.exports.cell_text import Rows, Value

FORMATS: dict[str, Callable[[Sequence[str], Rows, TextIO], None]] = {
    "table": table.write,
    "json": json.write,
    "jsonl": jsonl.write,
    "csv": csv.write,
    "tsv": tsv.write,
    "markdown": markdown.write,
}
"""What writes columns and rows in a format, by its name; rows are taken one at a time where the format allows."""

HELD = frozenset(("table", "markdown"))
"""The formats that take all rows before the first is written."""

__all__ = ["FORMATS", "HELD", "Rows", "Value"]
