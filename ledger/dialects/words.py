"""The words that differ by protocol: in the brief, the prompt, the advice, and where a session is over."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from ledger.base.numbers import Number, text

Quote = Callable[[str], str]
"""Puts a text of a log or a file into a page of Markdown."""


class TimeLimits(NamedTuple):
    """Hold the seconds that the settings give a measurement and its checks."""

    measurement: Number
    checks: Number


class Words(ABC):
    """Say what a protocol's loop is told, and told of, in its own words."""

    to_beat = "best kept run"
    """What a run has to beat."""

    failed_checks = "`checks_failed`"
    """What checks that fail make of a run."""

    how_to_measure = ""
    """How a session without scripts is measured, for its prompt."""

    scope_keeper = ""
    """What decides on the scope, if it is not the prompt; it begins a sentence."""

    how_to_end: str
    """How a session is ended, for who wants to archive it."""

    endings: ClassVar[Mapping[str, str]]
    """The status that a loop prints in the end, by how the session was concluded."""

    @abstractmethod
    def closed(self, how: str) -> str:
        """Say that the session is concluded, and the one way on that is left open."""

    @abstractmethod
    def report(self, verdict: str) -> str:
        """Say what to write down about a loop that the verdict stops."""

    def failures(self, stated: Mapping[str, Any], limits: TimeLimits, quote: Quote) -> Iterator[str]:
        """Yield what becomes of a measurement and of checks that fail; `stated` is the header or the configuration."""
        yield (
            f"A measurement that fails, or outlasts {text(limits.measurement)} s, is a crash; checks that fail, or"
            f" outlast {text(limits.checks)} s, make the run {self.failed_checks}. Both are reverted."
        )
