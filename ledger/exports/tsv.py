r"""Tab-separated values: nothing is quoted; tab, line ends and backslash in a text are `\t`, `\n`, `\r`, `\\`."""

from collections.abc import Sequence
from typing import TextIO

from ledger.exports.cell_text import Rows, Value, inert

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def write(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write a header and the rows; texts that a spreadsheet would run are led by an apostrophe."""
    stream.write(_line(columns))
    stream.writelines(map(_line, rows))


def _line(cells: Sequence[Value]) -> str:
    return "\t".join(inert(cell).translate(_ESCAPES) for cell in cells) + "\n"
