"""What a protocol's folder declares: its records' fields, and how records turn into events and back."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.base.numbers import is_number
from ledger.fold.state import State
from ledger.log.events import Event, Place, Run, Runs
from ledger.log.file_layout import FileLayout

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy

Json = Any
Object = Mapping[str, Json]

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
    """Declare one kind of record; an `exact` one has no key but those declared."""

    name: str
    fields: tuple[Field, ...]
    exact: bool = False


UNKNOWN = Kind("unknown", (Field("type", "text"),))


class Dialect(NamedTuple):
    """Bundle what the rest of the program asks of a protocol.

    `kind_of` names the kind of an object, `normal` gives it in canonical spelling, `parse` makes the event of an object
    that its rules accept, `record` makes the object of an event again (the run's segment being given), `accept` takes
    several plain objects at once or not at all. `strict` dialects allow no blank line and no unfinished last line.
    `loop` loads what a loop asks, which who only reads does without; `layout` says where its sessions have their files,
    None where any place will do that is not another's.
    """

    name: str
    recognises: Callable[[Object], bool]
    kind_of: Callable[[Object], Kind]
    normal: Callable[[Object], Object]
    parse: Callable[[Kind, Object, Place, State], Event]
    record: Callable[[Event | Run, int], dict[str, Json]]
    loop: "Callable[[], Policy]"
    accept: Callable[[list[dict[str, Json]], list[int], list[int], list[int], State], Runs | None] | None = None
    strict: bool = False
    layout: FileLayout | None = None


def same(record: Object) -> Object:
    """Leave a record as it is: the dialect has one spelling."""
    return record


def rest(record: Object, *taken: str) -> dict[str, Json]:
    """Give the keys that were not taken."""
    return {key: value for key, value in record.items() if key not in taken}
