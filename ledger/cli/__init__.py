"""The command line: the group of all commands, each of which is loaded when it is called."""

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ledger import __version__
from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.cli.support.output import mute

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

HEADINGS: dict[str, tuple[str, ...]] = {
    "Read and judge": (
        "check", "explain", "status", "verdict", "brief", "report", "serve", "review", "repair", "merge",
    ),
    "Mirror": ("sync", "verify", "forget", "db"),
    "Ask": (
        "sessions", "segments", "runs", "metrics", "best", "streaks", "compare", "events", "sql", "export", "import",
    ),
    "Loop": ("init", "run", "loop", "stop", "steer", "measure", "archive", "hook", "snapshot"),
    "Log by hand": ("log", "decide", "mark", "cancel"),
    "Shell and agents": ("completion", "mcp", "skill"),
}  # fmt: skip
"""Every verb under its heading. Its command has its name, and a module of that name."""

_VIEWS = frozenset(("sessions", "segments", "runs", "metrics", "best", "streaks", "compare", "events"))
"""The verbs whose commands are made in one module."""

COMMANDS: tuple[str, ...] = tuple(verb for verbs in HEADINGS.values() for verb in verbs)


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb's command."""
        if cmd_name not in COMMANDS:
            return None
        name = "import_" if cmd_name == "import" else cmd_name
        module = importlib.import_module(f"ledger.cli.commands.{'views' if name in _VIEWS else name}")
        gc.enable()
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under their headings, all in one column."""
        widest = max(map(len, COMMANDS))
        for heading, verbs in HEADINGS.items():
            commands = ((verb.ljust(widest), self.get_command(ctx, verb)) for verb in verbs)
            room = formatter.width - widest - 6
            with formatter.section(heading):
                formatter.write_dl([(verb, command.get_short_help_str(room)) for verb, command in commands if command])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Complete a verb without loading them all."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; a closed pipe ends it, before click makes exit status 1 of that, which means findings."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _PipeClosedError from error


class _PipeClosedError(Exception):
    """Who read the output has seen enough."""


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ledger")
def ledger() -> None:
    """Run experiments, write them down in append-only logs, and read, judge, mirror and query such logs.

    \b
    Example:
      ledger init speed --metric total_ms --direction lower --git
      ledger loop --agent my-agent --max-iterations 50
      ledger check .
      ledger sync .
      ledger best --format json
    """


def main() -> None:
    """Run the command line; failures of the program become one sentence on stderr."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the caller closed it (`>&-`)
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole run
    code = 0
    try:
        code = _run()
        sys.stdout.flush()
    except LedgerError as error:
        code = _failed(str(error))
    except click.ClickException as error:
        error.show()
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("ledger: interrupted", err=True)
        code = 130
    except (_PipeClosedError, BrokenPipeError):
        pass
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not error.filename:
            error.strerror = "the current folder is gone"
        code = _failed(f"{error.strerror or error}{f': {show_path(error.filename)}' if error.filename else ''}")
    try:
        sys.stdout.flush()
    except OSError:
        mute()  # what could not be written was told above, or nobody waits for it
    gc.freeze()  # to look through all that is left for cycles would take a fifth of a short command
    sys.exit(code)


def _run() -> int:
    if "_LEDGER_COMPLETE" in os.environ:
        from ledger.cli.support import shell_completion  # noqa: F401 - it says how shells are answered
    try:
        code = ledger.main(prog_name="ledger", standalone_mode=False)
    except SystemExit as done:
        code = done.code
    return code if isinstance(code, int) else 0


def _failed(reason: str) -> int:
    click.echo(f"ledger: {reason}", err=True)
    return 2
