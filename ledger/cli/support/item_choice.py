"""How a person picks the items of a repair: by name, all that are safe, or one after the other."""

from pathlib import Path
from typing import Any

import click

from ledger.base.errors import LedgerError
from ledger.cli.support.output import stdout_text
from ledger.repair.log_text import Text
from ledger.repair.plan import Item, RepairPlan, safe_items, select
from ledger.repair.plan_shown import context_lines, item_lines, plan_lines

WAYS = ("apply", "safe", "select", "review")
"""The options that pick items to carry out."""

_HELP = (
    "y: repair it · n: leave it · s: skip this and all further items of its code · q: leave this and all that follow"
    " · c: show the lines around it"
)


def pick(path: Path, text: Text, plan: RepairPlan, way: str, asked: dict[str, Any]) -> list[Item]:
    """Give the items to carry out. Raises LedgerError if somebody has to be asked and nobody answers."""
    if way == "select":
        return select(plan, asked["select"])
    if way == "review":
        return _review(text, plan)
    if way == "safe":
        return _safe(path, text, plan, asked["yes"])
    return plan.items


def _safe(path: Path, text: Text, plan: RepairPlan, yes: bool) -> list[Item]:
    items = safe_items(plan)
    if items:
        for line in plan_lines(path, plan._replace(items=items, left=[]), text):
            click.echo(line, file=stdout_text())
        if not yes and _answer("\nRepair these? [y/N]", "n") not in ("y", "yes"):
            return []
    return items


def _review(text: Text, plan: RepairPlan) -> list[Item]:
    """Ask about one item after the other."""
    chosen: list[Item] = []
    skipped: set[str] = set()
    for item in plan.items:
        if skipped.issuperset(item.codes):
            continue
        click.echo("\n".join(("", *item_lines(item, text))), file=stdout_text())
        answer = _ask(item, text, len(plan.items))
        if answer == "y":
            chosen.append(item)
        elif answer == "s":
            skipped.update(item.codes)
        elif answer == "q":
            break
    return chosen


def _ask(item: Item, text: Text, count: int) -> str:
    while True:
        said = _answer(f"{item.number} of {count}: repair it? [y,n,s,q,c,?]", "")
        letter = "c" if said.startswith("show") else said[:1]
        if letter in ("y", "n", "s", "q"):
            return letter
        lines = context_lines(item, text) if letter == "c" else [_HELP]
        click.echo("\n".join(lines), file=stdout_text())


def _answer(question: str, default: str) -> str:
    try:
        return str(click.prompt(question, default=default, show_default=False, err=True)).strip().lower()
    except click.Abort as aborted:  # of the two that click makes one of, Ctrl-C is no answer either, but no mistake
        if isinstance(aborted.__context__, KeyboardInterrupt):
            raise
        raise LedgerError("nobody answered, so nothing was changed; --safe --yes and --select do not ask") from None
