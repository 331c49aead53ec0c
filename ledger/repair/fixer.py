"""What a fixer is: which findings it puts right, and by what edits of the log's bytes."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from ledger.log.diagnostics import Applicability, Diagnostic, Edit, Fix
from ledger.repair.log_text import Text

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


class Options(NamedTuple):
    """Hold what only a person can say: the header that a log lacks, and which side of git conflicts to take.

    `side` is `both`, `ours` or `theirs`.
    """

    metric: str | None = None
    direction: str | None = None
    name: str | None = None
    unit: str | None = None
    side: str = "both"


class Proposal(NamedTuple):
    """Say what would put findings right: all of them by one fix."""

    found: tuple[Diagnostic, ...]
    fix: Fix


Fixer = Callable[[Text, list[Diagnostic], Options], Iterator[Proposal]]

FIXERS: list[tuple[tuple[str, ...], Fixer]] = []
"""Every fixer with the codes it is for, in the order in which they are asked; the first to propose has a finding."""

CODES: set[str] = set()
"""The codes for which a fixer is registered."""


def fixer(*codes: str, also: tuple[str, ...] = ()) -> Callable[[Fixer], Fixer]:
    """Register the decorated function for these codes: it is given a log's findings of them, in line order.

    It proposes a fix only where the finding is one that it can put right. Findings of the codes `also` are what such
    a fault may bring about beside it.
    """

    def register(propose: Fixer) -> Fixer:
        FIXERS.append(((*codes, *also), propose))
        CODES.update(codes)
        return propose

    return register


def proposed(found: Diagnostic | tuple[Diagnostic, ...], how: Applicability, words: str, *edits: Edit) -> Proposal:
    """Make a proposal for one finding or several."""
    return Proposal((found,) if isinstance(found, Diagnostic) else found, Fix(how, words, edits))


def by_line(found: list[Diagnostic]) -> Iterator[tuple[int, list[Diagnostic]]]:
    """Group findings, which are in line order, by their line."""
    return ((line, list(group)) for line, group in groupby(found, lambda one: one.line))
