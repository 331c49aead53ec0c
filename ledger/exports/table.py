"""A table for the terminal, cut to its width, and the aligned columns that it shares with Markdown."""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from ledger.base.text import columns as columns_of
from ledger.base.text import cut, cut_start, near, plain
from ledger.exports.cell_text import Rows, Value, is_numeric, text_of, tidy
from ledger.telling.screen import Paint, bare, confidence_colour, status_colour

TEXT_WIDTH = 40
"""The most columns of a text where no terminal says how wide it is."""
LEAST_WIDTH = 24
"""What a text may be cut to before a column has to go; a time fits in."""
DISPENSABLE = (
    "direction", "dialect", "first_at", "longest_streak", "rank_improvement", "baseline_run", "checks_failed", "other",
    "crash", "discard", "best_so_far", "is_best", "line", "keep_rate", "keep", "first_run", "errors", "warnings",
    "last_at", "commit", "segments", "unit", "best_run", "runs_to_best", "at", "current", "name", "description",
    "session", "baseline", "confidence", "improvement_pct",
)  # fmt: skip
"""The columns that go first where the terminal is too narrow; after them those furthest right."""

_GAP = 2
_COLOURS = {"status": status_colour, "confidence": confidence_colour}


def write(columns: Sequence[str], rows: Rows, stream: TextIO, paint: Paint = bare) -> None:
    """Write the table whole, and on standard error which columns it leaves out: those without a value or a place."""
    table = [[tidy(value) for value in row] for row in rows]
    right = [is_numeric(row[place] for row in table) for place in range(len(columns))]
    cells = [[_cell(columns[place], value) for place, value in enumerate(row)] for row in table]
    heads = list(map(plain, columns))
    shown = [place for place in range(len(heads)) if not cells or any(row[place] for row in cells)]
    widths = [max(map(columns_of, (head, *(row[place] for row in cells)))) for place, head in enumerate(heads)]
    has_width = stream.isatty() or os.environ.get("COLUMNS")
    room = shutil.get_terminal_size().columns if has_width else None
    shown, limit = _fit(columns, widths, shown, right, room)
    body = [
        [
            paint(_cut(columns[place], cell[place], right[place], limit), _colour(columns[place], row[place]))
            for place in shown
        ]
        for row, cell in zip(table, cells, strict=True)
    ]
    stream.write(grid([heads[place] for place in shown], body, [right[place] for place in shown], "simple"))
    if len(shown) < len(heads):
        missing = ", ".join(head for place, head in enumerate(heads) if place not in shown)
        stream.flush()  # so that the note follows the table where both go to one place
        sys.stderr.write(f"(columns not shown: {missing}; use --format csv or json for all)\n")


def grid(heads: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], style: str) -> str:
    """Lay out cells that are text already; `style` is tabulate's, `right` says which columns hold numbers."""
    import tabulate

    tabulate.MIN_PADDING = 0  # it would make each column two wider than its header
    align = ["right" if numeric else "left" for numeric in right] if cells else None
    return tabulate.tabulate(cells, heads, style, disable_numparse=True, colalign=align) + "\n"


def _fit(
    columns: Sequence[str], widths: list[int], shown: list[int], right: list[bool], room: int | None
) -> tuple[list[int], int]:
    """Choose the columns to show and the width to cut texts to, so that a line takes no more than `room`."""
    if room is None:  # no terminal says how wide it is
        return shown, TEXT_WIDTH
    ranks = {name: rank for rank, name in enumerate(DISPENSABLE)}
    while True:
        fixed = sum(max(widths[p] if right[p] else 0, columns_of(columns[p])) + _GAP for p in shown) - _GAP
        texts = [(widths[p], columns_of(columns[p])) for p in shown if not right[p]]
        for limit in range(max(room, LEAST_WIDTH), LEAST_WIDTH - 1, -1):
            if fixed + sum(max(0, min(width, limit) - head) for width, head in texts) <= room:
                return shown, limit
        if len(shown) < 2:
            return shown, max(room, 1)
        least = min(shown, key=lambda place: (ranks.get(columns[place], len(ranks)), -place))
        shown = [place for place in shown if place != least]


def _cell(column: str, value: Value) -> str:
    if isinstance(value, float):  # six significant digits; those before the point stay all
        return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
    text = plain(text_of(value))
    return near(text) if column == "path" else text


def _cut(column: str, text: str, numeric: bool, limit: int) -> str:
    if numeric:
        return text
    return cut_start(text, limit) if column == "path" else cut(text, limit)


def _colour(column: str, value: Value) -> str | None:
    colour_of = _COLOURS.get(column)
    return colour_of(value) if colour_of else None
