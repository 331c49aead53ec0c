"""`steer`: a message of a person to the agent of a loop."""

import sys
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.log.source import STDIN
from ledger.session.files import here


@click.command()
@click.argument("text", nargs=-1, required=True)
def steer(text: tuple[str, ...]) -> None:
    """Tell the loop's agent something: the next brief opens with it.

    The words are joined by blanks; - reads standard input.

    \b
    Example:
      ledger steer leave the tokeniser alone, the reader is slow
      ledger steer - < advice.md
    """
    from ledger.session.messages import MOST_BYTES, USER, add

    session = here(Path.cwd())
    said = " ".join(text)
    if text == (STDIN,):
        said = sys.stdin.buffer.read(MOST_BYTES + 1).decode("utf-8", "replace")
    if not said.strip():
        raise LedgerError("there is nothing to say: give a text")
    add(session, USER, said)
    click.echo("the next brief opens with it", err=True)
