"""`hook`: fire a hook by hand, and start from an example."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ledger.base.errors import LedgerError
from ledger.base.text import plain
from ledger.cli.support.log_argument import session_of
from ledger.cli.support.output import shown, stdout_text
from ledger.loop.driving import hook_examples as patterns
from ledger.loop.driving.hooks import fire, payload
from ledger.session.files import here
from ledger.session.history import read


@click.group()
def hook() -> None:
    """Fire a hook by hand, or start from an example.

    A hook is an executable file before.sh or after.sh in .auto/hooks, or in autoresearch.hooks. It gets one JSON line
    on its standard input; what it prints, up to 8 KiB, is told to the agent. After 30 seconds it is killed.

    \b
    Example:
      ledger hook before --show-payload
    """


def _by_hand(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declare what the command of each stage takes."""
    option = click.option("--show-payload", is_flag=True, help="Print what the hook would read, and run nothing.")
    return click.argument("log", required=False)(option(command))


@hook.command()
@_by_hand
def before(log: str | None, show_payload: bool) -> None:
    """Fire the hook that runs ahead of each iteration.

    The exit status is 1 if the hook fails or takes too long.

    \b
    Example:
      ledger hook before --show-payload
    """
    _fire(log, "before", show_payload)


@hook.command()
@_by_hand
def after(log: str | None, show_payload: bool) -> None:
    """Fire the hook that runs after each logged run, for the last run of the log.

    The exit status is 1 if the hook fails or takes too long.

    \b
    Example:
      ledger hook after
    """
    _fire(log, "after", show_payload)


@hook.command()
@click.option("--install", "install_name", metavar="NAME", help="Make this example the session's hook of its stage.")
@click.option("--show", "show_name", metavar="NAME", help="Print this example.")
def examples(install_name: str | None, show_name: str | None) -> None:
    """List the example hooks: name, stage and purpose. They need bash and jq.

    \b
    Example:
      ledger hook examples --install anti-thrash
    """
    if install_name is not None and show_name is not None:
        raise click.UsageError("--install and --show do not go together")
    if install_name is not None:
        click.echo(f"installed {shown(patterns.install(here(Path.cwd()), patterns.find(install_name)))}")
    elif show_name is not None:
        click.echo(patterns.find(show_name).path.read_text("utf-8"), file=stdout_text(), nl=False)
    else:
        for example in patterns.list_examples():
            click.echo(f"{example.name:<22} {example.stage:<7} {example.purpose}", file=stdout_text())


def _fire(log: str | None, stage: str, show_payload: bool) -> None:
    session = session_of(log)
    if session is None:
        raise LedgerError("a hook belongs to a session in a folder; name its log, not standard input")
    history = read(session.log)
    told = payload(session, history, stage)
    if show_payload:
        click.echo(told, nl=False)
        return
    fired = fire(session, history, stage)
    if fired is None:
        path = session.hook(stage)
        if path.is_file():
            said = f"{shown(path)} lacks the run bit, so it is not run: chmod +x {shlex.quote(shown(path))}"
        else:
            said = f"there is no {stage} hook: {stage}.sh was looked for in .auto/hooks and in autoresearch.hooks"
        click.echo(f"ledger: {said}", err=True)
        return
    text, out = fired.text, stdout_text()
    if out.isatty():  # where control characters could steer it
        text = "\n".join(map(plain, text.split("\n")))
    out.write(text if not text or text.endswith("\n") else f"{text}\n")
    if fired.problem:
        click.echo(f"ledger: {fired.problem}", err=True)
        sys.exit(1)
