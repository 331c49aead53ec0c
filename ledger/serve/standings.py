"""How sessions stand, from a mirror: the row of each in the view, and the course of its last segment as a drawing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.views import by_name
from ledger.report.courses import Leg, courses

POINTS = 48
"""A drawing has no more corners than this."""
_FEW = 50
"""Up to so many sessions are asked for by name; to read all of them is faster than to look for many."""


class Standing(NamedTuple):
    """Hold a session's row of the view `sessions`, and its course: [x, y] from 0 to 100, y up where it is better."""

    row: dict[str, Any]
    course: list[list[float]]


def standings(raw: Raw, paths: Sequence[str]) -> dict[str, Standing]:
    """Read how these sessions stand, by the text of their path; one that the mirror lacks is left out."""
    view, have = by_name("sessions"), {row[0] for row in raw.execute("SELECT path FROM session")}
    held = [path for path in paths if path in have]
    if not held:
        return {}
    filters = Filters(sessions=tuple(held) if len(held) <= _FEW else ())
    rows = [dict(zip(view.columns, row, strict=True)) for row in queries.query(raw, view, filters)]
    went = courses(raw, filters)
    found = {}
    for row in rows:
        course = went.get((row["path"], (row["metric_name"], row["unit"], row["direction"])))
        found[row["path"]] = Standing(row, _drawing(course.legs[-1]) if course and course.legs else [])
    return {path: found[path] for path in held if path in found}


def _drawing(leg: Leg) -> list[list[float]]:
    """Scale a leg to a square of 100, thinned out where it has too many points; it may be a single point."""
    step = -(-len(leg.runs) // POINTS)
    places = sorted({*range(0, len(leg.runs), step), len(leg.runs) - 1})
    start, width = leg.runs[0], max(leg.runs[-1] - leg.runs[0], 1)
    low = min(leg.percent) / 2  # halves: the whole range of a double is no double
    height = max(leg.percent) / 2 - low
    return [
        [
            round((leg.runs[place] - start) / width * 100, 1),
            round((leg.percent[place] / 2 - low) / height * 100, 1) if height else 0.0,
        ]
        for place in places
    ]
