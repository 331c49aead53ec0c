"""What standard output can be shown on."""

import os
from typing import TextIO

import click

from ledger.telling.screen import Screen, bare, ramp_for


def screen_of(stream: TextIO) -> Screen:
    """Say what a stream can show. Ask before `stdout_text`, which gives it an encoding of our own choice."""
    return Screen(_columns(stream), ramp_for(stream.encoding), paint if takes_colour(stream) else bare)


def takes_colour(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal with colours, and nobody asked for none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None) -> str:
    """Colour a text for a terminal."""
    if colour is None or not text:
        return text
    return click.style(text, dim=True) if colour == "dim" else click.style(text, fg=colour)


def _columns(stream: TextIO) -> int | None:
    if not stream.isatty() and not os.environ.get("COLUMNS"):
        return None
    import shutil

    return shutil.get_terminal_size().columns
