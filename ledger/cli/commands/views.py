"""The views of the mirror as commands, each of the view's name."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import click

from ledger.cli.support.mirror import mirror_or_none
from ledger.cli.support.options import db_option
from ledger.cli.support.rows import filter_options, filters, rows_format_option, write_rows
from ledger.mirror import queries
from ledger.mirror.raw import Raw
from ledger.mirror.views import View, by_name
from ledger.telling.screen import Screen
from ledger.telling.sparkline import course, trend


def _make(view: View, *extra: Callable[[Any], Any], more: tuple[str, ...] = ()) -> click.Command:
    """Make the command of a view; `more` are lines of its help below the view's own."""

    def body(db: str | None, format_name: str, wide: bool = False, **narrowing: Any) -> None:
        asked = filters(**narrowing)
        with mirror_or_none(db) as raw:
            names, rows = view.columns, (queries.query(raw, view, asked) if raw is not None else iter(()))
            if wide and raw is not None:
                names, rows = queries.widen(raw, view, rows, asked)
            above = partial(_trend, raw, names) if raw is not None and view.name == "runs" else None
            write_rows(format_name, names, rows, above)

    examples = (f"  ledger {view.name} --format json", f"  ledger {view.name} --session NAME --limit 20")
    body.__doc__ = "\n".join((view.doc, *more, "", "\b", "Example:", *examples))
    for option in reversed((db_option, filter_options, rows_format_option, *extra)):
        body = option(body)
    return click.command(view.name)(body)


def _trend(raw: Raw, columns: Sequence[str], rows: Sequence[Sequence[Any]], screen: Screen) -> str:
    """Draw the runs shown, in the order of their log, with a blank line below; empty if they are of several segments.

    Runs of two segments are measured by different rules, so that one drawing would compare what cannot be compared.
    """
    runs = [dict(zip(columns, row, strict=False)) for row in rows]
    if len({(run["path"], run["segment"]) for run in runs}) != 1:
        return ""
    found = raw.execute(
        "SELECT g.unit, g.direction FROM segment AS g JOIN session AS s ON s.id = g.session"
        " WHERE s.path = ? AND g.segment = ?",
        (runs[0]["path"], runs[0]["segment"]),
    ).fetchone()
    unit, direction = found or ("", None)  # a session can be forgotten meanwhile
    runs.sort(key=lambda run: run["line"])
    drawn = course([run["metric"] for run in runs], [run["status"] for run in runs])
    return trend(drawn, unit, direction, screen, screen.columns) + "\n\n"


@cache
def __getattr__(name: str) -> click.Command:
    """Make the command of a view when it is asked for first."""
    try:
        return _make(by_name(name))
    except KeyError:
        raise AttributeError(name) from None


runs = _make(
    by_name("runs"),
    click.option("--wide", is_flag=True, help="Put the secondary metrics beside the runs."),
    more=(
        "",
        "On a terminal the metric's course stands above a table whose runs are all of one segment; × is a crash.",
    ),
)
