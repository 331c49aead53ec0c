"""A plan as a person reads it in the terminal."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ledger.base.paths import show_path, visible
from ledger.base.text import cut, near, plain
from ledger.repair.diff import unified
from ledger.repair.log_text import Text
from ledger.repair.plan import Item, RepairPlan, advice

_WIDEST = 600
_MOST_LINES = 60


def plan_lines(log: Path, plan: RepairPlan, text: Text) -> Iterator[str]:
    """Yield a plan's items with their diffs, then what has no fix, with what a person can do about it."""
    name = near(show_path(log))
    if not plan.items and not plan.left:
        yield f"{name}: nothing to repair"
        return
    fixed = sum(len(item.found) for item in plan.items)
    yield f"{name}: {fixed} of {fixed + len(plan.left)} findings can be repaired"
    for item in plan.items:
        yield ""
        yield from item_lines(item, text)
    if plan.left:
        yield ""
        yield "without a mechanical fix:"
    said = ""
    for one in plan.left:
        yield f"  {one.line}:{one.column}: {one.code} {plain(one.message)}"
        if (what := advice(one.code)) and one.code != said:
            yield f"    what can be done: {what}"
        said = one.code


def item_lines(item: Item, text: Text) -> Iterator[str]:
    """Yield an item with its diff, shortened where it is long; a plan file has all of it."""
    where = f"line {item.line}" if len(item.found) == 1 else f"line {item.line}, {len(item.found)} findings"
    what = plain(item.fix.description)
    yield f"{item.number}. {', '.join(item.codes)} {where} ({item.fix.applicability.value}): {what}"
    lines = unified(text, item.fix.edits)
    for line in islice(lines, _MOST_LINES):
        yield cut(visible(line), _WIDEST)
    if rest := sum(1 for _ in lines):
        yield f"… {rest:,} more lines; --plan FILE writes them all"


def context_lines(item: Item, text: Text, around: int = 8) -> Iterator[str]:
    """Yield the lines around an item's first finding, each with its number."""
    first, last = max(1, item.line - around), min(text.lines, item.line + around)
    for number in range(first, last + 1):
        mark = ">" if number == item.line else " "
        yield f"{mark} {number}: {cut(visible(text.line(number).decode('utf-8', 'backslashreplace')), _WIDEST)}"
