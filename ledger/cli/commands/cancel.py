"""`cancel`: the end of a session, appended by hand."""

import click

from ledger.base.times import now_ms
from ledger.cli.support.appended import entry_report
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import dry_option, log_option
from ledger.cli.support.output import stdout_text


@click.command()
@dry_option
@log_option
def cancel(dry_run: bool, log: str | None) -> None:
    """End the session: print what came of it and mark it cancelled; nothing is deleted or reverted.

    A live loop finishes its cycle first.

    \b
    Example:
      ledger cancel
    """
    from ledger.loop.by_hand import cancel as append
    from ledger.loop.driving.under_way import stop_and_finish
    from ledger.telling.run_table import summary

    session = session_at_work(log)
    if not dry_run:
        stop_and_finish(session, lambda said: click.echo(f"ledger: {said}", err=True))
    entry = append(session, now_ms(), dry=dry_run)
    click.echo(summary(entry.history), file=stdout_text(), nl=False)
    entry_report(session, entry, dry=dry_run, hooks=False)
