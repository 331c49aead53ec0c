"""What a cell holds, and how the formats write it."""

import math
from collections.abc import Iterable, Sequence

from ledger.base.numbers import SAFE_INTEGER

Value = str | int | float | bool | None
Rows = Iterable[Sequence[Value]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def tidy(value: Value) -> Value:
    """Give a whole float below 2**53 as an integer, a float that is not finite as None, anything else as it is."""
    if type(value) is not float:
        return value
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < SAFE_INTEGER else value


def text_of(value: Value) -> str:
    """Write a cell as text: None is empty, booleans are `true` and `false`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would take a text for a formula."""
    return text.startswith(_FORMULA)


def inert(value: Value) -> str:
    """Write a cell so that no spreadsheet takes a text for a formula; numbers keep their sign."""
    return f"'{value}" if isinstance(value, str) and is_formula(value) else text_of(tidy(value))


def distinct(columns: Sequence[str]) -> list[str]:
    """Name columns apart, as SQLite does: a second `run` is `run:1`."""
    named: list[str] = []
    for column in columns:
        name, count = column, 0
        while name in named:
            count += 1
            name = f"{column}:{count}"
        named.append(name)
    return named


def is_numeric(values: Iterable[Value]) -> bool:
    """Tell whether a column holds numbers and nothing else, but for empty cells."""
    types = {type(value) for value in values if value is not None}
    return bool(types) and types <= {int, float}
