"""The metric's course above a table of runs."""

from collections.abc import Sequence
from typing import Any

from ledger.mirror.raw import Raw
from ledger.telling.screen import Screen
from ledger.telling.sparkline import course, trend


def trend_of(raw: Raw, columns: Sequence[str], rows: Sequence[Sequence[Any]], screen: Screen) -> str:
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
