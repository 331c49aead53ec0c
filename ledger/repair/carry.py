"""A plan's items carried out on a log in memory, and the result judged before anything is written."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ledger.diagnostics import Diagnostic, Severity
from ledger.repair.edits import Lineage, apply_edits, fitting
from ledger.repair.fixers import Options
from ledger.repair.plan import Item, propose
from ledger.repair.text import Text

_ROUNDS = 50
_ABOUT_THE_WHOLE = frozenset(("S400", "S401", "E354", "E355"))


class Outcome(NamedTuple):
    """Hold what a repair comes to; `before` is the log that it began with.

    `done` are the items carried out, `left` those that another one made needless or impossible. `worse` are findings
    that forbid it; `revealed` are warnings that an error had hidden. `refusal` says why it is not to be made, if so.
    """

    before: Text
    text: Text
    done: list[Item]
    left: list[Item]
    worse: list[Diagnostic]
    revealed: list[Diagnostic]
    refusal: str | None


def carry_out(text: Text, items: Sequence[Item], options: Options) -> Outcome:
    """Carry items out, those that touch one another in rounds: what waits is planned anew, where it came to stand."""
    if not items:
        return Outcome(text, text, [], [], [], [], None)
    now, waiting, done = text, list(items), []
    lineage = Lineage(text.lines)
    for _ in range(_ROUNDS):
        edits, chosen, waiting = fitting((item, item.fix) for item in waiting)
        if not chosen:
            break
        after = now.changed(apply_edits(now.data, edits))
        lineage.follow(now.starts, edits, after.starts)
        done += chosen
        now = after
        wanted = {(lineage.group(one.line), one.code): item for item in waiting for one in item.found}
        again: list[Item] = []
        for proposal in propose(now, now.diagnostics, options) if wanted else ():
            asked = (wanted.get((lineage.of(one.line), one.code)) for one in proposal.found)
            if (item := next(filter(None, asked), None)) is not None:
                again.append(item._replace(fix=proposal.fix))
        waiting = again
    numbers = {item.number for item in done}
    left = [item for item in items if item.number not in numbers]
    return _judge(text, now, lineage)._replace(done=_distinct(done), left=left)


def _distinct(items: list[Item]) -> list[Item]:
    return sorted({item.number: item for item in reversed(items)}.values(), key=lambda item: item.number)


def _judge(before: Text, after: Text, lineage: Lineage) -> Outcome:
    """Compare the findings: none may be new and there must be fewer.

    Where an error is gone, the warnings and infos that it kept from being seen are no new ones; errors always are.
    """
    old = Counter(_key(one, lineage.group(one.line)) for one in before.diagnostics)
    fresh: list[Diagnostic] = []
    for one in after.diagnostics:
        key = _key(one, lineage.of(one.line))
        old[key] -= 1
        if old[key] < 0:
            fresh.append(one)
    fewer_errors = _errors(after) < _errors(before)
    worse = [one for one in fresh if one.severity is Severity.ERROR or not fewer_errors]
    revealed = [] if len(worse) == len(fresh) else [one for one in fresh if one.severity is not Severity.ERROR]
    refusal = None
    if after.dialect != before.dialect and before.dialect is not None:
        refusal = "the log would speak another protocol afterwards"
    elif worse:
        refusal = "the log would have new findings afterwards"
    elif not fewer_errors and len(after.diagnostics) >= len(before.diagnostics):
        refusal = "the log would have no fewer findings afterwards"
    return Outcome(before, after, [], [], worse, revealed, refusal)


def _key(one: Diagnostic, line: int) -> tuple[str, int, str | None]:
    whole = one.code in _ABOUT_THE_WHOLE or one.source is not None
    return one.code, one.line if one.source else 0 if whole else line, one.source


def _errors(text: Text) -> int:
    return sum(one.severity is Severity.ERROR for one in text.diagnostics)
