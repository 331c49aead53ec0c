"""`mark`: a state of the session, appended by hand."""

import click

from ledger.base.times import now_ms
from ledger.cli.support import values
from ledger.cli.support.appended import entry_report
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import dry_option, log_option


@click.command()
@click.argument("state", metavar="STATE")
@click.option("--backstop-ack", type=click.IntRange(min=0), metavar="N", help="With running: go on past N runs.")
@click.option("--reason", type=values.TEXT, metavar="TEXT", help="Why; a codex history asks for it.")
@click.option("--restart", is_flag=True, help="With running: go on with a concluded session.")
@dry_option
@log_option
def mark(
    state: str, backstop_ack: int | None, reason: str | None, restart: bool, dry_run: bool, log: str | None
) -> None:
    """Append a marker: running, done, cancelled, wall or blocked; codex: blocked, stopped or resumed.

    \b
    Example:
      ledger mark blocked --reason "the licence server is down"
      ledger mark running --restart
    """
    from ledger.loop.by_hand import mark as append
    from ledger.loop.driving.under_way import check_no_run

    session = session_at_work(log)
    if not dry_run:
        check_no_run(session)
    entry = append(session, state, now_ms(), ack=backstop_ack, reason=reason, restart=restart, dry=dry_run)
    entry_report(session, entry, dry=dry_run, hooks=False)
