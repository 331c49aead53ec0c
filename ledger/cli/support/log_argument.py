"""The logs that arguments name, and the session of one."""

from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.reading.discovery import find_logs
from ledger.session.files import Session, here, log_here, of_log


def logs_of(arguments: tuple[str, ...]) -> tuple[list[Path | None], bool]:
    """Find the logs that arguments name, each once, and tell whether all were found; what is missing is told on stderr.

    Without arguments it is the current folder's session. Raises LedgerError if there is none.
    """
    if not arguments:
        return [log_here(Path.cwd())], True
    found: dict[Path | None, None] = {}
    complete = True
    for argument in arguments:
        try:
            found.update(dict.fromkeys(find_logs((argument,))))
        except LedgerError as error:
            click.echo(f"ledger: {error}", err=True)
            complete = False
    return list(found), complete


def one_log(argument: str | None) -> Path | None:
    """Find the one log that an argument names; without it the current folder's session."""
    if argument is None:
        return log_here(Path.cwd())
    found = find_logs((argument,))
    if len(found) > 1:
        raise click.UsageError(f"{argument} holds {len(found)} logs; name one of them")
    return found[0]


def session_of(log: str | None) -> Session | None:
    """Find the session of a log, or the current folder's; None for standard input, which has none."""
    if log is None:
        return here(Path.cwd())
    path = one_log(log)
    return None if path is None else of_log(path)


def file_session(log: str | None) -> Session:
    """Find the session of a log, or the current folder's. Raises UsageError for standard input."""
    session = session_of(log)
    if session is None:
        raise click.UsageError("a session's log is a file; standard input has no session")
    return session


def session_at_work(log: str | None) -> Session:
    """Find the session that a command works on: that of a log, else the current folder's."""
    return session_of(log) or here(Path.cwd())
