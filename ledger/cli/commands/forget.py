"""`forget`: a session taken out of the mirror."""

import sys
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.cli.support.mirror import existing_mirror, named_sessions
from ledger.cli.support.options import db_option
from ledger.cli.support.output import shown
from ledger.mirror import store
from ledger.mirror.engine import open_writer
from ledger.mirror.raw import driver


@click.command()
@click.argument("log")
@db_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(log: str, db: str | None, yes: bool) -> None:
    """Drop a session from the mirror. The log file is not touched.

    \b
    Example:
      ledger forget old/autoresearch.jsonl
    """
    with open_writer(existing_mirror(db)) as connection:
        raw = driver(connection)
        sessions = named_sessions(raw, (log,))
        if yes and len(sessions) > 1 and not Path(log).is_dir():  # as a log of many clones does, or a name
            raise click.UsageError(f"{shown(log)} means {len(sessions)} sessions; name one, or leave out --yes")
        for session in sessions:
            name = shown(session.path)
            if not yes and not _confirmed(f"Drop {name} from the mirror?"):
                click.echo("nothing was dropped", err=True)
                continue
            with connection.begin():
                if store.claim(raw, session.id):
                    store.remove(raw, session.id)
            click.echo(f"forgotten {name}")


def _confirmed(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise LedgerError("nobody answered; use --yes to do it without asking") from None
