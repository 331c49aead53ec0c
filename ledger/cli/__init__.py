"""The command line: click declarations, one file a group of commands, loaded when they are called."""

import importlib
import os
import sys

import click

from ledger import __version__
from ledger.errors import LedgerError

COMMANDS: dict[str, str] = {
    "check": "check:check",
    "explain": "check:explain",
    "verdict": "state:verdict",
    "status": "state:status",
    "sync": "mirror:sync",
    "verify": "mirror:verify",
    "export": "mirror:export",
    "forget": "mirror:forget",
    "sessions": "query:sessions",
    "segments": "query:segments",
    "runs": "query:runs",
    "best": "query:best",
    "streaks": "query:streaks",
    "compare": "query:compare",
    "metrics": "query:metrics",
    "events": "query:events",
    "sql": "query:sql",
    "db": "db:db",
}
"""Every verb, with the module and name of its command."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb's command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command = getattr(importlib.import_module(f"ledger.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ledger")
def ledger() -> None:
    """Read, judge, mirror and re-export append-only experiment logs.

    \b
    Example:
      ledger check .
      ledger sync .
      ledger best --format json
    """


def main() -> None:
    """Run the command line; failures of the program become one sentence on stderr."""
    try:
        code = ledger.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except LedgerError as error:
        click.echo(f"ledger: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("ledger: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        click.echo(f"ledger: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        sys.exit(2)
