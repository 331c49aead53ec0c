"""`verdict`: whether the loop may go on, for a shell."""

import click
import orjson

from ledger.base.times import now_ms
from ledger.cli.support.log_argument import session_of
from ledger.cli.support.options import dialect_option, format_option, limit_option
from ledger.cli.support.output import end_by_errors, heard
from ledger.fold.verdict import lines
from ledger.reading.whole_log import read_log
from ledger.session.standing import judge_session


@click.command()
@click.argument("log", required=False)
@limit_option
@dialect_option
@format_option("env", "json", default="env")
def verdict(log: str | None, max_iterations: int | None, dialect: str | None, format_name: str) -> None:
    """Say whether the loop may go on, in six lines for a shell.

    If the log has errors, they go to stderr and the exit status is 1: a loop must stop there.

    \b
    Example:
      ledger verdict .auto/log.jsonl --max-iterations 50
    """
    session = session_of(log)
    read = read_log(session and session.log, dialect)
    found = judge_session(read.state, session, max_iterations, now_ms())
    with heard():
        click.echo(orjson.dumps(found._asdict()).decode() + "\n" if format_name == "json" else lines(found), nl=False)
    end_by_errors(read)
