"""The screen that output is shown on: its width, the marks it can say, its colours and what they mean."""

from collections.abc import Callable
from typing import NamedTuple

from ledger.base.numbers import Number
from ledger.fold.confidence import LIKELY, MARGINAL

Paint = Callable[[str, str | None], str]
"""Colour a plain text; a colour is a terminal's name for it, `dim`, or None for none."""

_STATUS_COLOURS = {"keep": "green", "baseline": "green", "discard": "dim", "crash": "red", "checks_failed": "yellow"}


def bare(text: str, _: str | None) -> str:
    """Leave a text as it is."""
    return text


class Ramp(NamedTuple):
    """Hold the marks that a drawing is made of: `levels` from low to high, and the one for a crash."""

    levels: str
    crash: str


BLOCKS = Ramp("▁▂▃▄▅▆▇█", "×")
ASCII = Ramp(".:-=+*#@", "x")


def ramp_for(encoding: str | None) -> Ramp:
    """Choose the marks that an encoding can say."""
    try:
        "".join(BLOCKS).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


class Screen(NamedTuple):
    """Say what output can be shown on; `columns` is None where nothing says how wide it is."""

    columns: int | None = None
    ramp: Ramp = BLOCKS
    paint: Paint = bare


def status_colour(status: object) -> str | None:
    """Give the colour of a run's status; None for what is no decided status."""
    return _STATUS_COLOURS.get(status) if isinstance(status, str) else None


def confidence_colour(confidence: object) -> str | None:
    """Give the colour of a confidence (protocols.md 6): likely real, marginal or within noise; None for no number."""
    if isinstance(confidence, bool) or not isinstance(confidence, Number):
        return None
    return "green" if confidence >= LIKELY else "yellow" if confidence >= MARGINAL else "red"
