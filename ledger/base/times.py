"""Moments: read from epoch numbers or ISO-8601 text, kept as UTC milliseconds."""

import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.base.numbers import Number, decimal

MILLISECONDS_FROM = 100_000_000_000
"""A timestamp at or past this counts milliseconds, below it seconds (protocols.md 2)."""

FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Years 1 to 9999: what ISO text and the database's date functions can say."""


def unit_of(timestamp: Number) -> str:
    """Tell the unit of an epoch timestamp: `ms` or `s`."""
    return "ms" if timestamp >= MILLISECONDS_FROM else "s"


def epoch_ms(timestamp: Number) -> int | None:
    """Turn an epoch timestamp of either unit into UTC milliseconds, floored; None outside years 1 to 9999."""
    scaled = timestamp if timestamp >= MILLISECONDS_FROM else timestamp * 1000
    return within(math.floor(scaled)) if -1e18 < scaled < 1e18 else None


def within(ms: int) -> int | None:
    """Give the milliseconds if they lie in years 1 to 9999, else None."""
    return ms if FIRST_MS <= ms <= LAST_MS else None


def parse_iso(text: str) -> tuple[int, bool] | None:
    """Read ISO-8601 text as (UTC milliseconds, whether it states an offset); None if it is no such text."""
    try:
        moment = datetime.fromisoformat(text)
        stated = moment.tzinfo is not None
        delta = (moment if stated else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    ms = within((delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000)
    return None if ms is None else (ms, stated)


def moment(value: Any) -> tuple[int | None, str | None, bool]:
    """Read a timestamp as (UTC milliseconds, unit, whether both give it back exactly)."""
    if isinstance(value, str):
        read = parse_iso(value)
        return (read[0] if read else None), "iso", False
    if value is None:
        return None, None, False
    unit, at_ms = unit_of(value), epoch_ms(decimal(value) if type(value) is float else value)
    exact = type(value) is int and at_ms is not None
    return at_ms, unit, exact


def iso(ms: int | None) -> str | None:
    """Write UTC milliseconds as ISO-8601 text with milliseconds and Z."""
    if ms is None:
        return None
    seconds, rest = divmod(ms, 1000)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment.isoformat()[:19]}.{rest:03d}Z"


def now_ms() -> int:
    """Give this moment in UTC milliseconds."""
    return time.time_ns() // 1_000_000
