"""A table's file as text, what a person adds to it, and what becomes of it."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ledger.exports.cell_text import is_formula
from ledger.importing.cell_values import split
from ledger.log.source import MAX_LINE_BYTES

Faults = list[tuple[int, str]]
"""What keeps a table from being imported: lines of the file, from 1, each with the reason."""

_BARE = "a carriage return stands within the header: where lines end in nothing else, make each end in a newline"


class ImportOptions(NamedTuple):
    """Hold what a person says that the table cannot: None or empty where nothing is said.

    `words` gives a status to words of the table, `skip` leaves their rows out. `at_ms` is UTC milliseconds, `utc` says
    that times without an offset are UTC.
    """

    direction: str | None = None
    metric: str | None = None
    unit: str | None = None
    name: str | None = None
    at_ms: int | None = None
    utc: bool = False
    words: Mapping[str, str] = MappingProxyType({})


class Imported(NamedTuple):
    """Hold the log that a table became, and what a person should know of it."""

    data: bytes
    notes: list[str]


class TableFile(NamedTuple):
    """Hold a table: its file's name, the text, its comments without `#`, and where its header stands (line from 1)."""

    name: str
    sha256: str
    text: str
    comments: list[str]
    header: int
    columns: list[str]
    delimiter: str
    faults: Faults

    @classmethod
    def of(cls, name: str, data: bytes) -> "TableFile":
        """Decode a file and find its header: the first line that is neither blank nor a comment."""
        digest = hashlib.sha256(data).hexdigest()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            place = data.count(b"\n", 0, error.start) + 1
            return cls(name, digest, "", [], 1, [], "\t", [(place, f"not UTF-8: byte 0x{data[error.start]:02x}")])
        comments = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith("#"):
                comments.append(line[1:].strip())
            elif line.strip():
                delimiter = "\t" if "\t" in line else ","
                columns = split(line.removesuffix("\r"), delimiter)
                faults = [(number, _BARE)] if any("\r" in column for column in columns) else []
                return cls(name, digest, text, comments, number, columns, delimiter, faults)
        return cls(name, digest, text, comments, 1, [], "\t", [(1, "there is no header")])

    def said(self, key: str) -> str | None:
        """Give what the comments say of a key, as in `metric_direction: lower`; None if nothing, or two things."""
        found = {
            value.strip() for key_, colon, value in (c.partition(":") for c in self.comments) if key_ == key and colon
        }
        return found.pop() if len(found) == 1 else None


class TableKind(NamedTuple):
    """Declare a kind of table: `columns` shows a header of it to people, `recognises` takes a file's own columns."""

    name: str
    columns: str
    recognises: Callable[[Sequence[str]], bool]
    read: Callable[[TableFile, ImportOptions], Imported | Faults]


def records(source: TableFile) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the records below the header, each with the line that it begins at, or what is wrong with it as a text.

    They are CSV as `export` writes it: a cell may hold line ends. What is no CSV ends the records.
    """
    csv.field_size_limit(4 * MAX_LINE_BYTES)
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    width, begins = len(source.columns), 1
    try:
        for cells in reader:
            if begins > source.header:
                yield begins, cells if len(cells) == width else f"{len(cells)} fields where the header has {width}"
            begins = reader.line_num + 1
    except csv.Error as error:
        yield begins, f"no CSV: {error}"


def is_led(text: str) -> bool:
    """Tell whether a text begins with an apostrophe that may be the export's own, against formulas."""
    return text.startswith("'") and is_formula(text[1:])
