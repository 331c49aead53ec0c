"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ledger.dialects import names

Command = TypeVar("Command", bound=Callable[..., Any])

DIALECTS = names()

db_option = click.option(
    "--db",
    metavar="PATH|URL",
    help="The mirror: a file, or postgresql://USER@HOST/DATABASE [default: $LEDGER_DB, else the user data folder].",
)

dialect_option = click.option("--dialect", type=click.Choice(DIALECTS), help="Read the log as this protocol.")

log_option = click.option("--log", "log", metavar="FILE", help="The log [default: the current folder's session].")
dry_option = click.option("--dry-run", is_flag=True, help="Check and show everything, write nothing anywhere.")
hooks_option = click.option("--no-hooks", is_flag=True, help="Do not run the hooks.")
repeat_option = click.option(
    "--repeat", type=click.IntRange(min=1), default=1, metavar="N", help="Measure N times and take the median."
)
limit_option = click.option(
    "--max-iterations", type=click.IntRange(min=0), metavar="N", help="Stop after N runs of the segment; 0: no limit."
)


def format_option(*names: str, default: str) -> Callable[[Command], Command]:
    """Declare the one format choice of a command."""
    return click.option(
        "--format", "format_name", type=click.Choice(names), default=default, show_default=True, help="Output format."
    )
