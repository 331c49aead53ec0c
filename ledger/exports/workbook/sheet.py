"""One table of a workbook: its header, its rows as they come, and a further sheet where one is full."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from ledger.base.numbers import SAFE_INTEGER
from ledger.exports.cell_text import inert, is_formula

MAX_ROWS = 1_048_576
"""The rows of a sheet, its header included; Excel opens no more."""

MOST = 32_767
"""The UTF-16 units that Excel takes in one cell."""

_MARK = " … [cut]"
_LABEL = 120
_REFERENCE = re.compile(r"!(?=\$?[A-Z])")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

_SAMPLED = 200
"""Rows that a column's width is taken from."""

_LEAST_WIDTH, _MOST_WIDTH = 6, 60
_BUTTON = 3
"""What the filter's button takes beside a header."""

_WIDTHS = {"time": 23, "percent": 9, "ratio": 9}
_FIRST_DAY = datetime(1899, 12, 30, tzinfo=UTC)
_LEAST_DAY = 61
"""1 March 1900: before it Excel's calendar has a day that never was, and earlier years are not in it at all."""


class Column(NamedTuple):
    """Declare a column: `plain`, `time` (ISO-8601 text), `percent` (of 100), or `ratio` (of 1)."""

    name: str
    kind: str = "plain"

    @property
    def head(self) -> str:
        """The header, which says what a date-time of a spreadsheet cannot: its zone."""
        return f"{self.name} (UTC)" if self.kind == "time" else self.name


class Styles:
    """Hold a workbook's formats; those by a word or a level colour cells."""

    def __init__(self, book: Workbook) -> None:
        self.header = book.add_format({"bold": True, "bottom": 1})
        self.heading = book.add_format({"bold": True})
        self.quoted = book.add_format({"quote_prefix": True})
        self.run = book.add_format()
        self.time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        self.percent = book.add_format({"num_format": "0.0%"})
        good, fair, bad, dull = (
            book.add_format({"font_color": ink, "bg_color": paper})
            for ink, paper in (
                ("#0B5A2A", "#D6F0DE"),
                ("#6B4A00", "#FFEFC2"),
                ("#8A1020", "#FAD7DA"),
                ("#4A5058", "#E9ECEF"),
            )
        )
        self.words = {
            "status": {"keep": good, "baseline": good, "discard": dull, "crash": bad, "checks_failed": fair},
            "severity": {"error": bad, "warning": fair, "info": dull},
            "state": {"done": good, "complete": good, "wall": bad, "blocked": bad, "error": bad, "cancelled": dull},
        }
        self.levels = ((">=", 2, good), (">=", 1, fair), ("<", 1, bad))


class Exact(float):
    """A float with all the digits that it needs, which may be 17: XlsxWriter asks for 16."""

    def __format__(self, _: str) -> str:
        """Write the shortest text that is this double again."""
        return float.__repr__(self)


class Sheet:
    """Write a table row by row; only the row at hand is in memory."""

    def __init__(self, book: Workbook, styles: Styles, title: str, columns: Sequence[Column]) -> None:
        self._book, self._styles, self._title, self._columns = book, styles, title, columns
        self._puts = [_PUTS[column.kind] for column in columns]
        self._widths = [max(_WIDTHS.get(column.kind, _LEAST_WIDTH), len(column.head) + _BUTTON) for column in columns]
        self._count = 0
        self._open()

    def _open(self) -> None:
        self._count += 1
        self.name = self._title if self._count == 1 else f"{self._title} {self._count}"
        self.row = 0
        self._page: Worksheet = self._book.add_worksheet(self.name)
        for place, column in enumerate(self._columns):
            self._page.write_string(0, place, column.head, self._styles.header)

    def add(self, row: Sequence[Any]) -> None:
        """Write the next row; afterwards `name` and `row` (from 0) say where it stands."""
        if self.row + 1 >= MAX_ROWS:
            self.close()
            self._open()
        self.row += 1
        if self.row <= _SAMPLED and self._count == 1:
            self._widths = list(map(_wider, self._widths, row))
        number, page, styles = self.row, self._page, self._styles
        for place, value in enumerate(row):
            if value is not None and value != "":
                self._puts[place](page, styles, number, place, value)

    def close(self) -> None:
        """Finish the table: header frozen, filter, widths, colours."""
        page = self._page
        page.freeze_panes(1, 0)
        page.repeat_rows(0)
        page.set_landscape()
        page.fit_to_pages(1, 0)
        page.autofilter(0, 0, self.row, len(self._columns) - 1)
        for place, width in enumerate(self._widths):
            page.set_column(place, place, min(width, _MOST_WIDTH))
        for place, column in enumerate(self._columns):
            self._colour(place, column.name)

    def _colour(self, place: int, name: str) -> None:
        area = (1, place, max(self.row, 1), place)
        for word, style in self._styles.words.get(name, {}).items():
            self._page.conditional_format(
                *area, {"type": "cell", "criteria": "==", "value": f'"{word}"', "format": style}
            )
        if name == "confidence":
            self._page.conditional_format(*area, {"type": "blanks", "format": None, "stop_if_true": True})
            for criteria, value, style in self._styles.levels:
                rule = {"type": "cell", "criteria": criteria, "value": value, "format": style, "stop_if_true": True}
                self._page.conditional_format(*area, rule)


def _wider(width: int, value: object) -> int:
    if isinstance(value, str):
        return max(width, min(len(value), _MOST_WIDTH))
    return width if value is None else max(width, min(len(str(value)), 12))


def put_text(page: Worksheet, styles: Styles, row: int, place: int, value: str, style: Format | None = None) -> None:
    """Write a text as text: one that looks like a formula stays text, in Excel also after it was edited."""
    text = clean(value)
    if is_formula(text):
        style = styles.quoted
    if text.startswith("<r>") and text.endswith("</r>"):  # XlsxWriter would take it for markup of its own
        page.write_rich_string(row, place, text[0], styles.run, text[1:], *([style] if style else []))
    else:
        page.write_string(row, place, text, style)


def _put_number(page: Worksheet, row: int, place: int, value: float, style: Format | None = None) -> None:
    """Write a number; what no cell can hold as one is left out (not finite) or written as text (a large integer)."""
    if type(value) is int and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        page.write_string(row, place, str(value))
    elif value - value == 0:
        page.write_number(row, place, value if float(f"{value:.16G}") == value else Exact(value), style)


def _put_plain(page: Worksheet, styles: Styles, row: int, place: int, value: Any) -> None:
    if type(value) is str:
        put_text(page, styles, row, place, value)
    elif value is True or value is False:
        page.write_boolean(row, place, value)
    else:
        _put_number(page, row, place, value)


def _put_time(page: Worksheet, styles: Styles, row: int, place: int, value: str) -> None:
    days = (datetime.fromisoformat(value) - _FIRST_DAY) / timedelta(days=1)
    if days < _LEAST_DAY:
        page.write_string(row, place, value)
    else:
        page.write_number(row, place, days if float(f"{days:.16G}") == days else Exact(days), styles.time)


def _put_percent(page: Worksheet, styles: Styles, row: int, place: int, value: float) -> None:
    _put_number(page, row, place, value / 100, styles.percent)


def _put_ratio(page: Worksheet, styles: Styles, row: int, place: int, value: float) -> None:
    _put_number(page, row, place, value, styles.percent)


def clean(text: str) -> str:
    """Show control characters, which XML forbids, as their pictures (`␛`), and mark a text that is cut at `MOST`."""
    if not text.isprintable():
        text = _FORBIDDEN.sub(_picture, text.replace("\r\n", "\n"))
    return text if len(text) <= MOST // 2 else _cut(text)


def label(text: str) -> str:
    """Write a text for a chart: on one line, short, and no reference to a cell, which XlsxWriter sees in `a!B1`."""
    line = _REFERENCE.sub("! ", " ".join(clean(text).split()))
    return inert(line if len(line) <= _LABEL else line[: _LABEL - 1] + "…")


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "␡" if code == 0x7F else chr(0x2400 + code) if code < 0x20 else "\ufffd"


def _cut(text: str) -> str:
    units = text.encode("utf-16-le")
    if len(units) <= 2 * MOST:
        return text
    return units[: 2 * (MOST - len(_MARK))].decode("utf-16-le", "ignore") + _MARK


_PUTS = {"plain": _put_plain, "time": _put_time, "percent": _put_percent, "ratio": _put_ratio}
