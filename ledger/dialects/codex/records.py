"""The records of the `codex` protocol: run.json, and the events of its history (protocols.md 4)."""

from ledger.base.numbers import normal, storable
from ledger.base.times import moment
from ledger.dialects.base import Field, Json, Kind, Object, Target, rest
from ledger.fold.state import State
from ledger.log.events import Event, Header, Lifecycle, Place, Run, Runs
from ledger.log.jsontext import dump, load

RUN_JSON = Kind("run.json", (
    Field("schema_version", "integer", "required", choices=(1,)),
    Field("run_id", "text", "required", filled=True),
    Field("created_at", "time", "required"),
    Field("repo", "text", "required", filled=True),
    Field("branch", "text", "required", filled=True),
    Field("mode", "text", "required", filled=True),
    Field("goal", "text", "required", filled=True),
    Field("scope", "array of texts", "required", filled=True),
    Field("metric", "object", "required", fields=(
        Field("name", "text", "required", filled=True),
        Field("direction", "text", "required", choices=("lower", "higher")),
        Field("command", "text", "required", filled=True),
        Field("json_key", "text", "required", null=True, filled=True),
    )),
    Field("guard", "text", "required", null=True, filled=True),
    Field("target", "number", "required"),
    Field("max_iterations", "integer", "required", null=True, least=1),
    Field("timeout_seconds", "number", "required", least=1),
    Field("background", "object", "required", null=True, fields=(
        Field("execution_policy", "text", "required", filled=True),
        Field("codex_bin", "text", "required", filled=True),
        Field("model", "text", "required", null=True, filled=True),
    )),
), exact=True)  # fmt: skip

_EVERY = (
    Field("schema_version", "integer", "required", choices=(1,)),
    Field("run_id", "text", "required", filled=True),
    Field("seq", "integer", "required", least=0),
    Field("time", "time", "required"),
    Field("event", "text", "required"),
)
_RETAINED = (Field("head", "text", "required", filled=True), Field("metric", "number", "required"))
_REASON = (Field("reason", "text", "required", filled=True), *_RETAINED)
_LOG = Field("verify_log", "text", "required", filled=True)
_GUARD_LOG = Field("guard_log", "text", "required", null=True, filled=True)

_FIELDS: dict[str, tuple[Field, ...]] = {
    "baseline": (*_RETAINED, _LOG, _GUARD_LOG),
    "iteration": (
        Field("iteration", "integer", "required", least=1),
        Field("outcome", "text", "required", choices=("keep", "discard")),
        Field("description", "text", "required"),
        Field("previous_metric", "number", "required"),
        Field("trial_metric", "number", "required"),
        Field("retained_metric", "number", "required"),
        Field("trial_commit", "text", "required", filled=True),
        Field("head", "text", "required", filled=True),
        Field("revert_commit", "text", "required", null=True, filled=True),
        Field("guard", "text", "required", choices=("pass", "fail", "not_run")),
        _LOG,
        _GUARD_LOG,
    ),
    "complete": _REASON,
    "stopped": _REASON,
    "blocked": _REASON,
    "error": (
        *_REASON,
        Field("trial_commit", "text", "required", null=True, filled=True),
        Field("revert_commit", "text", "required", null=True, filled=True),
        Field("log", "text", "required", null=True, filled=True),
    ),
    "resumed": (Field("note", "text", "required"), *_RETAINED),
}
_TRIALS = ("baseline", "iteration")
_KINDS = {
    name: Kind(
        name,
        (*_EVERY, *fields),
        exact=True,
        subjects=("codex:any", f"codex:{name}" if name in _TRIALS else "codex:terminal"),
    )
    for name, fields in _FIELDS.items()
}
KINDS = (RUN_JSON, *_KINDS.values())
"""Every kind of record that the protocol has, as it is documented."""

UNKNOWN_EVENT = Kind("unknown", (Field("event", "text", "required"),))


def recognises(record: Object) -> bool:
    """Tell whether a log whose first record this is speaks the dialect."""
    return "event" in record and "seq" in record


def kind_of(record: Object) -> Kind:
    """Name the record's kind by its event."""
    event = record.get("event")
    return _KINDS.get(event, UNKNOWN_EVENT) if isinstance(event, str) else UNKNOWN_EVENT


def header(config: Object, place: Place) -> Header:
    """Make the one header of a codex log out of its run.json."""
    metric, at_ms = config["metric"], moment(config["created_at"])[0]
    return Header(place, config["goal"], metric["name"], "", metric["direction"], at_ms, dict(config), {})


def target(state: State) -> Target | None:
    """Give the target that run.json states, and whether what is retained meets it."""
    config = state.replay.config
    return None if config is None else Target(config["target"], bool(state.replay.target_met()))


def parse(kind: Kind, record: Object, place: Place, state: State) -> Event:
    """Make the event of a record that its rules accept: baseline is run 0, an iteration its own number."""
    at_ms = moment(record["time"])[0]
    if kind.name not in _TRIALS:
        return Lifecycle(place, kind.name, at_ms, rest(record, "event"))
    trial = kind.name == "iteration"
    number, status = (record["iteration"], record["outcome"]) if trial else (0, "baseline")
    metric_key, commit_key = ("trial_metric", "trial_commit") if trial else ("metric", "head")
    metric = normal(record[metric_key])
    raw = [key for key in ("iteration", metric_key) if not storable(record.get(key, 0))]
    taken = {"event", "iteration", "outcome", "description", commit_key, metric_key}.difference(raw)
    return Runs.of(Run(
        place, number, status, metric, record[commit_key], record.get("description"), at_ms, "iso",
        extras=dump(rest(record, *taken)),
    ))  # fmt: skip


def record(event: Event | Run, segment: int) -> dict[str, Json]:
    """Make the object of an event, as its line said it."""
    if isinstance(event, Run):
        extras = load(event.extras) if event.extras else {}
        if event.status == "baseline":
            return {"event": "baseline", "metric": event.metric, "head": event.commit, **extras}
        return {
            "event": "iteration", "iteration": event.run, "outcome": event.status, "trial_metric": event.metric,
            "trial_commit": event.commit, "description": event.description, **extras,
        }  # fmt: skip
    if isinstance(event, Lifecycle):
        return {"event": event.kind, **event.detail}
    raise TypeError(f"no codex record: {type(event).__name__}")
