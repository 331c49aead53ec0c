"""The protocols that logs are written in, one folder each (protocols.md 2-4). The tuple is the registry."""

from typing import TYPE_CHECKING

from ledger.dialects import autoresearch, codex, state_protocol
from ledger.dialects.base import Dialect, Object
from ledger.fold.state import State
from ledger.log.jsontext import dump

if TYPE_CHECKING:
    from ledger.dialects.policy import Policy

DIALECTS: tuple[Dialect, ...] = (
    state_protocol.DIALECT,
    codex.DIALECT,
    autoresearch.DIALECT,
)

DEFAULT = autoresearch.DIALECT


def names() -> tuple[str, ...]:
    """List the names of the dialects, the default one's first."""
    return DEFAULT.name, *(dialect.name for dialect in DIALECTS if dialect is not DEFAULT)


def by_name(name: str | None) -> Dialect:
    """Find a dialect by its name. Raises KeyError if there is none.

    None stands for a log of no known protocol. The default dialect speaks for it, since a loop has to be told to stop
    on any log.
    """
    return DEFAULT if name is None else {dialect.name: dialect for dialect in DIALECTS}[name]


def of(state: State) -> Dialect:
    """Find the dialect of the log that a state was folded from."""
    return by_name(state.dialect)


def policy_of(state: State) -> "Policy":
    """Give what a loop asks of a log's protocol; a log of no known one is told of as the most common is."""
    return of(state).loop()


def recognise(record: Object) -> Dialect | None:
    """Find the dialect of a log by its first readable record; None if it is undecided."""
    return next((dialect for dialect in DIALECTS if dialect.recognises(record)), None)


def encode(record: Object) -> bytes:
    """Write a record as one line of a log, with its newline."""
    return dump(dict(record)).encode() + b"\n"
