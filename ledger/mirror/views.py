"""The views: plain SQL over the mirror's tables, the same in the database, `sync` and queries (protocols.md 5, 6).

`{scope}` narrows what a select reads, `{order}` adds a column to sort by; in the database's views both are empty.
"""

from typing import NamedTuple

from ledger.mirror.sql_variants import SERVER, SQLITE, render
from ledger.mirror.statistics import IMPROVEMENT, KEPT, LONGEST, SIGN, STREAKS


class View(NamedTuple):
    """Declare a view: its columns in order, those of them that are `flags` (booleans), and its select.

    `sort` is the default order, which may name the column that `order` adds.
    """

    name: str
    doc: str
    columns: tuple[str, ...]
    select: str
    sort: str
    flags: tuple[str, ...] = ()
    order: str = ""

    def text(self, *, server: bool, scope: str = "", ordered: bool = False) -> str:
        """Write the select for a database: a server's or SQLite's."""
        order = f", {self.order}" if ordered and self.order else ""
        return render(self.select.format(scope=scope, order=order), SERVER if server else SQLITE)


def _columns(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SHOWN = """
  SELECT s.id AS session, coalesce(
    (SELECT max(t.segment) FROM segment_stat AS t WHERE t.session = s.id),
    (SELECT max(g.segment) FROM segment AS g WHERE g.session = s.id)
  ) AS segment FROM session AS s"""

_RUN_OF = "(SELECT r.run FROM run AS r WHERE r.id = t.{0})"

VIEWS: tuple[View, ...] = (
    View(
        "sessions",
        "One row per log: totals over its segments, and how its last segment with runs stands.",
        _columns(
            "session path dialect name metric_name unit direction segments runs keep discard crash checks_failed other"
            " baseline best_run best improvement_pct confidence streak state first_at last_at errors warnings"
        ),
        f"""
SELECT s.key AS session, s.path, s.dialect, g.name, g.metric_name, coalesce(g.unit, '') AS unit, g.direction,
  (SELECT count(*) FROM segment AS n WHERE n.session = s.id) AS segments,
  coalesce(a.runs, 0) AS runs, coalesce(a.keep, 0) AS keep, coalesce(a.discard, 0) AS discard,
  coalesce(a.crash, 0) AS crash, coalesce(a.checks_failed, 0) AS checks_failed, coalesce(a.other, 0) AS other,
  t.baseline, {_RUN_OF.format("best_id")} AS best_run, t.best, {IMPROVEMENT} AS improvement_pct, t.confidence,
  coalesce(k.current, 0) AS streak, s.state, [[iso a.first_ms]] AS first_at, [[iso a.last_ms]] AS last_at,
  coalesce(d.errors, 0) AS errors, coalesce(d.warnings, 0) AS warnings
FROM session AS s
LEFT JOIN ({_SHOWN}) AS w ON w.session = s.id
LEFT JOIN segment AS g ON g.session = w.session AND g.segment = w.segment
LEFT JOIN segment_stat AS t ON t.session = w.session AND t.segment = w.segment
LEFT JOIN ({LONGEST}) AS k ON k.session = w.session AND k.segment = w.segment
LEFT JOIN (
  SELECT session, sum(runs) AS runs, sum(keep) AS keep, sum(discard) AS discard, sum(crash) AS crash,
    sum(checks_failed) AS checks_failed, sum(other) AS other, min(first_ms) AS first_ms, max(last_ms) AS last_ms
  FROM segment_stat GROUP BY session
) AS a ON a.session = s.id
LEFT JOIN (
  SELECT session, count(CASE WHEN severity = 'error' THEN 1 END) AS errors,
    count(CASE WHEN severity = 'warning' THEN 1 END) AS warnings
  FROM diagnostic WHERE accepted IS NULL GROUP BY session
) AS d ON d.session = s.id
""",
        "path",
    ),
    View(
        "segments",
        "One row per segment: counts, baseline, best, confidence, streaks.",
        _columns(
            "path segment name metric_name unit direction runs keep discard crash checks_failed other baseline_run"
            " baseline best_run best improvement_pct confidence streak longest_streak first_at last_at"
        ),
        f"""
SELECT s.path, g.segment, g.name, g.metric_name, g.unit, g.direction,
  coalesce(t.runs, 0) AS runs, coalesce(t.keep, 0) AS keep, coalesce(t.discard, 0) AS discard,
  coalesce(t.crash, 0) AS crash, coalesce(t.checks_failed, 0) AS checks_failed, coalesce(t.other, 0) AS other,
  {_RUN_OF.format("baseline_id")} AS baseline_run, t.baseline, {_RUN_OF.format("best_id")} AS best_run, t.best,
  {IMPROVEMENT} AS improvement_pct, t.confidence,
  coalesce(k.current, 0) AS streak, coalesce(k.longest, 0) AS longest_streak,
  [[iso t.first_ms]] AS first_at, [[iso t.last_ms]] AS last_at
FROM segment AS g
JOIN session AS s ON s.id = g.session
LEFT JOIN segment_stat AS t ON t.session = g.session AND t.segment = g.segment
LEFT JOIN ({LONGEST}) AS k ON k.session = g.session AND k.segment = g.segment
""",
        "path, segment",
    ),
    View(
        "runs",
        "One row per run, with its change against the baseline and the best kept so far.",
        _columns("path line segment run status metric delta_pct best_so_far is_best commit description at confidence"),
        f"""
SELECT s.path, r.id & 4294967295 AS line, r.segment, r.run, r.status, r.metric,
  CASE WHEN r.status <> 'crash' THEN [[percent r.metric | t.baseline]] END AS delta_pct,
  CASE g.direction
    WHEN 'lower' THEN min(CASE WHEN r.status IN {KEPT} THEN r.metric END) OVER so_far
    WHEN 'higher' THEN max(CASE WHEN r.status IN {KEPT} THEN r.metric END) OVER so_far
  END AS best_so_far,
  CASE WHEN r.id = t.best_id THEN 1 ELSE 0 END AS is_best,
  r."commit", r.description, [[iso r.at_ms]] AS at, r.confidence
FROM run AS r
JOIN session AS s ON s.id = r.id >> 32
JOIN segment AS g ON g.session = r.id >> 32 AND g.segment = r.segment
JOIN segment_stat AS t ON t.session = r.id >> 32 AND t.segment = r.segment
{{scope}}
WINDOW so_far AS (PARTITION BY r.id >> 32, r.segment ORDER BY r.id)
""",
        "path, line",
        flags=("is_best",),
    ),
    View(
        "best",
        "The best kept run of each segment that kept one.",
        _columns(
            "path segment run metric improvement_pct confidence commit description at name metric_name unit direction"
        ),
        f"""
SELECT s.path, r.segment, r.run, r.metric, {IMPROVEMENT} AS improvement_pct, t.confidence, r."commit", r.description,
  [[iso r.at_ms]] AS at, g.name, g.metric_name, g.unit, g.direction
FROM segment_stat AS t
JOIN run AS r ON r.id = t.best_id
JOIN segment AS g ON g.session = t.session AND g.segment = t.segment
JOIN session AS s ON s.id = t.session
""",
        "path, segment",
    ),
    View(
        "streaks",
        "Every failure streak from its first run to its last; `current` if it reaches the end of its segment.",
        _columns("path segment first_run last_run length current"),
        f"""
SELECT s.path, k.segment, a.run AS first_run, z.run AS last_run, k.length, k.current{{order}}
FROM ({STREAKS}) AS k
JOIN session AS s ON s.id = k.session
JOIN run AS a ON a.id = k.first_id
JOIN run AS z ON z.id = k.last_id
""",
        "path, segment, first_id",
        flags=("current",),
        order="k.first_id",
    ),
    View(
        "events",
        "Every record that is no run, in file order: headers, markers, decisions, hooks, codex events, unknown types.",
        _columns("path line segment kind state run at detail"),
        """
SELECT s.path, e.id & 4294967295 AS line, e.segment, e.kind, e.state, e.run, [[iso e.at_ms]] AS at, e.detail
FROM event AS e JOIN session AS s ON s.id = e.id >> 32
""",
        "path, line",
    ),
    View(
        "compare",
        "Sessions of the same metric against each other, ranked by best and by improvement.",
        _columns(
            "rank path name metric_name unit direction runs best improvement_pct rank_improvement runs_to_best"
            " keep_rate confidence"
        ),
        f"""
WITH entries AS (
  SELECT g.session, g.metric_name, g.unit, g.direction, t.best, coalesce(t.best_residue, 0.0) AS best_residue,
    {SIGN} AS sign, {IMPROVEMENT} AS improvement_pct, t.confidence, (g.session << 32) + g.line AS first_id, t.best_id,
    sum(coalesce(t.runs, 0)) OVER whole AS runs, sum(coalesce(t.keep, 0)) OVER whole AS keep,
    sum(coalesce(t.runs, 0)) OVER (
      PARTITION BY g.session, g.metric_name, g.unit, g.direction ORDER BY g.segment
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) - coalesce(t.runs, 0) AS runs_before,
    row_number() OVER (
      PARTITION BY g.session, g.metric_name, g.unit, g.direction
      ORDER BY CASE WHEN t.best IS NULL THEN 1 ELSE 0 END, t.best * ({SIGN}),
        coalesce(t.best_residue, 0.0) * ({SIGN}), g.segment
    ) AS place
  FROM segment AS g
  LEFT JOIN segment_stat AS t ON t.session = g.session AND t.segment = g.segment
  WHERE g.metric_name IS NOT NULL
  WINDOW whole AS (PARTITION BY g.session, g.metric_name, g.unit, g.direction)
)
SELECT
  CASE WHEN e.best IS NOT NULL THEN rank() OVER (
    PARTITION BY e.metric_name, e.unit, e.direction
    ORDER BY CASE WHEN e.best IS NULL THEN 1 ELSE 0 END, e.best * e.sign, e.best_residue * e.sign
  ) END AS rank,
  s.path, n.name, e.metric_name, e.unit, e.direction, e.runs, e.best, e.improvement_pct,
  CASE WHEN e.improvement_pct IS NOT NULL THEN rank() OVER (
    PARTITION BY e.metric_name, e.unit, e.direction
    ORDER BY CASE WHEN e.improvement_pct IS NULL THEN 1 ELSE 0 END, e.improvement_pct DESC
  ) END AS rank_improvement,
  CASE WHEN e.best_id IS NOT NULL THEN e.runs_before + (
    SELECT count(*) FROM run AS r
    WHERE r.id BETWEEN e.first_id AND e.best_id AND NOT (r.status = 'baseline' AND r.run = 0)
  ) END AS runs_to_best, CASE WHEN e.runs > 0 THEN CAST(e.keep AS double precision) / e.runs END AS keep_rate,
  e.confidence
FROM entries AS e
JOIN session AS s ON s.id = e.session
LEFT JOIN ({_SHOWN}) AS w ON w.session = e.session
LEFT JOIN segment AS n ON n.session = w.session AND n.segment = w.segment
WHERE e.place = 1
""",
        "metric_name, unit, direction NULLS FIRST, CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank, path",
    ),
    View(
        "metrics",
        "The secondary metrics, one row per value.",
        _columns("path segment run name value"),
        """
SELECT s.path, r.segment, r.run, n.name, v.value{order}
FROM run_metric AS v
JOIN run AS r ON r.id = v.run_id
JOIN metric_name AS n ON n.id = v.name_id
JOIN session AS s ON s.id = v.run_id >> 32
""",
        "path, run_id, name_id",
        order="v.run_id, v.name_id",
    ),
    View(
        "findings",
        "What the rules found in the mirrored lines, and for which reason a person took it as it is.",
        _columns("path line column code name severity message accepted reason"),
        """
SELECT s.path, d.line, d."column", d.code, d.name, d.severity, d.message,
  CASE WHEN d.accepted IS NULL THEN 0 ELSE 1 END AS accepted, a.reason{order}
FROM diagnostic AS d JOIN session AS s ON s.id = d.session
LEFT JOIN acceptance AS a ON a.session = d.session AND a.number = d.accepted
""",
        'path, line, "column", id',
        flags=("accepted",),
        order="d.id",
    ),
    View(
        "accepted",
        "The decisions in force to take a finding as it is, and whether it still is found.",
        _columns("path line code source reason by at found"),
        """
SELECT s.path, coalesce(d.line, a.line) AS line, a.code, a.source, a.reason, a."by", a.at,
  CASE WHEN d.line IS NULL THEN 0 ELSE 1 END AS found
FROM acceptance AS a JOIN session AS s ON s.id = a.session
LEFT JOIN (
  SELECT session, accepted, min(line) AS line FROM diagnostic WHERE accepted IS NOT NULL GROUP BY session, accepted
) AS d ON d.session = a.session AND d.accepted = a.number
""",
        "path, line, code",
        flags=("found",),
    ),
    View(
        "repairs",
        "The repairs of the logs, and those taken back, in their order.",
        _columns("path number action at by before after backup items"),
        """
SELECT s.path, r.number, r.action, r.at, r."by", r.before, r.after, r.backup, r.items
FROM repair AS r JOIN session AS s ON s.id = r.session
""",
        "path, number",
    ),
    View(
        "lines",
        "Every physical line that holds something, cut out of the stored blocks, with its newline.",
        _columns("path line kind data"),
        """
SELECT s.path, l.id & 4294967295 AS line, l.kind,
  substr(b.data, CAST(l.start - b.start + 1 AS integer), l.length) AS data
FROM (
  SELECT id, start, length, 'run' AS kind FROM run
  UNION ALL SELECT id, start, length, kind FROM event
  UNION ALL SELECT id, start, length, coalesce(kind, 'unreadable') FROM unread
) AS l
JOIN session AS s ON s.id = l.id >> 32
JOIN block AS b ON b.session = l.id >> 32 AND b.start = (
  SELECT max(o.start) FROM block AS o WHERE o.session = l.id >> 32 AND o.start <= l.start
)
""",
        "path, line",
    ),
)


def by_name(name: str) -> View:
    """Find a view by its name. Raises KeyError if there is none."""
    return {view.name: view for view in VIEWS}[name]


def create_statements(*, server: bool = False) -> list[str]:
    """Give the statements that drop and create every view."""
    return [
        statement
        for view in VIEWS
        for statement in (f"DROP VIEW IF EXISTS {view.name}", f"CREATE VIEW {view.name} AS {view.text(server=server)}")
    ]
