"""What a protocol's folder declares: its records' fields, and how records turn into events and back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.base.numbers import Number, is_number
from ledger.fold.state import Folding, State
from ledger.fold.verdict import Verdict
from ledger.log.events import Event, Header, Place, Run, Runs

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy

Json = Any
Object = Mapping[str, Json]

FORBIDDEN_NAMES = frozenset(("__proto__", "constructor", "prototype", ""))
"""What no secondary metric may be called: other readers of these logs are JavaScript programs."""

TYPES: dict[str, Callable[[Json], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: type(value) is int,
    "object": lambda value: isinstance(value, dict),
    "array of numbers": lambda value: isinstance(value, list) and all(map(is_number, value)),
    "array of texts": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "boolean": lambda value: isinstance(value, bool),
    "time": lambda value: isinstance(value, str),
    "epoch": lambda value: is_number(value) or isinstance(value, str),
    "commit": lambda value: True,
}
"""The types a field can have. `time` is ISO-8601 text; `epoch` a number since the epoch, or (flagged) such text;
`commit` anything, since whatever is no short hash there is only flagged."""


class Field(NamedTuple):
    """Declare one key of a record.

    `presence` is `required` (missing: error), `advised` (missing: warning) or `optional`. `filled` texts and arrays are
    not empty; numbers are at least `least`; values are among `choices`; an object in it has `fields` exactly.
    """

    key: str
    type: str
    presence: str = "optional"
    null: bool = False
    filled: bool = False
    least: int | None = None
    choices: tuple[Json, ...] = ()
    fields: tuple["Field", ...] = ()


class Kind(NamedTuple):
    """Declare one kind of record.

    The fold goes by its `name` where such a record cannot be read: one with a run is called `run` or `result`, a header
    `config`, a decision `decision`, and whatever the protocol does not know `unknown`. It needs a key of `one_of`; an
    `exact` one has no key but those declared. `subjects` are what the rules about its events are registered on.
    """

    name: str
    fields: tuple[Field, ...]
    exact: bool = False
    one_of: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()


RECORD = "record"
"""The subject of what is asked of each record but a header, of one that its own rules refuse as well."""

UNKNOWN = Kind("unknown", (Field("type", "text"),), subjects=(RECORD,))


class Record(NamedTuple):
    """Hold an object with its kind: `raw` as it was written, `values` in canonical spelling."""

    kind: Kind
    raw: Mapping[str, Any]
    values: Mapping[str, Any]


def present(record: Record) -> Iterator[tuple[Field, Any, str]]:
    """Walk the declared fields that are there and not a permitted null: (field, value, name for messages)."""
    for prefix, fields, values in objects(record):
        for field in fields:
            if field.key in values and not (values[field.key] is None and field.null):
                yield field, values[field.key], f"{prefix}{field.key}"


def typed(record: Record) -> Iterator[tuple[Field, Any, str]]:
    """Walk those of them whose value has the declared type."""
    return ((field, value, name) for field, value, name in present(record) if TYPES[field.type](value))


def objects(record: Record) -> Iterator[tuple[str, tuple[Field, ...], Mapping[str, Any]]]:
    """Walk a record and the objects in it that have fields: (prefix for messages, fields, values)."""
    yield "", record.kind.fields, record.values
    for field in record.kind.fields:
        if field.fields and isinstance(value := record.values.get(field.key), dict):
            yield f"{field.key}.", field.fields, value


class RunJson(NamedTuple):
    """Declare the run.json that stands beside a log: its kind, and the header that it makes."""

    kind: Kind
    header: Callable[[Object, Place], Header]


class FileLayout(NamedTuple):
    """Say how the files of a session are called, and where they are.

    `name` is the protocol's if no other's logs are laid out so. `log` is the log's usual place in the project's folder,
    `hooks` the folder that hooks are installed in; `prompt`, `measure`, `checks` and `ideas` are beside the log. Where
    there is a `run_json`, it has the commands that measure, in place of scripts; then all that is in the folder is the
    session's.
    """

    name: str
    log: str
    hooks: str
    prompt: str = "prompt.md"
    measure: str = "measure.sh"
    checks: str = "checks.sh"
    ideas: str = "ideas.md"
    run_json: RunJson | None = None

    @property
    def folder(self) -> str:
        """The log's folder, empty where that is the project's own."""
        return PurePath(self.log).parent.name

    @property
    def configured(self) -> bool:
        """Whether a run.json beside the log is a part of it."""
        return self.run_json is not None


AUTO = FileLayout("auto", ".auto/log.jsonl", ".auto/hooks")
FLAT = FileLayout(
    "flat", "autoresearch.jsonl", "autoresearch.hooks", "autoresearch.md", "autoresearch.sh",
    "autoresearch.checks.sh", "autoresearch.ideas.md",
)  # fmt: skip


class Said(NamedTuple):
    """Hold what a person says of a log that lost its header; `unit` and `name` may be left open."""

    metric: str
    direction: str
    unit: str | None
    name: str | None


class Target(NamedTuple):
    """Hold the value to reach, and whether it is reached."""

    value: Number
    met: bool


class Dialect(NamedTuple):
    """Bundle what the rest of the program asks of a protocol.

    `kind_of` names the kind of an object, `normal` gives it in canonical spelling, `parse` makes the event of an object
    that its rules accept, `record` makes the object of an event again (the run's segment being given), `accept` takes
    several plain objects at once or not at all. `folding` says how its events fold. `subjects` are what the rules about
    its records and its end are registered on. `events` lists the classes that its events can have, beside runs and
    Others. `judge` says whether a loop may go on, given the limit of
    iterations that a person set, if any (0: none), and the time in UTC milliseconds; a protocol that `watches_clock`
    asks for it.

    `strict` dialects allow no blank line and no unfinished last line; one that `refuses_events` takes no record that an
    event's rule has an error about. A header is spelt in other ways as `spellings` has it, the keys of `placeholders`
    are 0 in the record of a crash, and `header` makes the record of a lost one from what a person says and the records
    that are there. `target` gives what a session says to reach, None where it says nothing. `layout` says where its
    sessions have their files, None where any place will do that is not another's.
    """

    package: str
    name: str
    recognises: Callable[[Object], bool]
    kind_of: Callable[[Object], Kind]
    normal: Callable[[Object], Object]
    parse: Callable[[Kind, Object, Place, State], Event]
    record: Callable[[Event | Run, int], dict[str, Json]]
    judge: Callable[[State, int | None, int], Verdict]
    folding: Folding
    subjects: tuple[str, ...]
    events: tuple[type[Event], ...]
    accept: Callable[[list[dict[str, Json]], list[int], list[int], list[int], State], Runs | None] | None = None
    strict: bool = False
    refuses_events: bool = False
    watches_clock: bool = False
    spellings: Mapping[str, str] = {}
    placeholders: tuple[str, ...] = ()
    header: Callable[[Said, Iterable[Object]], dict[str, Json]] | None = None
    target: Callable[[State], Target | None] = lambda _: None
    layout: FileLayout | None = None

    @property
    def run_json(self) -> RunJson | None:
        """What the run.json beside a log is, where the layout has one."""
        return self.layout and self.layout.run_json

    def loop(self) -> "Policy":
        """Load what a loop asks of the protocol, which who only reads does without: `policy.py` of its package."""
        policy: Policy = import_module(f"{self.package}.policy").POLICY
        return policy


def same(record: Object) -> Object:
    """Leave a record as it is: the dialect has one spelling."""
    return record


def rest(record: Object, *taken: str) -> dict[str, Json]:
    """Give the keys that were not taken."""
    return {key: value for key, value in record.items() if key not in taken}
