"""Sessions of one metric against each other, from the mirror, as one JSON-able structure.

Keys: `kind`, `title`, `groups`, each of these with `heading`, `text`, `sessions`, `ranking` and `pace`.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ledger.base.numbers import text
from ledger.base.text import counted, cut, plain
from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.views import by_name
from ledger.report.courses import Course, Metric, courses
from ledger.report.data import log_name
from ledger.report.tables import Cell, table
from ledger.telling.figures import NOTHING, short, short_in


class ComparedSession(NamedTuple):
    """Hold a row of the view `compare` with what the session is called and how it went."""

    row: dict[str, Any]
    name: str
    course: Course


def compare(raw: Raw | None, filters: Filters) -> dict[str, Any]:
    """Compare the sessions that the filters leave; none, where there is no mirror (None)."""
    groups = [] if raw is None else [_group(metric, entries) for metric, entries in _entries(raw, filters)]
    count = sum(len(group["sessions"]) for group in groups)
    return {
        "kind": "compare",
        "title": f"Comparison of {counted(count, 'session')}" if count else "Nothing to compare",
        "groups": groups,
    }


def _entries(raw: Raw, filters: Filters) -> list[tuple[Metric, list[ComparedSession]]]:
    """Find the sessions of each metric, in the order of their rank; metrics of more sessions come first."""
    if filters.since_ms is not None or filters.until_ms is not None:
        view = by_name("sessions")
        kept = queries.query(raw, view, filters._replace(metric=None))
        filters = filters._replace(sessions=tuple(row[0] for row in kept), since_ms=None, until_ms=None)
        if not filters.sessions:
            return []
    view = by_name("compare")
    rows = [dict(zip(view.columns, row, strict=True)) for row in queries.query(raw, view, filters)]
    went = courses(raw, filters)
    found = []
    for metric, group in groupby(rows, key=lambda row: (row["metric_name"], row["unit"], row["direction"])):
        held = list(group)
        entries = [
            ComparedSession(row, name, went.get((row["path"], metric), Course([], [], 0)))
            for row, name in zip(held, _names(held), strict=True)
        ]
        found.append((metric, entries))
    return sorted(found, key=lambda one: -len(one[1]))


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Call each session by its name; by its log too where that is not enough."""
    names = [cut(plain(row["name"] or "").strip() or log_name(Path(row["path"])), 60) for row in rows]
    return [
        name if names.count(name) == 1 else f"{name} ({log_name(Path(row['path']))})"
        for name, row in zip(names, rows, strict=True)
    ]


def _group(metric: Metric, entries: Sequence[ComparedSession]) -> dict[str, Any]:
    name, unit, direction = metric
    heading = plain(name) + (f" in {plain(unit)}" if unit else "") + (f", {direction} is better" if direction else "")
    return {
        "heading": heading,
        "text": _in_words(entries),
        "sessions": [
            {
                "name": entry.name,
                "rank": entry.row["rank"],
                "legs": [leg._asdict() for leg in entry.course.legs],
                "gains": entry.course.gains,
            }
            for entry in entries
        ],
        "ranking": _ranking(entries),
        "pace": _pace(entries),
    }


def _in_words(entries: Sequence[ComparedSession]) -> str:
    gains = [entry.row["improvement_pct"] for entry in entries if entry.row["improvement_pct"] is not None]
    words = counted(len(entries), "session")
    if gains:
        words += f"; improvements from {short(min(gains))}% to {short(max(gains))}%, median {short(median(gains))}%"
    return f"{words}."


def _ranking(entries: Sequence[ComparedSession]) -> dict[str, Any]:
    heads = ("rank", "session", "log", "runs", "best", "better by", "rank by that", "confidence")
    rows = []
    for entry in entries:
        row = entry.row
        rows.append([
            _number(row["rank"]), entry.name, log_name(Path(row["path"])), f"{row['runs']:,}",
            NOTHING if row["best"] is None else text(row["best"]), short_in("%", row["improvement_pct"]),
            _number(row["rank_improvement"]),
            short_in("×", row["confidence"]),
        ])  # fmt: skip
    return table(heads, "n..nnnnn", rows)


def _pace(entries: Sequence[ComparedSession]) -> dict[str, Any]:
    heads = ("session", "keep rate", "runs to best", "longest failure streak", "gains", "median gain", "largest gain")
    most = max((entry.row["runs_to_best"] or 0 for entry in entries), default=0)
    longest = max((entry.course.longest_streak for entry in entries), default=0)
    rows: list[list[Cell]] = []
    for entry in entries:
        rate, needed, gains = entry.row["keep_rate"], entry.row["runs_to_best"], entry.course.gains
        streak = entry.course.longest_streak
        rows.append([
            entry.name,
            NOTHING if rate is None else _bar(f"{rate * 100:.0f}%", rate),
            NOTHING if needed is None else _bar(f"{needed:,}", needed / max(most, 1)),
            _bar(f"{streak:,}", streak / max(longest, 1)),
            f"{len(gains):,}", short_in("%", median(gains) if gains else None), short_in("%", max(gains, default=None)),
        ])  # fmt: skip
    return table(heads, ".nnnnnn", rows)


def _bar(shown: str, share: float) -> Cell:
    return {"text": shown, "bar": round(share * 100, 1)}


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"
