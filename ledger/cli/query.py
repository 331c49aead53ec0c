"""The views as commands, and `sql`: questions to the mirror, which is only read."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

import click

from ledger.cli.options import db_option, format_option, stdout_text
from ledger.exports import FORMATS
from ledger.exports import by_name as format_by_name
from ledger.mirror import queries, store
from ledger.mirror.engine import mirror_path, open_reader
from ledger.mirror.queries import Filters
from ledger.mirror.views import View, by_name
from ledger.source import show_path
from ledger.terminal import plain
from ledger.times import parse_iso

_FORMAT_NAMES = tuple(known.name for known in FORMATS)


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    read = parse_iso(value)
    if read is None:
        raise click.BadParameter(f"{value!r} is no ISO-8601 time, such as 2026-05-06 or 2026-05-06T12:00Z")
    return read[0]


def _last_moment(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read a time; a bare date is that day's last millisecond."""
    start = _moment(context, parameter, value)
    if start is None or value is None:
        return None
    try:
        date.fromisoformat(value)
    except ValueError:
        return start
    return start + 86_400_000 - 1


_FILTERS = (
    db_option,
    click.option(
        "--session", "sessions", multiple=True, metavar="PATH|ID|NAME", help="Only these sessions; repeatable."
    ),
    click.option("--metric", metavar="NAME", help="Only this metric."),
    click.option("--status", metavar="WORD", help="Only this status (runs) or state (sessions, events)."),
    click.option("--since", metavar="TIME", callback=_moment, help="Only what was active at or after this time (UTC)."),
    click.option(
        "--until",
        metavar="TIME",
        callback=_last_moment,
        help="Only what was active at or before this time (UTC); a date means the whole day.",
    ),
    click.option("--sort", metavar="COLUMNS", help="Order by columns, with commas; -COLUMN for descending."),
    click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most N rows."),
    format_option(*_FORMAT_NAMES, default="table"),
)


def _make(view: View, *extra: Callable[[Any], Any]) -> click.Command:
    """Make the command of a view."""

    def body(
        db: str | None, sessions: tuple[str, ...], metric: str | None, status: str | None, since: int | None,
        until: int | None, sort: str | None, limit: int | None, format_name: str, wide: bool = False,
    ) -> None:  # fmt: skip
        columns = tuple(part.strip() for part in (sort or "").split(",") if part.strip())
        filters = Filters(sessions, metric, status, since, until, columns, limit)
        with _reading(db) as raw:
            names, rows = view.columns, (queries.query(raw, view, filters) if raw is not None else iter(()))
            if wide and raw is not None:
                names, rows = queries.widen(raw, view, rows, filters)
            _write(format_name, names, rows)

    examples = (f"  ledger {view.name} --format json", f"  ledger {view.name} --session NAME --limit 20")
    body.__doc__ = "\n".join((view.doc, "", "\b", "Example:", *examples))
    for option in reversed((*_FILTERS, *extra)):
        body = option(body)
    return click.command(view.name)(body)


@contextmanager
def _reading(db: str | None) -> Iterator[sqlite3.Connection | None]:
    with open_reader(mirror_path(db)) as connection:
        if connection is None:
            click.echo(f"note: there is no mirror at {show_path(mirror_path(db))} yet; run ledger sync", err=True)
        yield None if connection is None else store.driver(connection)


def _write(format_name: str, columns: Sequence[str], rows: queries.Rows) -> None:
    """Write rows to standard output; where that is a terminal, whatever the format, no cell may steer it."""
    out = stdout_text()
    if out.isatty():
        rows = ([plain(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    format_by_name(format_name).write(columns, rows, out)


sessions = _make(by_name("sessions"))
segments = _make(by_name("segments"))
runs = _make(by_name("runs"), click.option("--wide", is_flag=True, help="Put the secondary metrics beside the runs."))
best = _make(by_name("best"))
streaks = _make(by_name("streaks"))
compare = _make(by_name("compare"))
metrics = _make(by_name("metrics"))
events = _make(by_name("events"))


@click.command()
@click.argument("statement")
@db_option
@format_option(*_FORMAT_NAMES, default="table")
def sql(statement: str, db: str | None, format_name: str) -> None:
    """Run a SELECT on the mirror. The connection is read-only: the database refuses everything else.

    \b
    Example:
      ledger sql "SELECT path, count(*) AS findings FROM findings GROUP BY path"
    """
    with _reading(db) as raw:
        columns, rows = queries.select(raw, statement) if raw is not None else ((), iter(()))
        if columns or format_name == "json":  # any other format would write an empty header
            _write(format_name, columns, rows)
