"""Ctrl-C, twice: the first asks the loop to stop after its cycle, the second stops it at once."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Wish:
    """Tell whether the user asked to stop; `at_once` makes the next signal one that interrupts."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def patient(say: Callable[[str], object], is_urgent: Callable[[], bool]) -> Iterator[Wish]:
    """Turn the first interrupt into a wish and the second into KeyboardInterrupt; an urgent one interrupts at once."""
    wish = Wish()

    def hear(number: int, frame: FrameType | None) -> None:
        if wish.asked or is_urgent():
            raise KeyboardInterrupt
        wish.asked = True
        say("finishing the running cycle; once more stops at once")

    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
