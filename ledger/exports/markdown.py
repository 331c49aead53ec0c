"""A table in GitHub's Markdown."""

import re
from collections.abc import Sequence
from typing import TextIO

from ledger.base.text import plain
from ledger.exports.cell_text import Rows, Value, is_numeric, text_of, tidy
from ledger.exports.table import grid

_BREAK = re.compile(r"\r\n|[\r\n]")
_SPECIAL = re.compile(r"[\\|<]")


def write(columns: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Write the table whole: its columns are aligned, so that it reads well as text too."""
    held = [list(map(tidy, row)) for row in rows]
    right = [is_numeric(row[place] for row in held) for place in range(len(columns))]
    stream.write(grid(list(map(_cell, columns)), [list(map(_cell, row)) for row in held], right, "github"))


def _cell(value: Value) -> str:
    lines = _BREAK.split(text_of(value))
    return "<br>".join(_SPECIAL.sub(r"\\\g<0>", plain(line)) for line in lines)
