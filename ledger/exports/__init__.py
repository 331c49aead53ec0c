"""The formats that rows are written in, one file each. The tuple is the registry."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO

from ledger.exports import csv, json, jsonl, markdown, table, tsv
from ledger.exports.cell_text import Rows, Value


class Format(NamedTuple):
    """Name a format and write columns and rows in it, one at a time if it goes `by_rows`, else all of them held."""

    name: str
    write: Callable[[Sequence[str], Rows, TextIO], None]
    by_rows: bool = True


FORMATS: tuple[Format, ...] = (
    Format("table", table.write, by_rows=False),
    Format("json", json.write),
    Format("jsonl", jsonl.write),
    Format("csv", csv.write),
    Format("tsv", tsv.write),
    Format("markdown", markdown.write, by_rows=False),
)


def by_name(name: str) -> Format:
    """Find a format by its name. Raises KeyError if there is none."""
    return {known.name: known for known in FORMATS}[name]


__all__ = ["FORMATS", "Format", "Rows", "Value", "by_name"]
