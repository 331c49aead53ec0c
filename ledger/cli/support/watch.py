"""What ends a command that only reads and cannot be stopped otherwise: one call of an SQL function may take hours."""

import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ledger.mirror.adhoc import TOO_LONG

GRACE = 2.0
"""Seconds that the database has to stop by itself, as it does between the steps of a statement."""


class Watch:
    """Watch a statement until its rows are read; past its time, or Ctrl-C, and the grace, it ends the process.

    Nothing is lost by that, since the process only reads.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds + GRACE if seconds else math.inf
        self._read = threading.Event()
        self._ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        self.theirs = theirs
        threading.Thread(target=self._watch, daemon=True).start()

    def until_read(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows; what is done with them afterwards may take its time."""
        yield from rows
        self._read.set()

    def _watch(self) -> None:
        self._ours.settimeout(GRACE / 8)
        interrupted = math.inf
        while time.process_time() < self._end and time.monotonic() < interrupted + GRACE:
            try:
                signals = self._ours.recv(64)
            except TimeoutError:
                signals = b""
            else:
                if not signals:  # the other end was closed
                    return
            if self._read.is_set():
                return
            if signal.SIGINT in signals:
                interrupted = time.monotonic()
        code, said = (2, TOO_LONG) if interrupted == math.inf else (130, "interrupted")
        sys.stderr.write(f"ledger: {said}\n")
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def watched(seconds: float) -> Iterator[Watch]:
    """Watch what is done in this context, which must be the main thread's; 0 seconds: only for Ctrl-C."""
    watch = Watch(seconds)
    before = signal.set_wakeup_fd(watch.theirs.fileno(), warn_on_full_buffer=False)
    try:
        yield watch
    finally:
        signal.set_wakeup_fd(before)
        watch.theirs.close()
