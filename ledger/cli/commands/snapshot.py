"""`snapshot`: the state of a session as files beside its log."""

import click

from ledger.base.locks import lock_of, locked
from ledger.cli.support.log_argument import file_session
from ledger.cli.support.output import end_by_errors, heard, shown
from ledger.session.history import read


@click.command()
@click.argument("log", required=False)
def snapshot(log: str | None) -> None:
    """Write AUTORESEARCH_STATE.json and autoresearch-dashboard.md beside the log.

    Every accepted append does so too. They are made from the log and never read as truth. If the log has errors,
    they say so, and the exit status is 1.

    \b
    Example:
      ledger snapshot .auto/log.jsonl
    """
    from ledger.telling.snapshots import write

    session = file_session(log)
    with locked(lock_of(session.log)):
        history = read(session.log)
        write(session, history)
    with heard():
        for path in session.snapshots():
            click.echo(shown(path))
    end_by_errors(history.log)
