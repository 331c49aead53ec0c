"""`verdict` and `status`: how a session stands, straight from its log."""

import sys
from pathlib import Path

import click
import orjson

from ledger.base.times import now_ms
from ledger.cli.support.options import dialect_option, format_option, heard, one_log, shown, stdout_text
from ledger.cli.support.output import screen_of
from ledger.fold.verdict import Verdict, judge, lines
from ledger.log.source import STDIN
from ledger.reading.whole_log import Log, read_log
from ledger.session.files import Session, here, of_log
from ledger.session.standing import judge_session
from ledger.telling import findings
from ledger.telling.status import status as status_text


def _judge(log: Log, session: Session | None, max_iterations: int | None) -> Verdict:
    if session is None:
        return judge(log.state, max_iterations, now_ms())
    return judge_session(log.state, session, max_iterations, now_ms())


def _read(log: str | None, dialect: str | None) -> tuple[Log, Session | None]:
    """Read a log and find its session; standard input has none."""
    if log is None:
        session = here(Path.cwd())
        return read_log(session.log, dialect), session
    path = one_log(log)
    return read_log(path, dialect), None if path is None else of_log(path)


@click.command()
@click.argument("log", required=False)
@click.option(
    "--max-iterations", type=click.IntRange(min=0), metavar="N", help="Stop after N runs of the segment; 0: no limit."
)
@dialect_option
@format_option("env", "json", default="env")
def verdict(log: str | None, max_iterations: int | None, dialect: str | None, format_name: str) -> None:
    """Say whether the loop may go on, in six lines for a shell.

    If the log has errors, they go to stderr and the exit status is 1: a loop must stop there.

    \b
    Example:
      ledger verdict .auto/log.jsonl --max-iterations 50
    """
    read, session = _read(log, dialect)
    found = _judge(read, session, max_iterations)
    with heard():
        click.echo(orjson.dumps(found._asdict()).decode() + "\n" if format_name == "json" else lines(found), nl=False)
    if not read.ok:
        for line in findings.lines_of(read.path, [found for found in read.diagnostics if found.is_error]):
            click.echo(line, err=True)
        name = shown(read.path or STDIN)
        click.echo(f"ledger: {name} has errors; the loop must stop until they are repaired", err=True)
    sys.exit(0 if read.ok else 1)


@click.command()
@click.argument("log", required=False)
@dialect_option
def status(log: str | None, dialect: str | None) -> None:
    """Show how a session stands: goal, metric, runs, best, streak, verdict, last runs.

    The trend is the metric of each run of the segment, from its lowest to its highest value; × is a crash. On a
    terminal, colour tells statuses and confidences apart, unless NO_COLOR is set.

    \b
    Example:
      ledger status .auto/log.jsonl
    """
    from ledger.loop.driving.at_work import state_of

    read, session = _read(log, dialect)
    live = {} if session is None else state_of(session, now_ms())
    text = status_text(read, _judge(read, session, None), None, now_ms(), live, screen_of(sys.stdout))
    click.echo(text, file=stdout_text(), nl=False)
