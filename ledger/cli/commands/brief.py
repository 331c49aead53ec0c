"""`brief`: what an agent has to know of a session."""

import time

import click

from ledger.cli.support.log_argument import file_session
from ledger.cli.support.output import end_by_errors, heard, stdout_text
from ledger.session.history import read


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

    session = file_session(log)
    history = read(session.log)
    now_ms = time.time_ns() // 1_000_000
    text = write(session, history, judge_session(history.state, session, None, now_ms), now_ms, notes=pending(session))
    with heard():
        click.echo(text, file=stdout_text(), nl=False)
    end_by_errors(history.log)
