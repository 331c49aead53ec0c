"""The views as commands, and `sql`: questions to the mirror, which is only read."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from ledger.base.text import plain
from ledger.cli.support.options import db_option, format_option, stdout_text
from ledger.cli.support.output import screen_of
from ledger.cli.support.rows import filter_options, filters
from ledger.cli.support.trend import trend_of
from ledger.cli.support.watch import watched
from ledger.exports import FORMATS, table
from ledger.exports import by_name as format_by_name
from ledger.mirror import adhoc, queries
from ledger.mirror.engine import open_reader
from ledger.mirror.location import mirror_location, show
from ledger.mirror.raw import Raw, driver
from ledger.mirror.views import View, by_name
from ledger.telling.screen import Screen

Above = Callable[[Sequence[Sequence[Any]], Screen], str]
"""Make lines of text from the rows that a table is going to show."""

_FORMAT_NAMES = tuple(known.name for known in FORMATS)
_BY_ROWS = frozenset(("json", "jsonl", "csv", "tsv"))
"""The formats that are written row by row; the others hold all rows in memory."""


def _make(view: View, *extra: Callable[[Any], Any], more: tuple[str, ...] = ()) -> click.Command:
    """Make the command of a view; `more` are lines of its help below the view's own."""

    def body(db: str | None, format_name: str, wide: bool = False, **narrowing: Any) -> None:
        asked = filters(**narrowing)
        with _reading(db) as raw:
            names, rows = view.columns, (queries.query(raw, view, asked) if raw is not None else iter(()))
            if wide and raw is not None:
                names, rows = queries.widen(raw, view, rows, asked)
            above = partial(trend_of, raw, names) if raw is not None and view.name == "runs" else None
            _write(format_name, names, rows, above)

    examples = (f"  ledger {view.name} --format json", f"  ledger {view.name} --session NAME --limit 20")
    body.__doc__ = "\n".join((view.doc, *more, "", "\b", "Example:", *examples))
    for option in reversed((db_option, filter_options, format_option(*_FORMAT_NAMES, default="table"), *extra)):
        body = option(body)
    return click.command(view.name)(body)


@contextmanager
def _reading(db: str | None) -> Iterator[Raw | None]:
    with open_reader(mirror_location(db)) as connection:
        if connection is None:
            click.echo(f"note: there is no mirror at {show(mirror_location(db))} yet; run ledger sync", err=True)
        yield None if connection is None else driver(connection)


def _write(format_name: str, columns: Sequence[str], rows: queries.Rows, above: Above | None = None) -> None:
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
        format_by_name(format_name).write(columns, rows, out)


sessions = _make(by_name("sessions"))
segments = _make(by_name("segments"))
runs = _make(
    by_name("runs"),
    click.option("--wide", is_flag=True, help="Put the secondary metrics beside the runs."),
    more=(
        "",
        "On a terminal the metric's course stands above a table whose runs are all of one segment; × is a crash.",
    ),
)
best = _make(by_name("best"))
streaks = _make(by_name("streaks"))
compare = _make(by_name("compare"))
metrics = _make(by_name("metrics"))
events = _make(by_name("events"))


@click.command()
@click.argument("statement")
@db_option
@format_option(*_FORMAT_NAMES, default="table")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=30, show_default=True, metavar="SECONDS",
    help="Stop a statement that computes for longer; 0: never.",
)  # fmt: skip
def sql(statement: str, db: str | None, format_name: str, timeout: float) -> None:
    """Run a SELECT on the mirror. The connection is read-only: the database refuses everything else.

    \b
    Example:
      ledger sql "SELECT path, count(*) AS findings FROM findings GROUP BY path"
    """
    with _reading(db) as raw, watched(timeout) as watch:
        columns, rows = adhoc.select(raw, statement, timeout) if raw is not None else ((), iter(()))
        if format_name not in _BY_ROWS:
            rows = adhoc.held(rows)
        if columns or format_name == "json":  # any other format would write an empty header
            _write(format_name, columns, watch.until_read(rows))
