"""CSV as `export` writes it, read back to the texts that were written."""

import csv
import io
from collections.abc import Iterator

from ledger.importing.table_file import TableFile
from ledger.log.source import MAX_LINE_BYTES

_LEADS = ("=", "+", "-", "@", "\t", "\r")


def records(source: TableFile) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the records below the header, each with the line that it begins at, or what is wrong with it as a text.

    A cell may hold line ends. What is no CSV ends the records.
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
    return text.startswith("'") and text[1:].startswith(_LEADS)
