"""`brief`, `snapshot` and `steer`: what a session tells an agent and keeps for people, and what a person tells it."""

import sys
import time
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.base.locks import lock_of, locked
from ledger.cli.support.options import heard, one_log, shown, stdout_text
from ledger.log.source import STDIN
from ledger.reading.whole_log import Log
from ledger.session.files import Session, here, of_log
from ledger.session.history import read
from ledger.telling import findings


def _session(log: str | None) -> Session:
    """Find the session of a log, or of the current folder."""
    if log is None:
        return here(Path.cwd())
    path = one_log(log)
    if path is None:
        raise click.UsageError("a session's log is a file; standard input has no session")
    return of_log(path)


def _finish(log: Log) -> None:
    """Tell a log's errors on stderr, and end with the status that says whether it has any."""
    for line in findings.lines_of(log.path, [found for found in log.diagnostics if found.is_error]):
        click.echo(line, err=True)
    if not log.ok:
        name = shown(log.path or STDIN)
        click.echo(f"ledger: {name} has errors; the loop must stop until they are repaired", err=True)
    sys.exit(0 if log.ok else 1)


@click.command()
@click.argument("log", required=False)
def brief(log: str | None) -> None:
    """Brief an agent that has lost its context: goal, prompt, rules, runs, dead ends, what to do now.

    The brief tells the last 50 runs without loss, and sums up those before. Texts queued by `ledger steer` open it, and
    stay queued. If the log has errors, the brief says so first, and the exit status is 1.

    \b
    Example:
      ledger brief .auto/log.jsonl
    """
    from ledger.session.messages import pending
    from ledger.session.standing import judge_session
    from ledger.telling.brief import brief as write

    session = _session(log)
    history = read(session.log)
    now_ms = time.time_ns() // 1_000_000
    text = write(session, history, judge_session(history.state, session, None, now_ms), now_ms, notes=pending(session))
    with heard():
        click.echo(text, file=stdout_text(), nl=False)
    _finish(history.log)


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

    session = _session(log)
    with locked(lock_of(session.log)):
        history = read(session.log)
        write(session, history)
    with heard():
        for path in session.snapshots():
            click.echo(shown(path))
    _finish(history.log)


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
