"""The records of the toy protocol: a card, bouts, and a bell that ends it."""

from ledger.base.numbers import normal, storable
from ledger.base.times import parse_iso
from ledger.dialects.base import RECORD, Field, Json, Kind, Object, rest
from ledger.fold.state import State
from ledger.log.events import Event, Header, Marker, Place, Run, Runs
from ledger.log.jsontext import dump, load

OUTCOMES = {"won": "keep", "lost": "discard", "fell": "crash"}
_WORDS = {status: word for word, status in OUTCOMES.items()}
_WHAT = Field("what", "text", "required")

CARD = Kind("config", (
    _WHAT,
    Field("measures", "text", "required", filled=True),
    Field("better", "text", "required", choices=("lower", "higher")),
    Field("limit", "integer", least=1),
))  # fmt: skip
BOUT = Kind("run", (
    _WHAT,
    Field("no", "integer", "required", least=1),
    Field("took", "number", "required"),
    Field("came", "text", "required", choices=tuple(OUTCOMES)),
    Field("at", "time"),
), subjects=(RECORD, "toy:bout"))  # fmt: skip
BELL = Kind("status", (_WHAT, Field("why", "text", "required", filled=True)), subjects=(RECORD,))
UNKNOWN = Kind("unknown", (_WHAT,))

KINDS = (CARD, BOUT, BELL)

_KINDS = {"card": CARD, "bout": BOUT, "bell": BELL}


def recognises(record: Object) -> bool:
    """Tell whether a log whose first record this is speaks the dialect."""
    return record.get("what") in _KINDS


def kind_of(record: Object) -> Kind:
    """Name the record's kind."""
    what = record.get("what")
    return _KINDS.get(what, UNKNOWN) if isinstance(what, str) else UNKNOWN


def parse(kind: Kind, record: Object, place: Place, state: State) -> Event:
    """Make the event of a record that its rules accept."""
    if kind is CARD:
        settings = {key: record[key] for key in ("limit",) if key in record}
        return Header(place, None, record["measures"], "", record["better"], None, rest(record, "what"), settings)
    if kind is BELL:
        return Marker(place, "done", None, None, None, rest(record, "what"))
    read = parse_iso(record.get("at", ""))
    raw = [key for key in ("no", "took") if not storable(record[key])]
    return Runs.of(Run(
        place, record["no"], OUTCOMES[record["came"]], normal(record["took"]), at_ms=read[0] if read else None,
        time_unit="iso", extras=dump(rest(record, *{"what", "no", "took", "came"}.difference(raw))),
    ))  # fmt: skip


def record(event: Event | Run, segment: int) -> dict[str, Json]:
    """Make the object of an event, as its line said it."""
    if isinstance(event, Run):
        made = {"what": "bout", "no": event.run, "took": event.metric, "came": _WORDS[event.status]}
        return made | (load(event.extras) if event.extras else {})
    if isinstance(event, Header):
        return {"what": "card", **event.detail}
    if isinstance(event, Marker):
        return {"what": "bell", **event.detail}
    raise TypeError(f"no toy record: {type(event).__name__}")
