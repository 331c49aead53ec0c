"""What a terminal shows while something takes long: a bar that counts, or a line that names the step of a loop."""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

import click

from ledger.base.text import plain

Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds until the bar appears."""

_PERIOD = 0.2
"""Seconds between two looks at the clock from then on."""

_LINE_PERIOD = 0.5
_CLEAR = "\r\033[K"


def progress(items: Iterable[Item], label: str, count: int) -> Generator[Item]:
    """Yield items that take long to make; past a second a bar on stderr counts them, where that is a terminal.

    While an item is out the bar is away, so that what is printed about it has its line to itself.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    bar = _Bar(label, count)
    try:
        for item in items:
            with bar.away():
                yield item
    finally:
        bar.close()


class _Bar:
    """Keep a bar on the terminal's last line, by a thread of its own: the work may be one long call."""

    def __init__(self, label: str, count: int) -> None:
        self._bar = click.progressbar(length=count, label=label, file=sys.stderr, show_pos=True)
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._due = False
        self._width = 0
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Clear the line while the caller prints, then count one more."""
        with self._lock:
            self._draw("")
            yield
            self._bar.make_step(1)
            if self._due:
                self._draw(self._bar.format_progress_line())

    def close(self) -> None:
        """Take the bar away."""
        self._done.set()
        self._thread.join()
        self._draw("")

    def _keep(self) -> None:
        while not self._done.wait(_PERIOD if self._due else PATIENCE):
            with self._lock:
                self._due = True
                self._draw(self._bar.format_progress_line())

    def _draw(self, line: str) -> None:
        """Write a line over the last one; spaces clear it on every terminal."""
        line = line[: shutil.get_terminal_size().columns - 1]
        if line or self._width:
            click.echo(f"\r{line.ljust(self._width)}" if line else f"\r{' ' * self._width}\r", nl=False, err=True)
        self._width = len(line)


class ProgressLine:
    """Keep a line like `measuring 0:34` at the end of stderr, where that is a terminal; one may go away meanwhile."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._step = ""
        self._since = 0.0
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True) if self._shown else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()

    def step(self, name: str) -> None:
        """Show the step that begins."""
        with self._lock:
            self._step, self._since = name, time.monotonic()
            self._draw()

    def say(self, sentence: str) -> None:
        """Write a sentence above the line."""
        with self.away(), contextlib.suppress(OSError):
            click.echo(f"ledger: {plain(sentence)}", err=True)

    def shout(self, sentence: str) -> None:
        """Write a sentence from a signal handler, which may have come in the middle of a write."""
        with contextlib.suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), f"{_CLEAR if self._shown else ''}ledger: {plain(sentence)}\n".encode())

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the line away while the caller prints."""
        with self._lock:
            self._clear()
            yield
            self._draw()

    def _clear(self) -> None:
        if self._shown:
            self._write(_CLEAR)

    def _draw(self) -> None:
        if self._shown and self._step:
            minutes, seconds = divmod(int(time.monotonic() - self._since), 60)
            self._write(f"{_CLEAR}{self._step} {minutes}:{seconds:02}")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def _keep(self) -> None:
        while not self._over.wait(_LINE_PERIOD):
            with self._lock:
                self._draw()
