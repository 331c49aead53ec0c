"""A table's cells: split from a line, and read as what they say."""

import math
import re
from decimal import Decimal

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{7,64}")
_MISSING = frozenset(("", "-", "–", "—", "n/a", "na", "nan", "none", "null"))


def split(line: str, delimiter: str) -> list[str]:
    """Split a line into cells. Quotes count only around a whole cell; a cell never reaches past its line.

    So a description that merely begins with a quote, as people and agents write them, stays as it is.
    """
    quoted = re.compile(f'"((?:[^"]|"")*)"(?={re.escape(delimiter)}|$)')
    cells, place = list[str](), 0
    while True:
        if whole := quoted.match(line, place):
            cells.append(whole[1].replace('""', '"'))
            place = whole.end()
        else:
            end = line.find(delimiter, place)
            end = len(line) if end < 0 else end
            cells.append(line[place:end])
            place = end
        if place >= len(line):
            return cells
        place += 1


def is_missing(cell: str) -> bool:
    """Tell whether a cell says that there is no value."""
    return cell.strip().casefold() in _MISSING


def number(cell: str) -> Decimal | None:
    """Read a decimal number with every digit it has; None for anything else, and past the largest double."""
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        return None
    value = Decimal(text)
    return value if abs(value.adjusted()) < 400 or not value else None


def short_hash(cell: str) -> str:
    """Give a commit as the protocol has it: 7 hex digits of a longer hash, empty for none, other text as it is."""
    text = cell.strip()
    if is_missing(text):
        return ""
    return text.lower()[:7] if _HASH.fullmatch(text.lower()) else text
