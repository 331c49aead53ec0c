"""What would put a log right: a numbered plan of fixes, and what no machine can fix."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.log.diagnostics import Applicability, Diagnostic, Fix
from ledger.repair.fixer import Options, Proposal
from ledger.repair.fixers import CODES, FIXERS
from ledger.repair.log_text import Text
from ledger.rules import RULES


class Item(NamedTuple):
    """Hold one fix of a plan with the findings that it is for, in line order; `number` counts from 1."""

    number: int
    found: tuple[Diagnostic, ...]
    fix: Fix

    @property
    def line(self) -> int:
        """The line of its first finding."""
        return self.found[0].line

    @property
    def what(self) -> tuple[object, ...]:
        """What tells it from an item of another plan that has its number."""
        return self.number, self.line, *self.codes, self.fix.description

    @property
    def codes(self) -> list[str]:
        """The codes of its findings, each once."""
        return list(dict.fromkeys(one.code for one in self.found))


class RepairPlan(NamedTuple):
    """Hold what can be done about a log of exactly these bytes; `left` are the findings that no item is for."""

    sha256: str
    size: int
    dialect: str | None
    options: Options
    items: list[Item]
    left: list[Diagnostic]


def propose(text: Text, found: Iterable[Diagnostic], options: Options) -> list[Proposal]:
    """Ask the fixers about findings in the log itself: a finding goes to the first that has a fix for it."""
    open_ones = [one for one in found if one.source is None]
    made: list[Proposal] = []
    for codes, ask in FIXERS:
        if wanted := [one for one in open_ones if one.code in codes]:
            proposals = list(ask(text, wanted, options))
            settled = {one for proposal in proposals for one in proposal.found}
            open_ones = [one for one in open_ones if one not in settled]
            made += proposals
    return sorted(made, key=lambda proposal: (proposal.found[0].line, proposal.found[0].column))


def make_plan(text: Text, found: Sequence[Diagnostic], options: Options) -> RepairPlan:
    """Plan the repair of a log with these findings; what a person accepted is left as it is."""
    wanted = [one for one in found if one.accepted is None]
    items = [Item(number, *proposal) for number, proposal in enumerate(propose(text, wanted, options), 1)]
    fixed = {one for item in items for one in item.found}
    left = [one for one in wanted if one not in fixed]
    digest = hashlib.sha256(text.data).hexdigest()
    return RepairPlan(digest, len(text.data), text.dialect, options, items, left)


def foreign(plan: RepairPlan, own: RepairPlan) -> Item | None:
    """Give the first item of a plan that is not in the one that is made here; None if it holds nothing else."""
    known = {_content(item) for item in own.items}
    return next((item for item in plan.items if _content(item) not in known), None)


def _content(item: Item) -> tuple[object, ...]:
    return tuple((one.code, one.line) for one in item.found), item.fix.applicability, item.fix.edits


def with_fixes(text: Text, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Give a log's findings, each with its fix if it has one; without, if the log is no longer what it was."""
    if [one._replace(accepted=None) for one in found] != text.diagnostics:
        return list(found)
    fixes = {one: item.fix for item in make_plan(text, found, Options()).items for one in item.found}
    return [one._replace(fix=fixes.get(one)) for one in found]


def fixable(found: Iterable[Diagnostic]) -> bool:
    """Tell whether any finding may have a fix, so that looking for one is worth reading the log again."""
    return any(one.code in CODES and one.source is None and one.accepted is None for one in found)


def safe_items(plan: RepairPlan) -> list[Item]:
    """Choose the items that lose nothing."""
    return [item for item in plan.items if item.fix.applicability is Applicability.SAFE]


def select(plan: RepairPlan, words: Iterable[str]) -> list[Item]:
    """Choose items by number, code or group of codes (`L1`). Raises LedgerError for a word that can mean none."""
    chosen: set[int] = set()
    for word in _words(words):
        if _is_number(word):
            numbers = {item.number for item in plan.items if item.number == int(word)}
        else:
            numbers = {item.number for item in plan.items if any(code.startswith(word) for code in item.codes)}
        if not numbers and not any(code.startswith(word) for code in RULES):
            raise LedgerError(f"the plan has no item {word}, and no rule a code like it; ledger repair shows the plan")
        chosen |= numbers
    return [item for item in plan.items if item.number in chosen]


def has_numbers(words: Iterable[str]) -> bool:
    """Tell whether any of these words is the number of an item, which means nothing in another plan."""
    return any(_is_number(word) for word in _words(words))


def _words(texts: Iterable[str]) -> Iterator[str]:
    return (part.strip().upper() for text in texts for part in text.split(",") if part.strip())


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def advice(code: str) -> str:
    """Say what a person can do about a finding that has no fix, by its rule's documentation."""
    fix = " ".join(RULES[code].doc.partition("Fix:")[2].split()) if code in RULES else ""
    _, by_hand, rest = fix.partition("none by machine")
    return rest.lstrip(":;. ") if by_hand else fix
