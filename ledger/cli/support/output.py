"""What commands print to: standard output as text, a reader that went away, a terminal and its colours."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.text import near
from ledger.log.source import STDIN

if TYPE_CHECKING:
    from ledger.reading.whole_log import Log
    from ledger.telling.screen import Screen


def shown(path: Path | str) -> str:
    """Write a path for a person: relative to the current folder if it is below it."""
    return near(show_path(path))


def stdout_text() -> TextIO:
    """Give standard output as UTF-8 text, whatever the locale says."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return sys.stdout


@contextmanager
def heard() -> Iterator[None]:
    """Let a command finish its work, and keep its exit status, when nobody reads its output any more."""
    try:
        yield
    except BrokenPipeError:
        mute()


def mute() -> None:
    """Send what is still to be written to standard output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_bytes(target: Path | None, parts: Iterable[bytes], mode: int | None = None) -> None:
    """Write bytes to a file, replaced in one step; without one to standard output. `mode` is that of a new file."""
    if target is None:
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
        return
    from ledger.base.files import write_output

    write_output(target, lambda file: file.writelines(parts), mode)


def end_by_errors(log: "Log") -> NoReturn:
    """Tell a log's errors on stderr, and end with the status that says whether it has any."""
    if log.ok:
        sys.exit(0)
    from ledger.telling.findings import lines_of

    for line in lines_of(log.path, [found for found in log.diagnostics if found.is_error]):
        click.echo(line, err=True)
    click.echo(f"ledger: {shown(log.path or STDIN)} has errors; the loop must stop until they are repaired", err=True)
    sys.exit(1)


def screen_of(stream: TextIO) -> "Screen":
    """Say what a stream can show. Ask before `stdout_text`, which gives it an encoding of our own choice."""
    from ledger.telling.screen import Screen, bare, ramp_for

    columns = None
    if stream.isatty() or os.environ.get("COLUMNS"):
        import shutil

        columns = shutil.get_terminal_size().columns
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(columns, ramp_for(stream.encoding), paint if coloured else bare)


def paint(text: str, colour: str | None) -> str:
    """Colour a text for a terminal."""
    if colour is None or not text:
        return text
    return click.style(text, dim=True) if colour == "dim" else click.style(text, fg=colour)


@contextmanager
def extra_needed(extra: str, by: str, *libraries: str) -> Iterator[None]:
    """Import in this context what needs an extra. Raises LedgerError, which says how to get it, if that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in libraries:
            raise
        raise LedgerError(f"{by} needs its extra: pip install 'autoresearch-ledger[{extra}]'") from None
