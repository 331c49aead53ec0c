"""The bar that counts what takes long, on a terminal."""

import shutil
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import click

Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds until the bar appears."""

_PERIOD = 0.2
"""Seconds between two looks at the clock from then on."""


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
