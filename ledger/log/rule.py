"""What a rule is: a code, a name, a severity, what it reads, its documentation, and a function that yields findings.

Codes never change meaning and are never reused.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ledger.log.diagnostics import Finding, Severity

Findings = Iterator[Finding]
Check = Callable[..., Iterable[Finding]]

MOST_A_RECORD = 100
"""Findings of one rule about one record that are listed; whoever has more is told how many."""


class Rule(NamedTuple):
    """Hold a rule: `stage` is what it reads (`note`, `record`, `event`, `end`), `on` its subjects, which of these."""

    code: str
    name: str
    severity: Severity
    stage: str
    on: tuple[str, ...]
    check: Check

    @property
    def doc(self) -> str:
        """The documentation: what it does, why, an example, the fix."""
        return inspect.getdoc(self.check) or ""


RULES: dict[str, Rule] = {}
"""Every rule by its code, in order of registration."""


def rule(code: str, name: str, severity: Severity, stage: str, *on: str) -> Callable[[Check], Check]:
    """Register the decorated function as a rule. Raises ValueError for a code or name that is taken."""

    def register(check: Check) -> Check:
        if code in RULES or any(known.name == name for known in RULES.values()):
            raise ValueError(f"rule {code} {name} is registered twice")
        RULES[code] = Rule(code, name, severity, stage, on, check)
        index.cache_clear()
        return check

    return register


def by_code() -> list[Rule]:
    """List every rule in the order of its code."""
    return [RULES[code] for code in sorted(RULES)]


@cache
def index(stage: str) -> Mapping[str, tuple[Rule, ...]]:
    """Group a stage's rules by their subjects."""
    grouped: dict[str, tuple[Rule, ...]] = {}
    for known in RULES.values():
        for key in known.on if known.stage == stage else ():
            grouped[key] = (*grouped.get(key, ()), known)
    return grouped


def rules_on(stage: str, subjects: Iterable[str]) -> tuple[Rule, ...]:
    """List a stage's rules on any of these subjects, in the order of their codes."""
    grouped = index(stage)
    return tuple(sorted({known for subject in subjects for known in grouped.get(subject, ())}))


def run_rules(rules: Iterable[Rule], *arguments: Any) -> list[tuple[Rule, Finding]]:
    """Apply rules to the same arguments and collect what they find, of each rule no more than MOST_A_RECORD."""
    found: list[tuple[Rule, Finding]] = []
    for known in rules:
        full, more = len(found) + MOST_A_RECORD, 0
        for finding in known.check(*arguments):
            if len(found) < full:
                found.append((known, finding))
            else:
                more += 1
        if more:
            last = found[-1][1]
            found[-1] = known, last._replace(message=last.message + left_out(more))
    return found


def left_out(count: int) -> str:
    """Say behind a finding how many more like it there are."""
    return f"; {count:,} more like it are not listed"
