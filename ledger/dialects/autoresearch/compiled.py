"""The compiled path for `autoresearch` runs: whole columns judged at once, whatever is unusual left to the rules.

What it takes, no rule has anything to say about; a property test holds it to that.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import orjson

from ledger.base.numbers import SAFE_INTEGER, storable
from ledger.base.times import LAST_MS, MILLISECONDS_FROM
from ledger.dialects.autoresearch.records import RUN
from ledger.dialects.base import FORBIDDEN_NAMES
from ledger.fold.segment import STATUSES
from ledger.fold.state import State
from ledger.log.events import Runs, Shape

_COMMITS = re.compile(r"(?:[0-9a-f]{7})*")
_REQUIRED = frozenset(("run", "metric", "status", "commit", "description", "timestamp"))
_KNOWN = frozenset(field.key for field in RUN.fields)
_EXEMPT = frozenset(("crash", "checks_failed"))
_TEXT, _INT = {str}, {int}
_NUMBERS = {int, float}
_INT_OR_NULL = {int, type(None)}
_OBJECT_OR_NULL = {dict, type(None)}


@lru_cache(maxsize=4096)
def _layout(keys: tuple[str, ...]) -> tuple[int, tuple[str, ...]] | None:
    """Judge a run record by its keys alone: (shape bits, keys beyond the protocol's), or None if rules must look."""
    if not _REQUIRED.issubset(keys) or "type" in keys:
        return None
    shape = (Shape.SEGMENT if "segment" in keys else 0) | (Shape.METRICS if "metrics" in keys else 0)
    return int(shape), tuple(key for key in keys if key not in _KNOWN)


def accept(
    objects: list[dict[str, Any]], lines: list[int], offsets: list[int], sizes: list[int], state: State
) -> Runs | None:
    """Take plain, consecutive run records that no rule has anything to say about, or return None."""
    keys = list(map(tuple, objects))
    layouts = {layout: _layout(layout) for layout in set(keys)}
    segment = state.segment
    if segment is None or None in layouts.values():
        return None
    column = _columns(objects, keys[0], alike=len(layouts) == 1)
    run, status, metric = column("run"), column("status"), column("metric")
    first = 1 if state.last_run is None else state.last_run + 1
    if (
        set(map(type, run)) != _INT
        or (state.runs_seen.highest or 0) != first - 1
        or tuple(run) != tuple(range(first, first + len(run)))
    ):
        return None
    if set(map(type, status)) != _TEXT or not set(status).issubset(STATUSES) or not _plain_numbers(metric):
        return None
    if segment.baseline is None and status[0] == "crash":
        return None
    description, commit = column("description"), column("commit")
    if set(map(type, description)) != _TEXT or not _commits_regular(commit, status):
        return None
    times = _times(column("timestamp"), state)
    stated, metrics, asi, confidence = column("segment"), column("metrics"), column("asi"), column("confidence")
    if (
        times is None
        or set(map(type, stated)) - _INT_OR_NULL
        or set(stated) not in ({segment.ordinal}, {None})  # all state the region they stand in, or none does
        or not _metrics_regular(metrics, status, segment.names)
    ):
        return None
    if not set(map(type, asi)) <= _OBJECT_OR_NULL:
        return None
    given = [value for value in confidence if value is not None]
    if given and not (_plain_numbers(given) and segment.confidences_agree(metric, status, confidence)):
        return None
    state.region.note_runs(stated[0], status)
    at_ms, unit, time_shape = times
    return Runs(
        lines, offsets, sizes, run, status, metric, commit, description, at_ms, confidence, metrics,
        _texts(asi), _extras(objects, keys, layouts), _shapes(column, keys, layouts, time_shape), unit,
    )  # fmt: skip


def _columns(objects: list[dict[str, Any]], keys: tuple[str, ...], *, alike: bool) -> Callable[[str], Sequence[Any]]:
    """Turn records into columns; absent keys read as None. Records with the same keys in the same order turn fast."""
    if not alike:
        return lambda key: tuple([item.get(key) for item in objects])
    turned = dict(zip(keys, zip(*map(dict.values, objects), strict=True), strict=True))
    nothing = (None,) * len(objects)
    return lambda key: turned.get(key, nothing)


def _plain_numbers(values: Sequence[Any]) -> bool:
    """Every value is a number that a double holds exactly."""
    types = set(map(type, values))
    if not types <= _NUMBERS:
        return False
    return int not in types or max(map(abs, values)) <= SAFE_INTEGER or all(map(storable, values))


def _commits_regular(commits: Any, statuses: Any) -> bool:
    """Every commit is 7 hex digits, or empty where the run was not kept."""
    if set(map(type, commits)) != _TEXT or not set(map(len, commits)) <= {0, 7}:
        return False
    return _COMMITS.fullmatch("".join(commits)) is not None and ("keep", "") not in set(
        zip(statuses, commits, strict=True)
    )


def _times(stamps: Any, state: State) -> tuple[Any, str, int] | None:
    if set(map(type, stamps)) != _INT:
        return None
    low, high = min(stamps), max(stamps)
    if low >= MILLISECONDS_FROM and high <= LAST_MS and state.time_unit in (None, "ms"):
        return stamps, "ms", int(Shape.TIME_MS)
    if low >= 0 and high < MILLISECONDS_FROM and state.time_unit in (None, "s"):
        return [stamp * 1000 for stamp in stamps], "s", int(Shape.TIME_S)
    return None


def _metrics_regular(metrics: Sequence[Any], statuses: Sequence[str], names: Mapping[str, None]) -> bool:
    """All secondary values are plain numbers under fit names, and no run lacks a name that an earlier one had."""
    if not set(map(type, metrics)) <= _OBJECT_OR_NULL:
        return False
    present = [item for item in metrics if item]
    if not _plain_numbers(list(chain.from_iterable(map(dict.values, present)))):
        return False
    keysets = set(map(frozenset, present))
    if not all(map(FORBIDDEN_NAMES.isdisjoint, keysets)):
        return False
    if len(present) == len(metrics) and len(keysets) == 1 and names.keys() <= next(iter(keysets)):
        return True
    least = len(names)
    if any(len(item or ()) < least and status not in _EXEMPT for item, status in zip(metrics, statuses, strict=True)):
        return False
    seen = set(names)
    for item, status in zip(metrics, statuses, strict=True):
        keys = item or ()
        if status not in _EXEMPT and not seen.issubset(keys):
            return False
        seen.update(keys)
    return True


def _extras(objects: list[dict[str, Any]], keys: list[tuple[str, ...]], layouts: Mapping[Any, Any]) -> list[str | None]:
    if not any(extra for _, extra in layouts.values()):
        return [None] * len(objects)
    return [
        orjson.dumps({key: item[key] for key in layouts[own][1]}).decode() if layouts[own][1] else None
        for item, own in zip(objects, keys, strict=True)
    ]


def _shapes(
    column: Callable[[str], Sequence[Any]], keys: list[tuple[str, ...]], layouts: Mapping[Any, Any], time_shape: int
) -> list[int]:
    """Give each record's shape: its layout's, corrected for the keys that are null."""
    shapes = [layouts[own][0] | time_shape for own in keys]
    for key, bit, wrong in _NULL_BITS:
        values = column(key)
        if None in values:
            shapes = [
                shape & ~wrong | bit if value is None and key in own else shape
                for shape, value, own in zip(shapes, values, keys, strict=True)
            ]
    return shapes


def _texts(values: Sequence[Any]) -> Sequence[str | None]:
    """Write objects as JSON text, nulls as None; compact JSON has no raw newline, so one pass does for all."""
    if None in values:
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    return b"\n".join(map(orjson.dumps, values)).decode().split("\n")


_NULL_BITS = (
    ("segment", int(Shape.SEGMENT_NULL), int(Shape.SEGMENT)),
    ("confidence", int(Shape.CONFIDENCE_NULL), 0),
    ("metrics", int(Shape.METRICS_NULL), int(Shape.METRICS)),
    ("asi", int(Shape.ASI_NULL), 0),
)
