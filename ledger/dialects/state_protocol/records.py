"""The records of the `state-protocol` protocol: config with a schema version, results, decisions (protocols.md 3)."""

from collections.abc import Iterable

from ledger.base.numbers import normal, storable
from ledger.base.times import moment
from ledger.dialects.base import UNKNOWN, Field, Json, Kind, Object, Said, rest
from ledger.fold.state import State
from ledger.log.events import Decision, Event, Header, Place, Run, Runs, Shape
from ledger.log.jsontext import dump, load

ACTIONS = ("keep", "discard", "baseline", "stop")
THRESHOLDS = ("min_effect_size_pct", "noise_floor_pct")
SETTINGS = (*THRESHOLDS, "max_runs", "max_minutes")

CONFIG = Kind("config", (
    Field("schema_version", "integer", "required", choices=(1,)),
    Field("name", "text", "required", filled=True),
    Field("metric", "text", "required", filled=True),
    Field("direction", "text", "required", choices=("lower", "higher")),
    Field("created_at", "time", "required"),
    Field("unit", "text"),
    Field("min_effect_size_pct", "number", least=0),
    Field("noise_floor_pct", "number", least=0),
    Field("max_runs", "integer", least=0),
    Field("max_minutes", "number", least=0),
    Field("files_in_scope", "array of texts"),
    Field("off_limits", "array of texts"),
))  # fmt: skip
RESULT = Kind("result", one_of=("value", "median"), subjects=("record", "state-protocol:run", "result"), fields=(
    Field("run", "integer", "required", least=1),
    Field("metric", "text", "required", filled=True),
    Field("timestamp", "time", "required"),
    Field("value", "number"),
    Field("median", "number"),
    Field("samples", "array of numbers", filled=True),
    Field("commit", "text"),
    Field("status", "text"),
    Field("description", "text"),
))  # fmt: skip
DECISION = Kind("decision", subjects=("record", "state-protocol:decision", "decision"), fields=(
    Field("run", "integer", "required", least=1),
    Field("action", "text", "required", choices=ACTIONS),
    Field("reason", "text", "required", filled=True),
    Field("timestamp", "time", "required"),
))  # fmt: skip

KINDS = (CONFIG, RESULT, DECISION)
"""Every kind of record that the protocol has, as it is documented."""

_KINDS = {"config": CONFIG, "result": RESULT, "decision": DECISION}


def recognises(record: Object) -> bool:
    """Tell whether a log whose first record this is speaks the dialect."""
    kind = record.get("type")
    return kind in ("result", "decision") or (kind == "config" and "schema_version" in record)


def kind_of(record: Object) -> Kind:
    """Name the record's kind."""
    kind = record.get("type")
    return _KINDS.get(kind, UNKNOWN) if isinstance(kind, str) else UNKNOWN


def parse(kind: Kind, record: Object, place: Place, state: State) -> Event:
    """Make the event of a record that its rules accept. The median wins over the value."""
    if kind is CONFIG:
        settings = {key: record[key] for key in SETTINGS if key in record}
        at_ms, detail = moment(record["created_at"])[0], rest(record, "type")
        unit, direction = record.get("unit", ""), record["direction"]
        return Header(place, record["name"], record["metric"], unit, direction, at_ms, detail, settings)
    at_ms = moment(record["timestamp"])[0]
    if kind is DECISION:
        taken = ("type", "action", *(("run",) if storable(record["run"]) else ()))
        return Decision(place, record["run"], record["action"], at_ms, rest(record, *taken))
    winner = "median" if "median" in record else "value"
    metric = normal(record[winner])
    raw = [key for key in ("run", winner) if not storable(record[key])]
    extras = rest(record, *{"type", "run", "commit", "description", winner}.difference(raw))
    status = "crash" if record.get("status") == "crash" else "measured"
    return Runs.of(Run(
        place, record["run"], status, metric, record.get("commit"), record.get("description"), at_ms, "iso",
        extras=dump(extras), shape=int(Shape.METRICS) if winner == "median" else 0,
    ))  # fmt: skip


def record(event: Event | Run, segment: int) -> dict[str, Json]:
    """Make the object of an event, as its line said it."""
    if isinstance(event, Run):
        winner = "median" if Shape.METRICS in Shape(event.shape) else "value"
        made: dict[str, Json] = {"type": "result", "run": event.run, winner: event.metric}
        texts = (("commit", event.commit), ("description", event.description))
        made |= {key: value for key, value in texts if value is not None}
        return made | (load(event.extras) if event.extras else {})
    if isinstance(event, Header):
        return {"type": "config", **event.detail}
    if isinstance(event, Decision):
        return {"type": "decision", "run": event.run, "action": event.action, **event.detail}
    raise TypeError(f"no state-protocol record: {type(event).__name__}")


def header(said: Said, records: Iterable[Object]) -> dict[str, Json]:
    """Make the record of a header from what a person says of a log that lost it; the first record tells its time."""
    at = next((stamp for record in records if isinstance(stamp := record.get("timestamp"), str)), "")
    unit = {} if said.unit is None else {"unit": said.unit}
    return {
        "type": "config", "schema_version": 1, "name": said.name or said.metric, "metric": said.metric,
        "direction": said.direction, **unit, "created_at": at,
    }  # fmt: skip
