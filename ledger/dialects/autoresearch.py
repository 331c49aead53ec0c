"""The `autoresearch` dialect: config header, run, status marker, hook record (PROTOCOLS 2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import orjson

from ledger.dialects.base import UNKNOWN, Dialect, Field, Json, Kind, Object, rest
from ledger.events import Event, Header, Marker, Other, Place, Run, Runs, Shape
from ledger.jsontext import dump, load
from ledger.numbers import SAFE_INTEGER, decimal, normal, storable
from ledger.segment import STATUSES
from ledger.state import State
from ledger.times import LAST_MS, MILLISECONDS_FROM, epoch_ms, parse_iso, unit_of

STATES = ("running", "done", "cancelled", "wall", "blocked")
SPELLINGS = {
    "metric_name": "metricName",
    "metric_unit": "metricUnit",
    "unit": "metricUnit",
    "direction": "bestDirection",
}
FORBIDDEN_NAMES = frozenset(("__proto__", "constructor", "prototype", ""))

CONFIG = Kind("config", (
    Field("name", "text", "advised"),
    Field("metricName", "text", "required", filled=True),
    Field("metricUnit", "text"),
    Field("bestDirection", "text", "required", choices=("lower", "higher")),
))  # fmt: skip
RUN = Kind("run", (
    Field("run", "integer", "required", least=0),
    Field("metric", "number", "required"),
    Field("status", "text", "required", choices=STATUSES),
    Field("commit", "text", "advised"),
    Field("description", "text", "advised"),
    Field("timestamp", "epoch", "advised"),
    Field("metrics", "object", null=True),
    Field("segment", "integer", null=True, least=0),
    Field("confidence", "number", null=True),
    Field("asi", "object", null=True),
))  # fmt: skip
STATUS = Kind("status", (
    Field("state", "text", "required", choices=STATES),
    Field("timestamp", "epoch", "advised"),
    Field("backstop_ack", "integer", least=0),
))  # fmt: skip
HOOK = Kind("hook", (
    Field("stage", "text", "required", choices=("before", "after")),
    Field("exit_code", "integer", "required", null=True),
    Field("duration_ms", "number", "required", least=0),
    Field("stdout_bytes", "integer", "required", least=0),
    Field("timed_out", "boolean", "required"),
))  # fmt: skip

_KINDS = {"config": CONFIG, "run": RUN, "result": RUN, "status": STATUS, "hook": HOOK}


def recognises(record: Object) -> bool:
    """Tell whether a log whose first record this is speaks the dialect."""
    return record.get("type") in ("config", "status", "hook") or ("run" in record and "status" in record)


def kind_of(record: Object) -> Kind:
    """Name the record's kind; a record without a type is a run."""
    if "type" not in record:
        return RUN
    kind = record["type"]
    return _KINDS.get(kind, UNKNOWN) if isinstance(kind, str) else UNKNOWN


def spelled(record: Object) -> Object:
    """Give a header in its canonical spelling; other records as they are."""
    if record.get("type") != "config" or SPELLINGS.keys().isdisjoint(record):
        return record
    made = {}
    for key, value in record.items():
        proper = SPELLINGS.get(key, key)
        made[key if proper != key and (proper in record or proper in made) else proper] = value
    return made


def moment(value: Json) -> tuple[int | None, str | None, bool]:
    """Read a timestamp as (UTC milliseconds, unit, whether both give it back exactly)."""
    if isinstance(value, str):
        read = parse_iso(value)
        return (read[0] if read else None), "iso", False
    if value is None:
        return None, None, False
    unit, at_ms = unit_of(value), epoch_ms(decimal(value) if type(value) is float else value)
    exact = type(value) is int and at_ms is not None
    return at_ms, unit, exact


def parse(kind: Kind, record: Object, place: Place, state: State) -> Event:
    """Make the event of a record that its rules accept. A header's detail keeps the spelling it was written in."""
    if kind is RUN:
        return Runs.of(parse_run(record, place, state))
    at_ms, time_unit, exact = (
        moment(record.get("timestamp")) if _is_moment(record.get("timestamp")) else (None, None, False)
    )
    time_unit = time_unit if exact else None
    taken = ("timestamp",) if exact else ()
    if kind is CONFIG:
        proper, detail = spelled(record), rest(record, "type")
        metric, unit, direction = proper["metricName"], proper.get("metricUnit", ""), proper["bestDirection"]
        return Header(place, proper.get("name"), metric, unit, direction, at_ms, detail, {})
    if kind is STATUS:
        return Marker(
            place, record["state"], record.get("backstop_ack"), at_ms, time_unit, rest(record, "type", "state", *taken)
        )
    if kind is HOOK:
        return Other(place, "hook", record["stage"], at_ms, time_unit, rest(record, "type", "stage", *taken))
    return Other(place, str(record["type"]), None, at_ms, time_unit, rest(record, "type", *taken))


def _is_moment(value: Json) -> bool:
    return isinstance(value, str) or (value is not None and not isinstance(value, bool | list | dict))


def parse_run(record: Object, place: Place, state: State) -> Run:
    """Make the run of a record, whatever it has beside the required keys."""
    at_ms, unit, exact = moment(record.get("timestamp"))
    extras = rest(record, *(field.key for field in RUN.fields))
    shape = 0
    if exact:
        shape |= Shape.TIME_MS if unit == "ms" else Shape.TIME_S
    elif "timestamp" in record:
        extras["timestamp"] = record["timestamp"]
    stated = record.get("segment")
    if "segment" in record:
        if stated is None:
            shape |= Shape.SEGMENT_NULL
        elif stated == state.current().ordinal:
            shape |= Shape.SEGMENT
        else:
            extras["segment"] = stated
    shape |= _null(record, "confidence", Shape.CONFIDENCE_NULL) | _null(record, "asi", Shape.ASI_NULL)
    shape |= _null(record, "metrics", Shape.METRICS_NULL)
    metrics = record.get("metrics")
    if metrics is not None:
        shape |= Shape.METRICS
        if any(not storable(value) for value in metrics.values()):
            extras["metrics"] = metrics
    metric, confidence = normal(record["metric"]), record.get("confidence")
    for key, value in (("run", record["run"]), ("metric", record["metric"]), ("confidence", confidence)):
        if value is not None and not storable(value):
            extras[key] = value
    asi = record.get("asi")
    return Run(
        place, record["run"], record["status"], metric, record.get("commit"), record.get("description"), at_ms, unit,
        stated, confidence, metrics, None if asi is None else dump(asi), dump(extras) if extras else None, int(shape),
    )  # fmt: skip


def _null(record: Object, key: str, bit: Shape) -> int:
    return bit if key in record and record[key] is None else 0


def record(event: Event | Run, segment: int) -> dict[str, Json]:
    """Make the object of an event, as its line said it; keys in the order of the protocol's writers."""
    if isinstance(event, Run):
        return _run_record(event, segment)
    if isinstance(event, Header):
        return {"type": "config", **event.detail}
    if isinstance(event, Marker):
        return {"type": "status", "state": event.state, **_stamp(event), **event.detail}
    if isinstance(event, Other):
        return {
            "type": event.kind,
            **({} if event.state is None else {"stage": event.state}),
            **_stamp(event),
            **event.detail,
        }
    raise TypeError(f"no autoresearch record: {type(event).__name__}")


def _stamp(event: Marker | Other) -> dict[str, Json]:
    if event.time_unit is None or event.at_ms is None:
        return {}
    return {"timestamp": event.at_ms if event.time_unit == "ms" else event.at_ms // 1000}


def _run_record(run: Run, segment: int) -> dict[str, Json]:
    made: dict[str, Json] = {"run": run.run}
    shape = Shape(run.shape)
    _put(made, "commit", run.commit)
    made["metric"] = run.metric
    _put(made, "metrics", run.metrics if Shape.METRICS in shape else None, null=Shape.METRICS_NULL in shape)
    made["status"] = run.status
    _put(made, "description", run.description)
    if run.at_ms is not None and shape & (Shape.TIME_MS | Shape.TIME_S):
        made["timestamp"] = run.at_ms if Shape.TIME_MS in shape else run.at_ms // 1000
    _put(made, "segment", segment if Shape.SEGMENT in shape else None, null=Shape.SEGMENT_NULL in shape)
    _put(made, "confidence", run.confidence, null=Shape.CONFIDENCE_NULL in shape)
    _put(made, "asi", None if run.asi is None else load(run.asi), null=Shape.ASI_NULL in shape)
    if run.extras is not None:
        made.update(load(run.extras))
    return made


def _put(made: dict[str, Json], key: str, value: Json, *, null: bool = False) -> None:
    if value is not None or null:
        made[key] = value


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
    """Take plain, consecutive run records that no rule has anything to say about, or return None.

    This is the compiled path: whole columns are judged at once. Whatever is in any way unusual is left to the rules.
    """
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
        or not _stated_regular(stated, segment.ordinal)
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


def _stated_regular(stated: Sequence[Any], ordinal: int) -> bool:
    """All runs state the region they stand in, or none states any."""
    return set(map(type, stated)) <= _INT_OR_NULL and set(stated) in ({ordinal}, {None})


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


def _metrics_regular(metrics: Sequence[Any], statuses: Sequence[str], names: set[str]) -> bool:
    """All secondary values are plain numbers under fit names, and no run lacks a name that an earlier one had."""
    if not set(map(type, metrics)) <= _OBJECT_OR_NULL:
        return False
    present = [item for item in metrics if item]
    if not _plain_numbers(list(chain.from_iterable(map(dict.values, present)))):
        return False
    keysets = set(map(frozenset, present))
    if not all(map(FORBIDDEN_NAMES.isdisjoint, keysets)):
        return False
    if len(present) == len(metrics) and len(keysets) == 1 and names <= next(iter(keysets)):
        return True
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
    alike = len(layouts) == 1
    shapes = [layouts[keys[0]][0] | time_shape] * len(keys) if alike else [layouts[own][0] | time_shape for own in keys]
    for key, bit, wrong in _NULL_BITS:
        values = column(key)
        nulls = values.count(None)
        if alike and nulls == len(keys):
            shapes = [shapes[0] & ~wrong | bit] * len(keys) if key in keys[0] else shapes
        elif nulls:
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

DIALECT = Dialect("autoresearch", recognises, kind_of, spelled, parse, record, accept)
