"""Text of a log on a person's terminal: nothing in it may steer the terminal, break a line or outgrow its place."""

import os
import re
from pathlib import Path
from unicodedata import combining, east_asian_width

_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)")
_BREAK = re.compile(r"[\t-\r\x85\u2028\u2029]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """Strip control and escape characters, those that turn the writing direction too; line breaks become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", _BREAK.sub(" ", _SEQUENCE.sub("", text)))


def columns(text: str) -> int:
    """Count the terminal columns that a plain text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Shorten a plain text to at most `width` ≥ 1 columns, its end giving way to `…`."""
    if columns(text) <= width:
        return text
    room = width - 1
    for place, char in enumerate(text):
        room -= _columns(char)
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
