"""The mirror described to Datasette: what the columns mean, how pages are laid out, and queries to begin with."""

from typing import Any, NamedTuple

from ledger.mirror import schema
from ledger.mirror.views import VIEWS, View

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

COLUMNS = {
    "accepted": "1 where a person took the finding as it is.",
    "action": "Whether it was a repair, or one taken back (undo).",
    "after": "SHA-256 of the log after it.",
    "at": "When, in UTC; empty where the record says nothing.",
    "baseline": "Metric of the segment's first measured run.",
    "baseline_run": "Number of the run that is the baseline.",
    "backup": "Name of the copy that was kept beside the log.",
    "before": "SHA-256 of the log before it.",
    "best": "Best metric among the kept runs, by the direction.",
    "best_run": "Number of the run with the best metric.",
    "best_so_far": "Best metric kept up to and including this run.",
    "by": "Who did it.",
    "checks_failed": "Runs whose checks failed.",
    "code": "Code of the rule; ledger explain CODE tells more.",
    "column": "Byte in the line where the finding begins, from 1.",
    "commit": "Commit of a kept run.",
    "confidence": "Gain divided by noise: from 2 likely real, from 1 marginal, below it within noise.",
    "crash": "Runs that crashed and measured nothing.",
    "current": "1 where the streak reaches the end of its segment.",
    "data": "The line's bytes, with its newline.",
    "delta_pct": "Metric against the baseline in percent, raw sign; empty for a crash.",
    "description": "What the run tried.",
    "detail": "The record's other keys, as JSON.",
    "dialect": "Protocol that the log is written in.",
    "direction": "Whether a lower or a higher metric is better.",
    "discard": "Runs that were measured and discarded.",
    "errors": "Findings for which the log cannot be trusted, without the accepted ones.",
    "first_at": "Time of the first run, in UTC.",
    "first_run": "Number of the streak's first run.",
    "found": "1 where there still is such a finding.",
    "improvement_pct": "Best against the baseline in percent, positive where it is better.",
    "is_best": "1 for the best kept run of the segment.",
    "items": "What was done, as JSON.",
    "keep": "Runs that were kept.",
    "keep_rate": "Share of runs that were kept, 0 to 1.",
    "kind": "What kind of record the line holds.",
    "last_at": "Time of the last run, in UTC.",
    "last_run": "Number of the streak's last run.",
    "length": "Failed runs in a row.",
    "line": "Line in the log, from 1.",
    "longest_streak": "Most failed runs in a row.",
    "message": "What is wrong.",
    "metric": "What was measured, in the unit of its segment; a crash's is a placeholder.",
    "metric_name": "Name of the metric.",
    "name": "Name of the session.",
    "number": "Place among the repairs of its log, from 1.",
    "other": "Runs with another status, or not decided yet.",
    "path": "The log's file.",
    "rank": "Place by the best, from 1, among sessions of the same metric, unit and direction.",
    "rank_improvement": "Place by the improvement, from 1, among the same sessions.",
    "reason": "Why the finding may stay.",
    "run": "Number of the run, as its record states it.",
    "runs": "Number of runs.",
    "runs_to_best": "Runs up to and including the best one.",
    "segment": "Ordinal of the segment in its log, from 0.",
    "segments": "Number of segments.",
    "session": "Short id of the session in this mirror.",
    "severity": "error, warning or info.",
    "source": "The file at fault, where that is not the log.",
    "state": "Last marker or status: whether the session is running or how it ended.",
    "status": "keep, discard, crash, checks_failed, baseline, or measured.",
    "streak": "Failed runs in a row at the end.",
    "unit": "Unit of the metric; may be empty.",
    "value": "What was measured beside the metric.",
    "warnings": "Findings that do not make the log unsound, without the accepted ones.",
}
"""What the columns of the views mean, in a line each, with their units and ranges."""

_OF_VIEW = {
    ("events", "state"): "What a marker states.",
    ("accepted", "at"): "When it was decided, in UTC.",
    ("accepted", "by"): "Who decided it.",
    ("accepted", "line"): "Line of the finding, from 1; where there is none any more, its line then.",
    ("events", "run"): "Number of the run that the record is about.",
    ("findings", "name"): "Name of the rule.",
    ("metrics", "name"): "Name of the secondary metric.",
    ("segments", "name"): "Name that the segment's header gives.",
}


class CannedQuery(NamedTuple):
    """Hold a query: `name` goes into an address, `title` and `doc` are for people, `:word` in the SQL is asked for."""

    name: str
    title: str
    doc: str
    sql: str


_REASON = """coalesce(
    json_extract(r.asi, '$.error_details'), json_extract(r.asi, '$.rollback_reason'), json_extract(r.asi, '$.reason'),
    'none given')"""
"""Where writers of the protocols say why a run failed."""

CANNED_QUERIES: tuple[CannedQuery, ...] = (
    CannedQuery(
        "latest_runs",
        "Latest runs",
        "The last hundred runs of all sessions, newest first.",
        """
SELECT at, path, segment, run, status, metric, delta_pct, description, confidence
FROM runs WHERE at IS NOT NULL ORDER BY at DESC, line DESC LIMIT 100""",
    ),
    CannedQuery(
        "stuck_sessions",
        "Stuck sessions",
        "Sessions that are not over and end in failed runs: `streak` of them or more (empty: 3).",
        """
SELECT path, name, metric_name, streak, runs, best, improvement_pct, state, last_at
FROM sessions
WHERE streak >= CAST(coalesce(nullif(:streak, ''), '3') AS INTEGER)
  AND state NOT IN ('done', 'cancelled', 'complete', 'stopped')
ORDER BY streak DESC, path""",
    ),
    CannedQuery(
        "best_per_metric",
        "Best per metric",
        "The session with the best result for each metric, with ties.",
        """
SELECT metric_name, unit, direction, best, improvement_pct, confidence, runs, runs_to_best, name, path
FROM compare WHERE rank = 1 ORDER BY metric_name, unit, direction, path""",
    ),
    CannedQuery(
        "likely_gains",
        "Likely gains",
        "Segments whose best is better than the baseline by at least `confidence` times the noise (empty: 2).",
        """
SELECT path, segment, run, name, metric_name, unit, metric, improvement_pct, confidence, "commit", description
FROM best
WHERE improvement_pct > 0 AND confidence >= CAST(coalesce(nullif(:confidence, ''), '2') AS REAL)
ORDER BY improvement_pct DESC, path, segment""",
    ),
    CannedQuery(
        "failure_reasons",
        "Failure reasons",
        "Why runs failed, as far as their records say, by status; with the log and line of one of them.",
        f"""
SELECT r.status, {_REASON} AS reason, count(*) AS runs, s.path, max(r.id) & 4294967295 AS line
FROM run AS r JOIN session AS s ON s.id = r.id >> 32
WHERE r.status IN ('discard', 'crash', 'checks_failed')
GROUP BY 1, 2 ORDER BY runs DESC, r.status, reason""",
    ),
    CannedQuery(
        "findings_by_rule",
        "Findings by rule",
        "What the rules found, how often and in how many logs.",
        """
SELECT code, name, severity, count(*) AS findings, count(DISTINCT path) AS logs
FROM findings GROUP BY code, name, severity ORDER BY findings DESC, code""",
    ),
    CannedQuery(
        "one_session",
        "Runs of a session",
        "All runs of the logs whose path holds `path`, in their order.",
        """
SELECT path, line, segment, run, status, metric, delta_pct, best_so_far, is_best, description, at, confidence
FROM runs WHERE instr(path, :path) ORDER BY path, line""",
    ),
    CannedQuery(
        "lines",
        "Lines of a log",
        "The lines of the logs whose path holds `path`, from line `first` on, as text.",
        # It has the view's name and takes its place: Datasette cannot show a view with bytes in it.
        """
SELECT path, line, kind, CAST(data AS TEXT) AS data
FROM lines WHERE instr(path, :path) AND line >= CAST(:first AS INTEGER) ORDER BY path, line""",
    ),
)
"""Questions that the mirror is asked again and again, in plain SQL over its views."""


def describe(view: str, column: str) -> str:
    """Say what a column of a view means. Raises KeyError for a column that nothing is said about."""
    return _OF_VIEW.get((view, column)) or COLUMNS[column]


def metadata(database: str) -> dict[str, Any]:
    """Make the metadata for a mirror that Datasette calls `database`: its file's name without the last ending."""
    hidden = (*schema.metadata.tables, schema.VERSION_TABLE, "sqlite_sequence", "sqlite_stat1")
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
    return {"title": "Experiment logs", "description": DESCRIPTION, "databases": {database: held}}


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
