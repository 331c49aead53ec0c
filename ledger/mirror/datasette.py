"""The mirror described to Datasette: metadata that lays its pages out, and queries to begin with."""

from typing import Any

from ledger.mirror import schema
from ledger.mirror.canned_queries import CANNED_QUERIES
from ledger.mirror.column_docs import describe
from ledger.mirror.views import VIEWS, View

TITLE = "Experiment logs"
DESCRIPTION = (
    "Append-only logs of experiments, mirrored by ledger. The queries and views answer questions; the hidden tables are"
    " what the views are made of. Paths name the logs; times are UTC."
)

_UNITS = {"improvement_pct": "percent", "delta_pct": "percent"}
"""Only units that are the same in every row; that of a metric stands in the column `unit`."""

_UNSORTED = frozenset(("data", "description", "detail", "message"))
_FACETS = {
    "sessions": ("dialect", "state"),
    "runs": ("status",),
    "events": ("kind",),
    "metrics": ("name",),
    "findings": ("severity", "code", "accepted"),
    "accepted": ("code", "found"),
}
_NEWEST_OR_LARGEST = {"sessions": "last_at", "segments": "last_at", "best": "improvement_pct", "streaks": "length"}
"""The order of the views that are small enough to be put in one for each page."""

_OTHERS = ("sqlite_sequence", "sqlite_stat1")


def metadata(database: str) -> dict[str, Any]:
    """Make the metadata for a mirror that Datasette calls `database`: its file's name without the last ending."""
    hidden = (*schema.metadata.tables, schema.VERSION_TABLE, *_OTHERS)
    tables = {view.name: _view(view) for view in VIEWS} | {name: {"hidden": True} for name in hidden}
    queries = {
        question.name: {
            "title": question.title,
            "description": question.doc,
            "sql": question.sql.strip(),
            "hide_sql": True,
        }
        for question in CANNED_QUERIES
    }
    held = {"description": DESCRIPTION, "tables": tables, "queries": queries}
    return {"title": TITLE, "description": DESCRIPTION, "databases": {database: held}}


def _view(view: View) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "description": view.doc,
        "columns": {column: describe(view.name, column) for column in view.columns},
        "sortable_columns": [column for column in view.columns if column not in _UNSORTED],
    }
    if units := {column: unit for column, unit in _UNITS.items() if column in view.columns}:
        shown["units"] = units
    if view.name in _FACETS:
        shown["facets"] = list(_FACETS[view.name])
    if view.name in _NEWEST_OR_LARGEST:
        shown["sort_desc"] = _NEWEST_OR_LARGEST[view.name]
    return shown
