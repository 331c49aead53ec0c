"""Text as a workbook's cells and charts can hold it."""

import re

from ledger.exports.cell_text import inert

MOST = 32_767
"""The UTF-16 units that Excel takes in one cell."""

_MARK = " … [cut]"
_LABEL = 120
_REFERENCE = re.compile(r"!(?=\$?[A-Z])")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


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
