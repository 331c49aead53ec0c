"""A plan's items carried out on a log in memory, and the result judged before anything is written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ledger.log.diagnostics import Diagnostic, Severity
from ledger.reading.accepted import Acceptance, Key
from ledger.repair.edits import Lineage, apply_edits, fitting
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import Item, propose
from ledger.repair.repairs_made import sha256

_ROUNDS = 50
_ABOUT_THE_WHOLE = frozenset(("S400", "S401", "E354", "E355"))
_HIDES_NOTHING = frozenset(("L102", "L114", "L119"))
"""Errors of a line that has no record, or whose record is read all the same."""


class FixedLog(NamedTuple):
    """Hold what a repair comes to; `before` is the log that it began with.

    `done` are the items carried out, `left` those that another one made needless or impossible. `worse` are findings
    that forbid it; `revealed` are those that an error had hidden. `refusal` says why it is not to be made, if so.
    """

    before: Text
    text: Text
    done: list[Item]
    left: list[Item]
    worse: list[Diagnostic]
    revealed: list[Diagnostic]
    refusal: str | None


def carry_out(text: Text, items: Sequence[Item], options: Options) -> FixedLog:
    """Carry items out, those that touch one another in rounds: what waits is planned anew, where it came to stand."""
    if not items:
        return FixedLog(text, text, [], [], [], [], None)
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
        wanted = {_key(one, lineage.group(one.line)): item for item in waiting for one in item.found}
        again: list[Item] = []
        for proposal in propose(now, now.diagnostics, options) if wanted else ():
            asked = (wanted.get(_key(one, lineage.of(one.line))) for one in proposal.found)
            if (item := next(filter(None, asked), None)) is not None:
                again.append(item._replace(fix=proposal.fix))
        waiting = again
    numbers = {item.number for item in done}
    left = [item for item in items if item.number not in numbers]
    distinct = sorted({item.number: item for item in reversed(done)}.values(), key=lambda item: item.number)
    return _judge(text, now, lineage)._replace(done=distinct, left=left)


def _judge(before: Text, after: Text, lineage: Lineage) -> FixedLog:
    """Compare the findings: none may be new and there must be fewer.

    What an error kept from being seen is no new finding: warnings and infos where an error is gone, and errors where a
    record that could not be read is read now, or is gone. These are its own, and those at the log's beginning and end.
    """
    old = Counter(_key(one, lineage.group(one.line)) for one in before.diagnostics)
    fresh: list[Diagnostic] = []
    for one in after.diagnostics:
        key = _key(one, lineage.of(one.line))
        old[key] -= 1
        if old[key] < 0:
            fresh.append(one)
    cleared = {lineage.group(line) for line in _unread(before)} - {lineage.of(line) for line in _unread(after)}
    better = bool(cleared) or _errors(after) < _errors(before)
    worse = [one for one in fresh if not (_was_hidden(one, lineage, cleared) if one.is_error else better)]
    forbidding = set(worse)
    revealed = [one for one in fresh if one not in forbidding]
    refusal = None
    if after.dialect != before.dialect and before.dialect is not None:
        refusal = "the log would speak another protocol afterwards"
    elif worse:
        refusal = "the log would have new findings afterwards"
    elif not better and len(after.diagnostics) >= len(before.diagnostics):
        refusal = "the log would have no fewer findings afterwards"
    return FixedLog(before, after, [], [], worse, revealed, refusal)


def _unread(text: Text) -> set[int]:
    """Give the lines that may hold records which cannot be read."""
    errors = (one for one in text.diagnostics if one.is_error and one.code.startswith("L"))
    return {one.line for one in errors if one.code not in _HIDES_NOTHING}


def _was_hidden(one: Diagnostic, lineage: Lineage, cleared: set[int]) -> bool:
    """Tell whether an error could not be seen while these lines were unread; a replay that breaks is never taken so."""
    if one.code in _ABOUT_THE_WHOLE:
        return bool(cleared) and one.code != "S400"
    return one.code[0] in "LRS" and lineage.of(one.line) in cleared


def _key(one: Diagnostic, line: int) -> tuple[str, int, str | None]:
    whole = one.code in _ABOUT_THE_WHOLE or one.source is not None
    return one.code, one.line if one.source else 0 if whole else line, one.source


def _errors(text: Text) -> int:
    return sum(one.severity is Severity.ERROR for one in text.diagnostics)


def ended_decisions(decisions: Mapping[Key, Acceptance], outcome: FixedLog) -> list[Diagnostic]:
    """Give the findings that these decisions were about before a repair, and are not any more.

    Each decision is bound to the content of a line.
    """
    before = _standing(decisions, outcome.before)
    still = _standing(decisions, outcome.text)
    return [one for key, one in before.items() if key not in still]


def _standing(decisions: Mapping[Key, Acceptance], text: Text) -> dict[Key, Diagnostic]:
    codes = {key.code for key in decisions}
    asked = (one for one in text.diagnostics if one.code in codes and one.source is None)
    found = {Key(one.code, None, sha256(text.line(one.line) if one.line else text.data)): one for one in asked}
    return {key: one for key, one in found.items() if key in decisions}
