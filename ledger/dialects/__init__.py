"""The protocols that logs are written in, one folder each (PROTOCOLS 2-4). The tuple is the registry."""

from ledger.dialects import autoresearch, codex, state_protocol
from ledger.dialects.base import Dialect, Object
from ledger.log.jsontext import dump

DIALECTS: tuple[Dialect, ...] = (
    state_protocol.DIALECT,
    codex.DIALECT,
    autoresearch.DIALECT,
)


def by_name(name: str) -> Dialect:
    """Find a dialect by its name. Raises KeyError if there is none."""
    return {dialect.name: dialect for dialect in DIALECTS}[name]


def recognise(record: Object) -> Dialect | None:
    """Find the dialect of a log by its first readable record; None if it is undecided."""
    return next((dialect for dialect in DIALECTS if dialect.recognises(record)), None)


def encode(dialect: Dialect, record: Object) -> bytes:
    """Write a record as one line of a log, with its newline."""
    return dump(dict(record)).encode() + b"\n"
