"""A session's rows of the views that only grow, from a line on: what an export that adds to an earlier one reads."""

from ledger.dialects import by_name as protocol
from ledger.dialects import names
from ledger.mirror import schema
from ledger.mirror.adhoc import readable
from ledger.mirror.postgres import Server
from ledger.mirror.queries import Rows, exact_text
from ledger.mirror.raw import Raw
from ledger.mirror.views import View, by_name

GROWING = ("runs", "metrics", "events", "lines")
"""Views of which a row stays as it is when its log grows, but for `is_best` of a run; see `grows`."""

RUN_COLUMNS = (*(name for name in by_name("runs").columns if name != "is_best"), "metric_exact", "metric_name")
"""The columns of `runs` here: without the one that a later run changes, with the exact metric where a double is not."""


def grows(dialect: str | None) -> bool:
    """Tell whether a protocol's rows stay as they are: a later decision changes the run that it is about."""
    return dialect not in names() or not protocol(dialect).folding.decides_later


def rows_from(raw: Raw, view: str, session: int, first: int) -> Rows:
    """Yield a session's rows of a growing view from line `first` on; in `runs` and `metrics` by the metric's name.

    The columns are the view's, of `runs` those of RUN_COLUMNS.
    """
    start, end = schema.first_id(session, first), schema.first_id(session + 1) - 1
    if view == "runs":
        return _runs(raw, session, first)
    select = _select(raw, by_name(view))
    if view == "metrics":
        return raw.cursor().execute(f"{select} WHERE v.run_id BETWEEN ? AND ? ORDER BY n.name, v.run_id", (start, end))
    key = {"events": "e.id", "lines": "l.id"}[view]
    return readable(raw.cursor().execute(f"{select} WHERE {key} BETWEEN ? AND ? ORDER BY {key}", (start, end)))


def _select(raw: Raw, view: View, scope: str = "") -> str:
    return view.text(server=isinstance(raw, Server), scope=scope)


def _runs(raw: Raw, session: int, first: int) -> Rows:
    # What a run is compared with lies before it, so the view reads the whole session.
    scope = f"WHERE r.id BETWEEN {schema.first_id(session)} AND {schema.first_id(session + 1) - 1}"
    columns = ", ".join(f'v."{name}"' for name in RUN_COLUMNS[:-2])
    runs = _select(raw, by_name("runs"), scope)
    rows = raw.cursor().execute(
        f"SELECT {columns}, m.metric, m.metric_residue, g.metric_name FROM ({runs}) AS v"
        f" JOIN run AS m ON m.id = {schema.first_id(session)} + v.line"
        " JOIN segment AS g ON g.session = ? AND g.segment = v.segment"
        " WHERE v.line >= ? ORDER BY g.metric_name, v.line",
        (session, first),
    )
    for *shown, metric, residue, name in rows:
        yield *shown, None if residue is None else exact_text(metric, residue), name
