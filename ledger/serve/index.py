"""The index of sessions as one JSON-able structure: what its page is made of, and fetches again when it changed.

Keys: `kind`, `title`, `label`, `notes`, `columns`, `sessions`; a session has `id`, `name`, `log`, `mark`, `course` and
`cells`, one a column, each with its `text` and what it is sorted `by`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ledger.base.numbers import text
from ledger.base.text import counted, cut, plain
from ledger.report.data import log_name
from ledger.serve.catalog import ServedLog
from ledger.serve.standings import Standing
from ledger.telling.figures import NOTHING, short

COLUMNS = (
    ("session", "Session", "name"), ("best", "Best", "number"), ("better", "Better by", "number"),
    ("confidence", "Confidence", "number wide"), ("kept", "Kept", "number wide"),
    ("failed", "Failing", "number wide"), ("state", "State", "text wide"),
    ("last", "Last run (UTC)", "text wide"), ("log", "Log", "text long"),
)  # fmt: skip
NAME_WIDTH = 80
PROBLEM_WIDTH = 200

_OVER = frozenset(("done", "cancelled", "wall", "blocked", "complete", "stopped", "error"))

Cell = dict[str, Any]


class Row(NamedTuple):
    """Hold a log of the index: how it stands, None if nobody knows, whether it is gone, why it could not be read."""

    entry: ServedLog
    standing: Standing | None
    gone: bool = False
    problem: str = ""


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
            "better": _percent(values.get("improvement_pct")),
            "confidence": _times(values.get("confidence")),
            "kept": _cell(f"{values['keep']:,} of {values['runs']:,}" if values else NOTHING, values.get("runs")),
            "failed": _cell(NOTHING if not values else f"{values['streak']:,}", values.get("streak")),
            "state": _cell(state, state),
            "last": _cell(_minute(values.get("last_at")), values.get("last_at")),
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


def _percent(value: float | None) -> Cell:
    return _cell(NOTHING if value is None else f"{short(value)}%", value)


def _times(value: float | None) -> Cell:
    return _cell(NOTHING if value is None else f"{short(value)}×", value)


def _minute(at: str | None) -> str:
    return NOTHING if at is None else at[:16].replace("T", " ")
