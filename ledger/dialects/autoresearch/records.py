"""The records of the `autoresearch` protocol: config header, run, status marker, hook record (protocols.md 2)."""

from collections.abc import Iterable

from ledger.base.numbers import normal, storable
from ledger.base.times import moment
from ledger.dialects.base import TYPES, UNKNOWN, Field, Json, Kind, Object, Said, rest
from ledger.fold.segment import STATUSES
from ledger.fold.state import MARKERS, State
from ledger.log.events import Event, Header, Marker, Other, Place, Run, Runs, Shape
from ledger.log.jsontext import dump, load

SPELLINGS = {
    "metric_name": "metricName",
    "metric_unit": "metricUnit",
    "unit": "metricUnit",
    "direction": "bestDirection",
}

CONFIG = Kind("config", (
    Field("name", "text", "advised"),
    Field("metricName", "text", "required", filled=True),
    Field("metricUnit", "text"),
    Field("bestDirection", "text", "required", choices=("lower", "higher")),
))  # fmt: skip
RUN = Kind("run", subjects=("record", "numbered run"), fields=(
    Field("run", "integer", "required", least=0),
    Field("metric", "number", "required"),
    Field("status", "text", "required", choices=STATUSES),
    Field("commit", "commit", "advised"),
    Field("description", "text", "advised"),
    Field("timestamp", "epoch", "advised"),
    Field("metrics", "object", null=True),
    Field("segment", "integer", null=True, least=0),
    Field("confidence", "number", null=True),
    Field("asi", "object", null=True),
))  # fmt: skip
STATUS = Kind("status", subjects=("record",), fields=(
    Field("state", "text", "required", choices=MARKERS),
    Field("timestamp", "epoch", "advised"),
    Field("backstop_ack", "integer", least=0),
))  # fmt: skip
HOOK = Kind("hook", subjects=("record",), fields=(
    Field("stage", "text", "required", choices=("before", "after")),
    Field("exit_code", "integer", "required", null=True),
    Field("duration_ms", "number", "required", least=0),
    Field("stdout_bytes", "integer", "required", least=0),
    Field("timed_out", "boolean", "required"),
))  # fmt: skip

KINDS = (CONFIG, RUN, STATUS, HOOK)
"""Every kind of record that the protocol has, as it is documented."""

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


def parse(kind: Kind, record: Object, place: Place, state: State) -> Event:
    """Make the event of a record that its rules accept. A header's detail keeps the spelling it was written in."""
    if kind is RUN:
        return Runs.of(parse_run(record, place, state))
    stamp = record.get("timestamp")
    at_ms, unit, exact = moment(stamp if TYPES["epoch"](stamp) else None)
    time_unit = unit if exact else None
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
        elif stated == (state.segment.ordinal if state.segment else 0):
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
    commit = record.get("commit")
    if "commit" in record and not isinstance(commit, str):
        extras["commit"], commit = commit, None
    asi = record.get("asi")
    return Run(
        place, record["run"], record["status"], metric, commit, record.get("description"), at_ms, unit,
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
        stage = {} if event.state is None else {"stage": event.state}
        return {"type": event.kind, **stage, **_stamp(event), **event.detail}
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


def header(said: Said, records: Iterable[Object]) -> dict[str, Json]:
    """Make the record of a header from what a person says of a log that lost it."""
    name = {} if said.name is None else {"name": said.name}
    return {
        "type": "config", **name, "metricName": said.metric, "metricUnit": said.unit or "",
        "bestDirection": said.direction,
    }  # fmt: skip
