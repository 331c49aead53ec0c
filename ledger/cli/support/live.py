"""The line that shows what a loop does, on a terminal; sentences go above it, and to where there is none."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import click

from ledger.base.text import plain

_PERIOD = 0.5
_CLEAR = "\r\033[K"


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
        while not self._over.wait(_PERIOD):
            with self._lock:
                self._draw()
