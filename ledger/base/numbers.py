"""Numbers as the logs mean them: decimals of their text, compared exactly (protocols.md 1)."""

import math
import re
from decimal import Context, Decimal, InvalidOperation

Number = int | float | Decimal
"""A finite number. A Decimal stands only where neither a small int nor the nearest double says the same."""

_EXACT = Context(prec=2_000)

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")

SAFE_INTEGER = 2**53
"""Up to this magnitude an integer and its double are the same number."""


def from_lexeme(lexeme: str) -> Number:
    """Read a JSON number exactly: a float where its shortest text is the same decimal, else a Decimal.

    Raises OverflowError where the nearest double is infinite or the exponent is past every use.
    """
    nearest = float(lexeme)
    if not math.isfinite(nearest):
        raise OverflowError(lexeme)
    try:
        exact = Decimal(lexeme)
        return nearest if Decimal(repr(nearest)) == exact else exact
    except InvalidOperation:
        raise OverflowError(lexeme) from None


def number(text: str) -> Number:
    """Read a decimal number: a whole one as an integer, any other exactly.

    Raises ValueError for another text, for NaN and infinities, and for what is past every double.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError("it is no decimal number")
    try:
        if not _WHOLE.fullmatch(text):
            return from_lexeme(text)
        if math.isfinite(float(text)):
            return normal(int(Decimal(text)))  # int() itself takes no more than 4,300 digits, zeros too
    except OverflowError:
        pass
    raise ValueError("it is past every double")


def normal(value: Number) -> Number:
    """Turn an integer that no double reproduces into a Decimal; leave every other number as it is."""
    if type(value) is int and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return Decimal(value)
    return value


def decimal(value: Number) -> Decimal:
    """Give the decimal that the number's text states."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def compare(left: Number, right: Number) -> int:
    """Order two numbers exactly: -1, 0 or 1."""
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        left, right = decimal(left), decimal(right)
    return (left > right) - (left < right)


def better(candidate: Number, incumbent: Number, direction: str) -> bool:
    """Tell whether the candidate strictly beats the incumbent; `direction` is `lower` or `higher`."""
    return compare(candidate, incumbent) == (-1 if direction == "lower" else 1)


def residue(value: Number) -> float | None:
    """Give what the nearest double leaves out of an exact number, for ordering; None where it leaves out nothing."""
    if not isinstance(value, Decimal):
        return None
    return float(_EXACT.subtract(value, decimal(float(value))))


def is_number(value: object) -> bool:
    """Tell whether a decoded JSON value is a number; booleans are none."""
    return type(value) is int or type(value) is float or type(value) is Decimal


def text(value: Number) -> str:
    """Write a number for people: no trailing `.0`, thousands separated, at most the digits it has."""
    if isinstance(value, float) and value.is_integer() and abs(value) < SAFE_INTEGER:
        value = int(value)
    if isinstance(value, int) or 1e-4 <= abs(float(value)) < 1e15:
        return f"{value:,}"
    return str(value)


def storable(value: object) -> bool:
    """Tell whether a double, or an integer that one reproduces, is all there is to a JSON number."""
    return type(value) is float or (type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER)
