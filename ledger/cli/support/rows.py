"""The rows of a view: the options that narrow and order them, and their output."""

import sys
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import click

from ledger.base.text import plain
from ledger.base.times import parse_iso
from ledger.cli.support.options import Command, format_option
from ledger.cli.support.output import screen_of, stdout_text
from ledger.exports import FORMATS, table
from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.telling.screen import Screen

Above = Callable[[Sequence[Sequence[Any]], Screen], str]
"""Make lines of text from the rows that a table is going to show."""

rows_format_option = format_option(*FORMATS, default="table")


def moment(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Read an option's time as UTC milliseconds."""
    if value is None:
        return None
    read = parse_iso(value)
    if read is None:
        raise click.BadParameter(f"{value!r} is no ISO-8601 time, such as 2026-05-06 or 2026-05-06T12:00Z")
    return read[0]


def _last_moment(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read a time; a bare date is that day's last millisecond."""
    start = moment(context, parameter, value)
    if start is None or value is None:
        return None
    try:
        date.fromisoformat(value)
    except ValueError:
        return start
    return start + 86_400_000 - 1


_OPTIONS = (
    click.option(
        "--session", "sessions", multiple=True, metavar="PATH|ID|NAME", help="Only these sessions; repeatable."
    ),
    click.option("--metric", metavar="NAME", help="Only this metric."),
    click.option("--status", metavar="WORD", help="Only this status (runs) or state (sessions, events)."),
    click.option("--since", metavar="TIME", callback=moment, help="Only what was active at or after this time (UTC)."),
    click.option(
        "--until",
        metavar="TIME",
        callback=_last_moment,
        help="Only what was active at or before this time (UTC); a date means the whole day.",
    ),
    click.option("--sort", metavar="COLUMNS", help="Order by columns, with commas; -COLUMN for descending."),
    click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows."),
)


def filter_options(command: Command) -> Command:
    """Declare the options that narrow and order rows; `filters` takes what they give."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def filters(
    sessions: tuple[str, ...], metric: str | None, status: str | None, since: int | None, until: int | None,
    sort: str | None, limit: int | None,
) -> Filters:  # fmt: skip
    """Make the filters that the options say."""
    columns = tuple(part.strip() for part in (sort or "").split(",") if part.strip())
    return Filters(sessions, metric, status, since, until, columns, limit)


def write_rows(format_name: str, columns: Sequence[str], rows: queries.Rows, above: Above | None = None) -> None:
    """Write rows to standard output; where that is a terminal, whatever the format, no cell may steer it.

    There a table has colours, and `above` makes what stands over it.
    """
    screen, out = screen_of(sys.stdout), stdout_text()
    if out.isatty() and format_name == "table" and above:
        found = list(rows)
        rows = iter(found)
        out.write(above(found, screen))
    if out.isatty():
        rows = ([plain(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    if format_name == "table":
        table.write(columns, rows, out, screen.paint)
    else:
        FORMATS[format_name](columns, rows, out)
