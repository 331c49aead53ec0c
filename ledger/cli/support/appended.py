"""The report on what was appended to a log: one line, every few runs the table, warnings, what the hook said."""

from typing import TYPE_CHECKING

import click

from ledger.base.text import plain
from ledger.cli.support.output import heard, shown, stdout_text
from ledger.log.events import Run
from ledger.log.jsontext import dump
from ledger.loop.by_hand import Appended
from ledger.session.files import Session
from ledger.session.history import History
from ledger.telling.status import one_line

if TYPE_CHECKING:
    from ledger.cli.support.progress import ProgressLine

TABLE_EVERY = 5
"""Runs between two tables of the segment."""


def entry_report(session: Session, entry: Appended, *, dry: bool, hooks: bool) -> None:
    """Print what was appended, and fire the after-hook for a run."""
    if dry:
        for record in entry.records:
            click.echo(dump(dict(record)), file=stdout_text())
    tell_warnings(session, entry)
    if entry.run is not None:
        _tell_run(session, entry, entry.run, hooks=hooks and not dry, table=not dry)
    elif not dry:
        last = entry.records[-1]
        what = str(last.get("state") or last.get("action") or last.get("event") or last.get("type"))
        click.echo(f"ledger: written to {shown(session.log)}: {plain(what)}", err=True)


def run_report(entry: Appended, session: Session, line: "ProgressLine", *, hooks: bool) -> None:
    """Print what an iteration logged, the progress line away."""
    with line.away(), heard():
        tell_warnings(session, entry)
        if entry.run is None:
            click.echo(f"ledger: the history says {entry.history.state.status} now", err=True)
        else:
            _tell_run(session, entry, entry.run, hooks=hooks, table=entry.run.run != 0)


def tell_warnings(session: Session, entry: Appended) -> None:
    """Tell on stderr what the rules say of what was appended."""
    for found in entry.warnings:
        where = f"{shown(session.log)}:{found.line}:{found.column}"
        click.echo(f"{where}: {found.code} {plain(found.message)}", err=True)
    if entry.problem:
        click.echo(f"ledger: {entry.problem}", err=True)


def tell_hook(session: Session, history: History, stage: str) -> None:
    """Fire the hook of a stage and print what it says to the agent; what went wrong goes to stderr."""
    if not session.hook(stage).exists():
        return
    from ledger.loop.driving.hooks import fire

    fired = fire(session, history, stage)
    if fired and fired.text:
        lines = fired.text.rstrip("\n").split("\n")
        click.echo("\n".join(map(plain, lines)), file=stdout_text())  # so it cannot steer the terminal
    if fired and fired.problem:
        click.echo(f"ledger: {plain(fired.problem)}", err=True)


def _tell_run(session: Session, entry: Appended, run: Run, *, hooks: bool, table: bool) -> None:
    """Print the line of a run, fire its after-hook, and every few runs print the table of the segment."""
    segment = entry.history.state.current()
    click.echo(one_line(run, segment.metric_name, segment.baseline), file=stdout_text())
    if hooks:
        tell_hook(session, entry.history, "after")
    if table and segment.runs % TABLE_EVERY == 0:
        from ledger.telling.run_table import segment_table

        click.echo(segment_table(entry.history), file=stdout_text(), nl=False)
