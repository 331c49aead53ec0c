"""`stop`: the end of a loop that is at work."""

import click

from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import log_option
from ledger.cli.support.output import stdout_text
from ledger.loop.driving.background import ask_to_stop


@click.command()
@click.option("--now", is_flag=True, help="Do not wait for the running cycle: undo it.")
@log_option
def stop(now: bool, log: str | None) -> None:
    """Ask the loop at work to stop after its cycle.

    The session stays open: ledger loop --resume goes on with it.

    \b
    Example:
      ledger stop
    """
    found = ask_to_stop(session_at_work(log), at_once=now)
    if found is None:
        click.echo("ledger: no loop is at work here", err=True)
    else:
        when = "at once" if now else "after this cycle"
        click.echo(f"the loop (process {found.pid}) stops {when}", file=stdout_text())
