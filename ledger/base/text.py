"""Text of a log on a person's terminal: nothing in it may steer the terminal, break a line or outgrow its place."""

import os
import re
from pathlib import Path

_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)")
_BREAK = re.compile(r"[\t-\r\x85\u2028\u2029]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_NARROW = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u22ff\u2500-\u259f]*")
"""Characters that surely take a column each: for them the table of all others, slow to load, is not asked."""

_WIDENING = "\ufe0f"
"""What makes an emoji of the character before it, which may then take one column more."""


def plain(text: str) -> str:
    """Strip control and escape characters, those that turn the writing direction too; line breaks become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", _BREAK.sub(" ", _SEQUENCE.sub("", text)))


def columns(text: str) -> int:
    """Count the terminal columns that a plain text takes."""
    if _NARROW.fullmatch(text):
        return len(text)
    from wcwidth import wcswidth

    return wcswidth(text)


def cut(text: str, width: int) -> str:
    """Shorten a plain text to at most `width` ≥ 1 columns, its end giving way to `…`."""
    if columns(text) <= width:
        return text
    room = width - 1
    for place, char in enumerate(text):
        room -= 1 if char == _WIDENING else columns(char)
        if room < 0:
            return text[:place].rstrip() + "…"
    return text


def cut_start(text: str, width: int) -> str:
    """Shorten a plain text likewise from its start: of a path the end says most."""
    return text if columns(text) <= width else cut(text[::-1], width)[::-1]


def near(path: str) -> str:
    """Write a path relative to the current folder if it is below it, else as it is."""
    try:
        return path.removeprefix(os.path.join(Path.cwd(), ""))  # noqa: PTH118 - keeps the separator at the end
    except OSError:
        return path


def counted(count: int, noun: str) -> str:
    """Put a count before its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
