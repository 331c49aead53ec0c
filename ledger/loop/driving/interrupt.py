"""Interrupts, heard where they do no harm: while a program is waited for, not in the middle of a git or an append."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ledger.loop.measuring import processes

FORCE = 2.0
"""Seconds after which one more interrupt is obeyed wherever it comes: something hangs, such as a hook of git's."""

_KNOCK = 0.005


def list_signals() -> list[signal.Signals]:
    """List the signals that interrupt; a hang-up that is ignored already, as nohup does, stays ignored."""
    heard = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    return heard


class Wish:
    """Tell what the user asked for: to stop after the cycle (`asked`), and since when to stop at once (`urgent`)."""

    def __init__(self) -> None:
        self.asked = False
        self.urgent: float | None = None

    def stop_at_once(self, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt if it does no harm here; else knock until it does none."""
        self.asked = True
        now = time.monotonic()
        if self.urgent is None:
            self.urgent = now
        if _waits(frame) or now - self.urgent > FORCE or not hasattr(signal, "setitimer"):
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, _KNOCK, _KNOCK)

    def knock(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt once a program is waited for, which is then killed with all its children."""
        if _waits(frame):
            raise KeyboardInterrupt


def _waits(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not processes._attend.__code__:
        frame = frame.f_back
    return frame is not None


@contextmanager
def patient(say: Callable[[str], object], is_urgent: Callable[[], bool]) -> Iterator[Wish]:
    """Turn the first interrupt into a wish and the second into KeyboardInterrupt; an urgent one is like the second.

    `say` is called in a signal handler, and may use no lock and no buffer.
    """
    wish = Wish()

    def hear(number: int, frame: FrameType | None) -> None:
        if wish.asked or is_urgent():
            wish.stop_at_once(frame)
        else:
            wish.asked = True
            say("finishing the running cycle; once more stops at once")

    with _hearing(wish, hear):
        yield wish


@contextmanager
def prompt() -> Iterator[None]:
    """Turn an interrupt into KeyboardInterrupt, which comes at the end at the latest."""
    wish = Wish()
    with _hearing(wish, lambda number, frame: wish.stop_at_once(frame)):
        yield
    if wish.asked:
        raise KeyboardInterrupt


@contextmanager
def _hearing(wish: Wish, hear: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Hear the signals, and in the end leave each to whom it was left before."""
    heard = dict.fromkeys(list_signals(), hear)
    if hasattr(signal, "setitimer"):
        heard[signal.SIGALRM] = wish.knock
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        if wish.urgent is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it was obeyed: who presses on must not cut the end short
