"""`repair`: what would put a log right, and doing it once a person said so."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.base.text import counted
from ledger.cli.support.item_choice import WAYS, pick
from ledger.cli.support.log_argument import one_log
from ledger.cli.support.options import db_option, dialect_option
from ledger.cli.support.output import heard, shown, stdout_text, write_bytes
from ledger.cli.support.overwriting import check_overwriting
from ledger.log.source import STDIN
from ledger.reading import accepted
from ledger.reading.side_files import mode_beside
from ledger.repair import apply, plan_shown
from ledger.repair.carried_out import FixedLog, ended_decisions
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import Item, RepairPlan, foreign, has_numbers, make_plan, safe_items, select
from ledger.repair.plan_file import plan_bytes, read_plan
from ledger.repair.repairs_made import backup_of
from ledger.telling import findings


@click.command()
@click.argument("log", required=False)
@click.option("--plan", metavar="FILE", help="Write the plan as JSON, for --apply.")
@click.option("--apply", metavar="FILE", help="Carry out all items of a plan that --plan wrote.")
@click.option("--safe", is_flag=True, help="Carry out the safe items, after asking you.")
@click.option("--select", multiple=True, metavar="ITEMS", help="Carry out these items: numbers, codes or groups (L1).")
@click.option("--review", is_flag=True, help="Ask about one item after the other.")
@click.option("--undo", is_flag=True, help="Bring back what the log was before its last repair.")
@click.option("--yes", is_flag=True, help="With --safe: do not ask.")
@click.option("-o", "--output", metavar="FILE", help="Write the repaired log here, and leave the log as it is.")
@click.option("--metric", metavar="NAME", help="For a log without header: its metric.")
@click.option("--direction", type=click.Choice(["lower", "higher"]), help="For a log without header: which is better.")
@click.option("--name", metavar="TEXT", help="For a log without header: the session's name.")
@click.option("--unit", metavar="UNIT", help="For a log without header: the metric's unit.")
@click.option("--ours", "side", flag_value="ours", help="Keep our side of git conflicts, not both.")
@click.option("--theirs", "side", flag_value="theirs", help="Keep their side of git conflicts, not both.")
@dialect_option
@db_option
def repair(log: str | None, undo: bool, output: str | None, dialect: str | None, db: str | None, **asked: Any) -> None:
    """Show what would put a log right; change it only if asked to.

    By itself it prints a numbered plan with diffs and changes nothing (exit 1 if the log has errors). A repair keeps
    the original beside the log as NAME.HASH.bak, and is written down in NAME.repairs.jsonl. The mirror follows.

    \b
    Example:
      ledger repair .auto/log.jsonl
      ledger repair --safe .auto/log.jsonl
      ledger repair --select L115,3 .auto/log.jsonl
      ledger repair --undo .auto/log.jsonl
    """
    way = _way({"undo": undo, "output": output, "dialect": dialect, "db": db, **asked})
    path = one_log(log)
    if path is None:
        raise click.UsageError("repair changes files; name a log, not standard input")
    if way == "undo":
        _undo(path, db)
        return
    text = Text.read(path, dialect)
    plan = _read_plan(path, text, Path(asked["apply"])) if way == "apply" else _plan(path, text, asked)
    if way in ("dry run", "plan"):
        _show(path, text, plan, asked["plan"])
    items = pick(path, text, plan, way, asked)
    if output is not None:
        sys.exit(_elsewhere(path, plan, items, dialect, output))
    sys.exit(_repair(path, plan, items, dialect, db, asked))


def _way(asked: dict[str, Any]) -> str:
    """Find the one thing that is asked for. Raises UsageError for two of them, or an option that is for another."""
    given = {name for name, value in asked.items() if value not in (None, False, ())}
    chosen = [way for way in ("undo", "plan", *WAYS) if way in given]
    if len(chosen) > 1:
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} are two different things; use one of them")
    way = chosen[0] if chosen else "dry run"
    for name in sorted(given & _MEANT.keys()):
        if way not in _MEANT[name] or (name == "db" and "output" in given):
            option = {"output": "-o", "side": f"--{asked['side']}"}.get(name, f"--{name}")
            ways = ", ".join("a plan" if one == "dry run" else f"--{one}" for one in _MEANT[name])
            where = "without -o" if way in _MEANT[name] else f"with {ways}"
            raise click.UsageError(f"{option} means something only {where}")
    if way == "select" and not any(text.strip(" ,") for text in asked["select"]):
        raise click.UsageError("--select takes codes or numbers of items; ledger repair shows them")
    if not given.isdisjoint(("name", "unit", "metric", "direction")) and not {"metric", "direction"} <= given:
        raise click.UsageError("a header needs both --metric and --direction")
    return way


_PLANNING = ("dry run", "plan", "safe", "select", "review")
_MEANT = {
    "yes": ("safe",), "output": WAYS, "db": (*WAYS, "undo"),
    **dict.fromkeys(("dialect", "metric", "direction", "name", "unit", "side"), _PLANNING),
}  # fmt: skip
"""The ways in which an option means something; a plan that is applied says by itself what it was made with."""


def _read_plan(path: Path, text: Text, file: Path) -> RepairPlan:
    """Read a plan; it is for a person to take items out of, and not to bring in what no fixer made."""
    plan = read_plan(file)
    if apply.is_for(plan, text):
        text = text if text.dialect == plan.dialect else Text.read(path, plan.dialect)
        own = make_plan(text, accepted.mark(path, text.diagnostics), plan.options)
        if (item := foreign(plan, own)) is not None:
            raise LedgerError(
                f"item {item.number} of {shown(file)} is not what this version plans for {shown(path)} by now; make the"
                " plan again, and take out whole items only"
            )
    return plan


def _plan(path: Path, text: Text, asked: dict[str, Any]) -> RepairPlan:
    said = {name: asked[name] for name in Options._fields if asked.get(name) is not None}
    return make_plan(text, accepted.mark(path, text.diagnostics), Options(**said))


def _anew(path: Path, seen: RepairPlan, asked: dict[str, Any], text: Text) -> apply.Choice:
    """Plan for a log that was written to since, and pick the same; numbers must mean the items that they meant."""
    plan = _plan(path, text, asked)
    if not asked["select"]:
        return plan, safe_items(plan)
    items = select(plan, asked["select"])
    if has_numbers(asked["select"]) and [item.what for item in items] != [
        item.what for item in select(seen, asked["select"])
    ]:
        raise LedgerError(
            f"{shown(path)} has changed, and its plan has other numbers; see ledger repair, or select codes"
        )
    return plan, items


def _show(path: Path, text: Text, plan: RepairPlan, plan_file: str | None) -> None:
    """Print the plan, or write it to a file, and exit as a dry run does."""
    with heard():
        if plan_file == STDIN:
            write_bytes(None, [plan_bytes(plan, path, text)])
        elif plan_file is not None:
            if canonical(Path(plan_file)) == path:
                raise LedgerError("the plan would replace the log itself; give --plan another file")
            check_overwriting(Path(plan_file))
            write_bytes(Path(plan_file), [plan_bytes(plan, path, text)], mode_beside(path))
            count = counted(len(plan.items), "item")
            verb = "is" if len(plan.items) == 1 else "are"
            click.echo(f"{count} {verb} planned in {shown(plan_file)}; nothing was changed", err=True)
        else:
            for line in plan_shown.plan_lines(path, plan, text):
                click.echo(line, file=stdout_text())
            if plan.items:
                click.echo("\nnothing was changed; --safe, --select, --review or --apply does that", err=True)
    sys.exit(_status(path, text))


def _status(path: Path, text: Text) -> int:
    return int(any(one.is_error for one in accepted.mark(path, text.diagnostics)))


def _repair(
    path: Path, plan: RepairPlan, items: list[Item], dialect: str | None, db: str | None, asked: dict[str, Any]
) -> int:
    """Make the repair, and give the exit status: 1 if it was not made, or errors are left."""
    again = partial(_anew, path, plan, asked) if asked["select"] or asked["yes"] else None
    outcome = apply.repair(path, plan, items, dialect, again)
    if not _told(path, outcome):
        return 1
    if outcome.before.data == outcome.text.data:
        click.echo(f"{shown(path)}: nothing was changed", err=True)
        return _status(path, outcome.text)
    backup = shown(backup_of(path, outcome.before.data))
    with heard():
        click.echo(f"repaired {shown(path)}: {counted(len(outcome.done), 'item')}; the original is {backup}")
    for one in ended_decisions(accepted.read(path), outcome):
        click.echo(
            f"warning: {one.code} was accepted of line {one.line}, which is another one now; see ledger check", err=True
        )
    _follow(path, db)
    left = _status(path, outcome.text)
    if left:
        click.echo(f"errors are left in {shown(path)}; see ledger check", err=True)
    return left


def _elsewhere(path: Path, plan: RepairPlan, items: list[Item], dialect: str | None, output: str) -> int:
    """Write the repaired log to another file."""
    outcome = apply.repaired(path, plan, items, dialect)
    if not _told(path, outcome):
        return 1
    if output == STDIN:
        sys.stdout.buffer.write(outcome.text.data)
    elif canonical(Path(output)) == path:
        raise LedgerError("-o names the log itself; leave it out to repair the log in its place")
    else:
        check_overwriting(Path(output), path)
        write_bytes(Path(output), [outcome.text.data], mode_beside(path))
        click.echo(f"wrote {shown(output)}; {shown(path)} is as it was", err=True)
    return _status(path, outcome.text)


def _told(path: Path, outcome: FixedLog) -> bool:
    """Say what a repair brings about beside what it fixes; false if it is not made."""
    for line in findings.lines_of(path, outcome.worse or outcome.revealed):
        click.echo(line, err=True)
    if outcome.refusal is not None:
        click.echo(f"ledger: {outcome.refusal}, so nothing was changed", err=True)
    elif outcome.revealed:
        click.echo("an error had hidden these findings from view", err=True)
    for item in outcome.left:
        click.echo(f"item {item.number} was left out: another one changed what it was for", err=True)
    return outcome.refusal is None


def _undo(path: Path, db: str | None) -> None:
    """Take the last repair back."""
    backup = apply.undo(path)
    with heard():
        click.echo(f"{shown(path)} is again what it was before its last repair, from {shown(backup)}")
    _follow(path, db)


def _follow(path: Path, db: str | None) -> None:
    """Take the log's new content into the mirror, if that holds the log; trouble there is only a warning."""
    from ledger.cli.support.mirror import follow

    if (trouble := follow(path, db)) is not None:
        click.echo(f"warning: the mirror did not follow: {trouble}", err=True)
