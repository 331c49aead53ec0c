"""`status`: how a session stands, straight from its log."""

import sys

import click

from ledger.base.times import now_ms
from ledger.cli.support.log_argument import session_of
from ledger.cli.support.options import dialect_option
from ledger.cli.support.output import screen_of, stdout_text
from ledger.reading.whole_log import read_log
from ledger.session.standing import judge_session
from ledger.telling.status import status as status_text


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
    from ledger.loop.driving.at_work import live_lines

    session = session_of(log)
    read = read_log(session and session.log, dialect)
    verdict = judge_session(read.state, session, None, now_ms())
    live = {} if session is None else live_lines(session, now_ms())
    text = status_text(read, verdict, now_ms(), live, screen_of(sys.stdout))
    click.echo(text, file=stdout_text(), nl=False)
