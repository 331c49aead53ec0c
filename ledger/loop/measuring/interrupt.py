"""Interrupts, heard where they do no harm: while a program is waited for, not in the middle of a git or an append."""

import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

FORCE = 2.0
"""Seconds after which one more interrupt is obeyed wherever it comes: something hangs, such as a hook of git's."""


def list_signals() -> list[signal.Signals]:
    """List the signals that interrupt; a hang-up that is ignored already, as nohup does, stays ignored."""
    heard = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        heard.append(signal.SIGHUP)
    return heard


class Wish:
    """Tell what the user asked for: to stop after the cycle (`asked`), and since when to stop at once (`urgent`).

    A handler of signals only notes it here. `woken` can be read from once there was a signal, so that who waits wakes.
    """

    def __init__(self, woken: socket.socket) -> None:
        self.asked = False
        self.urgent: float | None = None
        self.woken = woken

    def stop_at_once(self) -> None:
        """Note it for whoever waits for a program; raise KeyboardInterrupt here if nobody has heard it for long."""
        self.asked = True
        now = time.monotonic()
        if self.urgent is None:
            self.urgent = now
        elif now - self.urgent > FORCE:
            raise KeyboardInterrupt


_wishes: list[Wish] = []
"""The wish that is being heard, if any."""


def wake(waiting: selectors.BaseSelector) -> None:
    """Have a selector wake at a signal."""
    for wish in _wishes:
        waiting.register(wish.woken, selectors.EVENT_READ, "signal")


def obey() -> None:
    """Raise KeyboardInterrupt if the user wants to stop at once: a program is waited for, and no harm is done."""
    for wish in _wishes:
        with suppress(BlockingIOError):
            wish.woken.recv(64)
        if wish.urgent is not None:
            raise KeyboardInterrupt


@contextmanager
def patient(say: Callable[[str], object], is_urgent: Callable[[], bool]) -> Iterator[Wish]:
    """Turn the first interrupt into a wish and the second into KeyboardInterrupt; an urgent one is like the second.

    `say` is called in a signal handler, and may use no lock and no buffer.
    """

    def hear(wish: Wish) -> None:
        if wish.asked or is_urgent():
            wish.stop_at_once()
        else:
            wish.asked = True
            say("finishing the running cycle; once more stops at once")

    with _hearing(hear) as wish:
        yield wish


@contextmanager
def prompt() -> Iterator[None]:
    """Turn an interrupt into KeyboardInterrupt, which comes at the end at the latest."""
    with _hearing(Wish.stop_at_once) as wish:
        yield
    if wish.asked:
        raise KeyboardInterrupt


@contextmanager
def _hearing(hear: Callable[[Wish], object]) -> Iterator[Wish]:
    """Hear the signals, and in the end leave each to whom it was left before."""
    woken, waking = socket.socketpair()
    with woken, waking:
        for end in (woken, waking):
            end.setblocking(False)
        wish = Wish(woken)
        before = {number: signal.signal(number, lambda *_: hear(wish)) for number in list_signals()}
        descriptor = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        _wishes.append(wish)
        try:
            yield wish
        finally:
            _wishes.remove(wish)
            signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)
            if wish.urgent is not None:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # it was obeyed: who presses on must not cut the end short
