"""CSV as RFC 4180 quotes it, lines ending in a plain newline."""

import csv
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from ledger.exports.cell_text import Rows, inert


class _Lines(NamedTuple):
    r"""Shorten each line's `\r\n`, with which the csv module is told to quote a cell that holds either character."""

    stream: TextIO

    def write(self, line: str) -> int:
        return self.stream.write(line.removesuffix("\r\n") + "\n")


def write(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write a header and the rows; texts that a spreadsheet would run are led by an apostrophe."""
    writer = csv.writer(_Lines(stream), lineterminator="\r\n")
    writer.writerow(map(inert, columns))
    for row in rows:
        writer.writerow(map(inert, row))
