"""The columns of the views as Parquet has them: what they are called, their types, which one parts the files."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ledger.mirror.queries import RUN_COLUMNS
from ledger.mirror.views import VIEWS, View

_WHOLE = (
    "baseline_run", "best_run", "checks_failed", "column", "crash", "discard", "errors", "first_run", "keep",
    "last_run", "length", "line", "longest_streak", "number", "other", "rank", "rank_improvement", "run", "runs",
    "runs_to_best", "segment", "segments", "streak", "warnings",
)  # fmt: skip
_REAL = (
    "baseline", "best", "best_so_far", "confidence", "delta_pct", "improvement_pct", "keep_rate", "metric", "value",
)  # fmt: skip
_TIME = ("at", "first_at", "last_at")
_AS_WRITTEN = frozenset((("accepted", "at"), ("repairs", "at")))
"""Columns that are text all the same: people may have written it."""

TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(_WHOLE, pa.int64()),
    **dict.fromkeys(_REAL, pa.float64()),
    **dict.fromkeys(_TIME, pa.timestamp("ms", tz="UTC")),
    **dict.fromkeys(("accepted", "current", "found"), pa.bool_()),
}
"""The type of each column that is no text."""


class ViewLayout(NamedTuple):
    """Say how a view lies in the folder: `columns` of its rows, and the one of them that names the folder, or None."""

    name: str
    columns: tuple[str, ...]
    key: str | None

    @property
    def schema(self) -> pa.Schema:
        """Give what a file holds: all columns but that which its folder names."""
        kinds = {name: TYPES.get(name, pa.string()) for name in self.columns if name != self.key}
        texts = {column: pa.string() for view, column in _AS_WRITTEN if view == self.name}
        return pa.schema(list((kinds | texts).items()))


def layout(view: View) -> ViewLayout:
    """Lay out a view: parted by the name of the metric, where its rows have one."""
    columns = RUN_COLUMNS if view.name == "runs" else view.columns
    key = "name" if view.name == "metrics" else "metric_name"
    return ViewLayout(view.name, columns, key if key in columns else None)


LAYOUTS = {view.name: layout(view) for view in VIEWS}


def batch(schema: pa.Schema, columns: Sequence[Sequence[Any]]) -> pa.RecordBatch:
    """Make typed columns of the mirror's values; a run's number past 64 bits, which no column holds, is null."""
    made = [_array(field.type, values) for field, values in zip(schema, columns, strict=True)]
    return pa.record_batch(made, schema=schema)


def _array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_integer(kind):
        values = [value if type(value) is int else None for value in values]
    return pa.array(values, kind)
