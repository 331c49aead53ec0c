"""What a log's records mean, once read: one immutable tuple a record, shared by every dialect.

Tuples and not dataclasses, since millions are made; `Runs` holds many runs as columns for the same reason.
"""

from collections.abc import Sequence
from enum import IntFlag
from typing import Any, NamedTuple

from ledger.base.numbers import Number


class Shape(IntFlag):
    """Say how a run's record wrote what its typed values leave open, so that the record can be rebuilt from them."""

    SEGMENT = 1  # `segment` is there and equals the region's ordinal
    SEGMENT_NULL = 2
    CONFIDENCE_NULL = 4
    METRICS = 8  # `metrics` is there as an object
    METRICS_NULL = 16
    ASI_NULL = 32
    TIME_MS = 64  # `timestamp` is the time in milliseconds, exactly
    TIME_S = 128  # `timestamp` is the time in seconds, exactly


class Place(NamedTuple):
    """Tell where a record stands: line from 1, byte offset from 0, length in bytes with its newline."""

    line: int
    offset: int
    size: int


class Run(NamedTuple):
    """Hold one run. `status` is the effective one (protocols.md 5), `asi` and `extras` are JSON text.

    `at_ms` is UTC milliseconds; `time_unit` is `ms`, `s` or `iso`; `extras` holds every key, or raw value of a known
    key, that the other fields and `shape` do not give back exactly. `stated` is the segment the record states.
    """

    place: Place
    run: int
    status: str
    metric: Number
    commit: str | None = None
    description: str | None = None
    at_ms: int | None = None
    time_unit: str | None = None
    stated: int | None = None
    confidence: Number | None = None
    metrics: dict[str, Any] | None = None
    asi: str | None = None
    extras: str | None = None
    shape: int = 0


class Runs(NamedTuple):
    """Hold consecutive runs of one segment as columns of equal length ≥ 1, in file order; fields as in `Run`."""

    line: Sequence[int]
    offset: Sequence[int]
    size: Sequence[int]
    run: Sequence[int]
    status: Sequence[str]
    metric: Sequence[Number]
    commit: Sequence[str | None]
    description: Sequence[str | None]
    at_ms: Sequence[int | None]
    confidence: Sequence[Number | None]
    metrics: Sequence[dict[str, Any] | None]
    asi: Sequence[str | None]
    extras: Sequence[str | None]
    shape: Sequence[int]
    time_unit: str | None

    @classmethod
    def of(cls, run: Run) -> "Runs":
        """Wrap a single run."""
        p = run.place
        return cls(
            (p.line,), (p.offset,), (p.size,), (run.run,), (run.status,), (run.metric,), (run.commit,),
            (run.description,), (run.at_ms,), (run.confidence,), (run.metrics,), (run.asi,), (run.extras,),
            (run.shape,), run.time_unit,
        )  # fmt: skip


class Header(NamedTuple):
    """Hold a config header: what a segment is about. `settings` has the dialect's limits and thresholds."""

    place: Place
    name: str | None
    metric_name: str
    unit: str
    direction: str
    at_ms: int | None
    detail: dict[str, Any]
    settings: dict[str, Any]


class Marker(NamedTuple):
    """Hold a status marker of the autoresearch dialect."""

    place: Place
    state: str
    backstop_ack: int | None
    at_ms: int | None
    time_unit: str | None
    detail: dict[str, Any]


class Decision(NamedTuple):
    """Hold a decision of the state-protocol dialect about the result of run `run`."""

    place: Place
    run: int
    action: str
    at_ms: int | None
    detail: dict[str, Any]


class Lifecycle(NamedTuple):
    """Hold a codex event that is no run: complete, stopped, blocked, error, resumed."""

    place: Place
    kind: str
    at_ms: int | None
    detail: dict[str, Any]


class Other(NamedTuple):
    """Hold a record that is kept and never counted: a hook record, or one of a type the dialect does not know."""

    place: Place
    kind: str
    state: str | None
    at_ms: int | None
    time_unit: str | None
    detail: dict[str, Any]


class Unread(NamedTuple):
    """Stand for a line that yields no record: damaged, blank (`kind` `blank`), or refused by the record's rules.

    `kind` is the record's kind as far as it could be told, else None; `run` its run number where one is legible;
    `records` is how many records the line may hold, since writers without a lock put two on one.
    """

    place: Place
    kind: str | None
    run: int | None
    records: int = 1


Event = Runs | Header | Marker | Decision | Lifecycle | Other | Unread
