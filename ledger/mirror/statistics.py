"""What a segment's runs amount to, in plain SQL (protocols.md 5, 6): the selects that the views are made of.

`[[word arguments]]` is what databases say differently; see sql_variants.

`SEGMENT_STATS` costs a sort of all runs, so `sync` materialises it for the segments it touched. Streaks need no sort,
and are counted when they are asked for.
"""

KEPT = "('keep', 'baseline')"
FAILED = "('discard', 'crash')"

_CHANGE = "[[percent t.best | t.baseline]]"
IMPROVEMENT = f"CASE g.direction WHEN 'higher' THEN {_CHANGE} ELSE 0.0 - {_CHANGE} END"
SIGN = "CASE g.direction WHEN 'lower' THEN 1 WHEN 'higher' THEN -1 END"

_MEDIAN = """(SELECT [[middle min(v) | max(v)]] FROM (
    SELECT {value} AS v, row_number() OVER (ORDER BY {value}) AS n
    FROM run WHERE id BETWEEN {of}.lo AND {of}.hi AND status <> 'crash'
  ) AS ordered WHERE n IN (({of}.measured + 1) / 2, ({of}.measured + 2) / 2))"""

SEGMENT_STATS = f"""
WITH counts AS MATERIALIZED (
  SELECT g.session, g.segment, g.direction,
    count(CASE WHEN NOT (r.status = 'baseline' AND r.run = 0) THEN 1 END) AS runs,
    count(CASE WHEN r.status = 'keep' THEN 1 END) AS keep,
    count(CASE WHEN r.status = 'discard' THEN 1 END) AS discard,
    count(CASE WHEN r.status = 'crash' THEN 1 END) AS crash,
    count(CASE WHEN r.status = 'checks_failed' THEN 1 END) AS checks_failed,
    min(r.id) AS lo, max(r.id) AS hi,
    max(CASE WHEN r.status <> 'measured' THEN r.id END) AS last_decided,
    count(CASE WHEN r.status <> 'crash' THEN 1 END) AS measured,
    min(r.at_ms) AS first_ms, max(r.at_ms) AS last_ms,
    coalesce(
      min(CASE WHEN r.status = 'baseline' THEN r.id END), min(CASE WHEN r.status <> 'crash' THEN r.id END)
    ) AS baseline_id
  FROM segment AS g [[nested run AS r]]
  ON r.id BETWEEN (g.session << 32) + g.line AND (g.session << 32) + coalesce((
    SELECT min(n.line) - 1 FROM segment AS n WHERE n.session = g.session AND n.segment = g.segment + 1
  ), 4294967295)
  {{scope}}
  GROUP BY g.session, g.segment
), centred AS MATERIALIZED (
  SELECT c.*, b.metric AS baseline, {_MEDIAN.format(value="metric", of="c")} AS centre,
    CASE WHEN g.direction IS NOT NULL THEN (
      SELECT id FROM (
        SELECT k.id, k.metric * ({SIGN}) AS v, coalesce(k.metric_residue, 0.0) * ({SIGN}) AS w
        FROM run AS k WHERE k.id BETWEEN c.lo AND c.hi AND k.status IN {KEPT}
      ) AS kept ORDER BY v, w, id LIMIT 1
    ) END AS best_id
  FROM counts AS c
  JOIN segment AS g ON g.session = c.session AND g.segment = c.segment
  LEFT JOIN run AS b ON b.id = c.baseline_id
), spread AS MATERIALIZED (
  SELECT m.*, k.metric AS best, k.metric_residue AS best_residue,
    CASE WHEN m.measured >= 3
        AND CASE m.direction WHEN 'lower' THEN k.metric < m.baseline ELSE k.metric > m.baseline END
      THEN {_MEDIAN.format(value="[[distance metric | m.centre]]", of="m")} END AS mad
  FROM centred AS m LEFT JOIN run AS k ON k.id = m.best_id
)
SELECT session, segment, runs, keep, discard, crash, checks_failed,
  runs - keep - discard - crash - checks_failed AS other, last_decided, first_ms, last_ms,
  baseline_id, baseline, best_id, best, best_residue,
  [[quotient best | baseline | mad]] AS confidence
FROM spread
"""
"""One row a segment that has runs: counts, baseline, best, confidence."""

STREAKS = f"""
  SELECT i.session, i.segment, i.first_id, i.last_id, i.length,
    CASE WHEN i.last_id = t.last_decided THEN 1 ELSE 0 END AS current
  FROM (
    SELECT session, segment, min(id) AS first_id, max(id) AS last_id, count(*) AS length
    FROM (
      SELECT id, id >> 32 AS session, segment, status,
        sum(CASE WHEN status IN {FAILED} THEN 0 ELSE 1 END) OVER (ORDER BY id) AS island
      FROM run WHERE status <> 'measured'
    ) AS marked
    WHERE status IN {FAILED} GROUP BY session, segment, island
  ) AS i JOIN segment_stat AS t ON t.session = i.session AND t.segment = i.segment
"""
"""One row a maximal run of failed runs; undecided results are passed over.

Islands are counted over all rows at once, in the order of their key, which needs no sort; grouping by segment parts
them.
"""

LONGEST = f"""
  SELECT session, segment, max(length) AS longest, max(CASE WHEN current = 1 THEN length END) AS current
  FROM ({STREAKS}) AS each_streak GROUP BY session, segment
"""
