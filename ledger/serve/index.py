"""The index of sessions as one JSON-able structure: what its page is made of, and fetches again when it changed.

How sessions stand is read from a mirror: the row of each in the view, and the course of its last segment as a drawing.

Keys: `kind`, `title`, `label`, `notes`, `columns`, `sessions`; a session has `id`, `name`, `log`, `mark`, `course` and
`cells`, one a column, each with its `text` and what it is sorted `by`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ledger.base.numbers import text
from ledger.base.text import counted, cut, plain
from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.views import by_name
from ledger.report.courses import Leg, courses
from ledger.report.data import log_name
from ledger.serve.catalog import ServedLog
from ledger.telling.figures import NOTHING, short_in

COLUMNS = (
    ("session", "Session", "name"), ("best", "Best", "number"), ("better", "Better by", "number"),
    ("confidence", "Confidence", "number wide"), ("kept", "Kept", "number wide"),
    ("failed", "Failing", "number wide"), ("state", "State", "text wide"),
    ("last", "Last run (UTC)", "text wide"), ("log", "Log", "text long"),
)  # fmt: skip
NAME_WIDTH = 80
PROBLEM_WIDTH = 200

POINTS = 48
"""A drawing has no more corners than this."""
_FEW = 50
"""Up to so many sessions are asked for by name; to read all of them is faster than to look for many."""

_OVER = frozenset(("done", "cancelled", "wall", "blocked", "complete", "stopped", "error"))

Cell = dict[str, Any]


class Standing(NamedTuple):
    """Hold a session's row of the view `sessions`, and its course: [x, y] from 0 to 100, y up where it is better."""

    row: dict[str, Any]
    course: list[list[float]]


class Row(NamedTuple):
    """Hold a log of the index: how it stands, None if nobody knows, whether it is gone, why it could not be read."""

    entry: ServedLog
    standing: Standing | None
    gone: bool = False
    problem: str = ""


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


def index(rows: Sequence[Row], label: str, notes: Sequence[str]) -> dict[str, Any]:
    """Make the index, the session with the latest run first."""
    made = [_session(row) for row in rows]
    made.sort(key=lambda one: (one["cells"]["session"]["by"], one["cells"]["log"]["by"]))
    made.sort(key=lambda one: one["cells"]["last"]["by"] or "", reverse=True)
    return {
        "kind": "index",
        "title": counted(len(made), "session") if made else "No session yet",
        "label": plain(label),
        "notes": [plain(note) for note in notes],
        "columns": [{"key": key, "label": head, "kind": kind} for key, head, kind in COLUMNS],
        "sessions": made,
    }


def _session(row: Row) -> dict[str, Any]:
    values = row.standing.row if row.standing else {}
    log = log_name(row.entry.path)
    name = cut(plain(values.get("name") or "").strip() or log, NAME_WIDTH)
    state, letter = _state(row, values)
    problem = cut(plain(row.problem), PROBLEM_WIDTH)
    return {
        "id": row.entry.id,
        "mark": letter,
        "course": row.standing.course if row.standing else [],
        "cells": {
            "session": _cell(name, name.casefold()),
            "best": _cell(_best(values), values.get("best")),
            "better": _cell(short_in("%", values.get("improvement_pct")), values.get("improvement_pct")),
            "confidence": _cell(short_in("×", values.get("confidence")), values.get("confidence")),
            "kept": _cell(f"{values['keep']:,} of {values['runs']:,}" if values else NOTHING, values.get("runs")),
            "failed": _cell(NOTHING if not values else f"{values['streak']:,}", values.get("streak")),
            "state": _cell(state, state),
            "last": _cell((values.get("last_at") or NOTHING)[:16].replace("T", " "), values.get("last_at")),
            "log": _cell(f"{log}: {problem}" if problem else log, log.casefold()),
        },
    }


def _state(row: Row, values: dict[str, Any]) -> tuple[str, str]:
    """Say how a session is, and give the mark that shows it."""
    if row.gone:
        return "log gone", "m"
    if row.problem:
        return "not read", "x"
    if errors := values.get("errors"):
        return counted(errors, "error"), "x"
    state = str(values.get("state") or "none")
    if state in _OVER:
        return state, "d"
    return ("open" if state == "none" else state), "k"


def _best(values: dict[str, Any]) -> str:
    if values.get("best") is None:
        return NOTHING
    unit = plain(values.get("unit") or "").strip()
    return f"{text(values['best'])} {cut(unit, 12)}".strip()


def _cell(shown: str, by: object) -> Cell:
    return {"text": shown, "by": by}
