"""Questions to the mirror: a view, filtered and sorted, or the rows of a session that were appended to one."""

from collections.abc import Iterator, Sequence
from decimal import Context
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.numbers import decimal
from ledger.base.times import iso
from ledger.dialects import by_name as protocol
from ledger.dialects import names as protocols
from ledger.mirror import schema, store
from ledger.mirror.adhoc import readable
from ledger.mirror.postgres import Server
from ledger.mirror.raw import Raw, written_for
from ledger.mirror.views import View, by_name

Rows = Iterator[Sequence[Any]]


_RANGES = 100
"""Sessions up to which their rows are looked up range by range; beyond it all rows are looked at once."""

_STATE_COLUMN = {"runs": "status", "sessions": "state", "events": "state"}
_DIGITS = Context(prec=2_000)


GROWING = ("runs", "metrics", "events", "lines")
"""Views of which a row stays as it is when its log grows, but for `is_best` of a run; see `grows`."""

RUN_COLUMNS = (*(name for name in by_name("runs").columns if name != "is_best"), "metric_exact", "metric_name")
"""Those of `runs` in `rows_from`: without the one that a later run changes, with the metric that no double is."""


class Filters(NamedTuple):
    """Narrow a view. `sort` names columns, `-` before one for descending; times are UTC milliseconds."""

    sessions: tuple[str, ...] = ()
    metric: str | None = None
    status: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    sort: tuple[str, ...] = ()
    limit: int | None = None


def query(raw: Raw, view: View, filters: Filters) -> Rows:
    """Yield a view's rows, as the filters have them. Raises LedgerError for a filter that the view cannot take."""
    ids = _sessions(raw, filters.sessions)
    source = view.name
    if view.order or (ids is not None and "{scope}" in view.select):
        scope = "" if ids is None else _scope(ids)
        source = f"({view.text(server=isinstance(raw, Server), scope=scope, ordered=True)}) AS {view.name}"
    wheres, values = _conditions(view, filters, ids)
    sql = f"SELECT {', '.join(map(_quote, view.columns))} FROM {source}"
    if wheres:
        sql += f" WHERE {' AND '.join(wheres)}"
    if order := _order(view, filters.sort):
        sql += f" ORDER BY {order}"
    if filters.limit is not None:
        sql += " LIMIT ?"
        values.append(min(filters.limit, 2**63 - 1))
    flags = [view.columns.index(name) for name in view.flags]
    cursor = raw.cursor().execute(sql, values)
    if view.name == "lines":  # which are bytes
        return readable(cursor)
    return _with_flags(cursor, flags) if flags else cursor


def _with_flags(rows: Rows, flags: list[int]) -> Rows:
    for row in rows:
        changed = list(row)
        for place in flags:
            changed[place] = bool(changed[place])
        yield changed


def _sessions(raw: Raw, names: tuple[str, ...]) -> list[int] | None:
    if not names:
        return None
    for name in names:
        if not store.matching(raw, (name,)):
            raise LedgerError(
                f"no session {name!r} in the mirror: give a log's path, an id or a name; see ledger sessions"
            )
    return store.matching(raw, names)


def _scope(ids: list[int]) -> str:
    if len(ids) > _RANGES:
        return f"WHERE r.id >> {schema.LINE_BITS} IN ({','.join(map(str, ids))})"
    ranges = (f"r.id BETWEEN {schema.first_id(i)} AND {schema.first_id(i + 1) - 1}" for i in ids)
    return f"WHERE {' OR '.join(ranges)}"


def _conditions(view: View, filters: Filters, ids: list[int] | None) -> tuple[list[str], list[Any]]:
    wheres: list[str] = []
    values: list[Any] = []
    if ids is not None:
        wheres.append(f"path IN (SELECT path FROM session WHERE id IN ({','.join(map(str, ids))}))")
    if filters.metric is not None:
        wheres.append(_metric_condition(view))
        values.append(store.readable(filters.metric))
    if filters.status is not None:
        column = _STATE_COLUMN.get(view.name)
        if column is None:
            raise LedgerError(f"ledger {view.name} has no status to filter by; ledger runs, sessions and events have")
        wheres.append(f"{column} = ?")
        values.append(store.readable(filters.status))
    for ms, names, sign in ((filters.since_ms, ("at", "last_at"), ">="), (filters.until_ms, ("at", "first_at"), "<=")):
        if ms is not None:
            column = next((name for name in names if name in view.columns), None)
            if column is None:
                raise LedgerError(f"ledger {view.name} has no time to filter by")
            wheres.append(f"{column} {sign} ?")
            values.append(iso(ms))
    return wheres, values


def _metric_condition(view: View) -> str:
    if "metric_name" in view.columns:
        return "metric_name = ?"
    if view.name == "metrics":
        return "name = ?"
    if "segment" not in view.columns:
        raise LedgerError(f"the view {view.name} has no metric to filter by")
    return (
        "(path, segment) IN (SELECT s.path, g.segment FROM segment AS g JOIN session AS s ON s.id = g.session"
        " WHERE g.metric_name = ?)"
    )


def _order(view: View, sort: tuple[str, ...]) -> str:
    if not sort:
        return view.sort
    parts = []
    for name in sort:
        column = name.removeprefix("-")
        if column not in view.columns:
            raise LedgerError(f"ledger {view.name} has no column {column!r}; it has {', '.join(view.columns)}")
        parts.append(f"{_quote(column)} {'DESC' if name.startswith('-') else 'ASC'} NULLS LAST")
    return ", ".join((*parts, view.sort) if view.sort else parts)


def _quote(column: str) -> str:
    return f'"{column}"'


def widen(raw: Raw, view: View, rows: Rows, filters: Filters) -> tuple[tuple[str, ...], Rows]:
    """Put the secondary metrics beside the runs: one column a name, empty where a run has none."""
    ids = _sessions(raw, filters.sessions)
    scope = "" if ids is None else _scope(ids).replace("r.id", "v.run_id")
    names: dict[str, None] = {}
    values: dict[tuple[str, int], dict[str, float]] = {}
    for path, line, name, value in raw.cursor().execute(
        "SELECT s.path, v.run_id & 4294967295, n.name, v.value FROM run_metric AS v"
        " JOIN metric_name AS n ON n.id = v.name_id JOIN session AS s ON s.id = v.run_id >> 32"
        f" {scope} ORDER BY v.run_id, v.name_id"
    ):
        names.setdefault(name)
        values.setdefault((path, line), {})[name] = value
    columns = tuple(f"metrics.{name}" if name in view.columns else name for name in names)
    path, line = view.columns.index("path"), view.columns.index("line")
    wide = ((*row, *(values.get((row[path], row[line]), {}).get(name) for name in names)) for row in rows)
    return (*view.columns, *columns), wide


def run_metrics(raw: Raw, filters: Filters) -> Rows:
    """Yield the secondary metrics of the runs that the filters leave, by path and line; columns as `metrics`."""
    wheres = ["TRUE"]
    values: list[Any] = []
    if (ids := _sessions(raw, filters.sessions)) is not None:
        wheres.append(f"s.id IN ({','.join(map(str, ids))})")
    for value, condition in (
        (filters.status, "r.status = ?"),
        (filters.since_ms, "r.at_ms >= ?"),
        (filters.until_ms, "r.at_ms <= ?"),
        (filters.metric, "(s.id, r.segment) IN (SELECT session, segment FROM segment WHERE metric_name = ?)"),
    ):
        if value is not None:
            wheres.append(condition)
            values.append(store.readable(value) if isinstance(value, str) else value)
    sql = (
        "SELECT s.path, r.segment, r.run, n.name, v.value FROM session AS s [[nested run_metric AS v]]"
        " ON v.run_id BETWEEN s.id << 32 AND (s.id << 32) + 4294967295"
        " [[nested run AS r]] ON r.id = v.run_id [[nested metric_name AS n]] ON n.id = v.name_id"
        f" WHERE {' AND '.join(wheres)} ORDER BY s.path, v.run_id, v.name_id"
    )
    return raw.cursor().execute(written_for(raw, sql), values)


def exact_metrics(raw: Raw, filters: Filters) -> dict[tuple[str, int], str]:
    """Give the text of each metric that no double reproduces, by path and line, to about thirty digits."""
    ids = _sessions(raw, filters.sessions)
    scope = "WHERE TRUE" if ids is None else _scope(ids)
    rows = raw.cursor().execute(
        "SELECT s.path, r.id & 4294967295, r.metric, r.metric_residue FROM run AS r"
        f" JOIN session AS s ON s.id = r.id >> 32 {scope.replace('WHERE', 'WHERE (')})"
        " AND r.metric_residue IS NOT NULL"
    )
    return {(path, line): exact_text(metric, residue) for path, line, metric, residue in rows}


def exact_text(metric: float, residue: float) -> str:
    """Write a metric of which the nearest double leaves out a residue, to about thirty digits."""
    exact = _DIGITS.normalize(_DIGITS.add(decimal(metric), decimal(residue)))
    return f"{exact:f}" if 1e-9 < abs(exact) < 1e40 else str(exact)


def grows(dialect: str | None) -> bool:
    """Tell whether a protocol's rows stay as they are: a later decision changes the run that it is about."""
    return dialect not in protocols() or not protocol(dialect).folding.decides_later


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
