"""Questions that the mirror is asked again and again, in plain SQL over its views."""

from typing import NamedTuple


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
