"""`decide`: a decision about a result, appended by hand."""

import click

from ledger.base.times import now_ms
from ledger.cli.support import values
from ledger.cli.support.appended import entry_report
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import dry_option, log_option


@click.command()
@click.argument("run", type=click.IntRange(min=1))
@click.argument("action", type=click.Choice(("keep", "discard", "baseline", "stop")))
@click.option("--reason", type=values.TEXT, required=True, metavar="TEXT", help="Why.")
@dry_option
@log_option
def decide(run: int, action: str, reason: str, dry_run: bool, log: str | None) -> None:
    """Append a decision about a result of a state-protocol log.

    \b
    Example:
      ledger decide 2 keep --reason "median improved 8 % and the tests passed"
    """
    from ledger.loop.by_hand import decide as append

    session = session_at_work(log)
    entry_report(session, append(session, run, action, reason, now_ms(), dry=dry_run), dry=dry_run, hooks=False)
