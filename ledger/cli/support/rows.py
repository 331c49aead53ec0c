"""Rows of the mirror as commands give them: the filters, the reading, the writing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, TypeVar

import click

from ledger.base.text import plain
from ledger.base.times import parse_iso
from ledger.cli.support.options import stdout_text
from ledger.exports import by_name
from ledger.mirror.engine import open_reader
from ledger.mirror.location import mirror_location, show
from ledger.mirror.queries import Filters, Rows
from ledger.mirror.raw import Raw, driver

Command = TypeVar("Command", bound=Callable[..., Any])


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


@contextmanager
def reading(db: str | None) -> Iterator[Raw | None]:
    """Open the mirror as it is now; None, with a note on standard error, if there is none yet."""
    with open_reader(mirror_location(db)) as connection:
        if connection is None:
            click.echo(f"note: there is no mirror at {show(mirror_location(db))} yet; run ledger sync", err=True)
            yield None
        else:
            with connection.begin():
                yield driver(connection)


def write_rows(format_name: str, columns: Sequence[str], rows: Rows) -> None:
    """Write rows to standard output; where that is a terminal, whatever the format, no cell may steer it."""
    out = stdout_text()
    if out.isatty():
        rows = ([plain(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    by_name(format_name).write(columns, rows, out)
