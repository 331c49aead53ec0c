"""`archive`: a concluded session moved aside."""

import click

from ledger.base.times import now_ms
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.output import shown


@click.command()
@click.argument("log", required=False)
def archive(log: str | None) -> None:
    """Move a concluded session aside, with its log, prompt and side files; scripts and settings stay.

    The path of its new folder goes to stdout.

    \b
    Example:
      ledger archive
    """
    from ledger.loop.start.archive import archive as move

    click.echo(shown(move(session_at_work(log), now_ms())))
