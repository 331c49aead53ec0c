"""`verdict` and `status`: how a session stands, straight from its log."""

import sys
import time

import click
import orjson

from ledger import render
from ledger.cli.options import dialect_option, format_option, heard, one_log, shown, stdout_text
from ledger.log import Log, read_log
from ledger.loop.settings import find, project_folder
from ledger.source import STDIN
from ledger.statustext import status as status_text
from ledger.verdict import Verdict, judge, lines


def _judge(log: Log, max_iterations: int | None) -> Verdict:
    if max_iterations is None and log.path is not None and "max_runs" not in log.state.current().settings:
        max_iterations = find(project_folder(log.path)).max_iterations
    return judge(log.state, max_iterations, time.time_ns() // 1_000_000)


@click.command()
@click.argument("log", required=False)
@click.option(
    "--max-iterations", type=click.IntRange(min=0), metavar="N", help="Stop after N runs of the segment; 0: no limit."
)
@dialect_option
@format_option("env", "json", default="env")
def verdict(log: str | None, max_iterations: int | None, dialect: str | None, format_name: str) -> None:
    """Say whether the loop may go on, in six lines for a shell.

    If the log has errors they go to stderr and the exit status is 1: a loop must stop there.

    \b
    Example:
      ledger verdict .auto/log.jsonl --max-iterations 50
    """
    read = read_log(one_log(log), dialect)
    found = _judge(read, max_iterations)
    with heard():
        click.echo(orjson.dumps(found._asdict()).decode() + "\n" if format_name == "json" else lines(found), nl=False)
    if not read.ok:
        for line in render.lines_of(read.path, [found for found in read.diagnostics if found.is_error]):
            click.echo(line, err=True)
        name = shown(read.path or STDIN)
        click.echo(f"ledger: {name} has errors; the loop must stop until they are repaired", err=True)
    sys.exit(0 if read.ok else 1)


@click.command()
@click.argument("log", required=False)
@dialect_option
def status(log: str | None, dialect: str | None) -> None:
    """Show how a session stands: goal, metric, runs, best, streak, verdict, last runs.

    \b
    Example:
      ledger status .auto/log.jsonl
    """
    read = read_log(one_log(log), dialect)
    text = status_text(read, _judge(read, None), None, time.time_ns() // 1_000_000)
    click.echo(text, file=stdout_text(), nl=False)
