"""What a log has and its fold does not keep: the header as it stands, decisions, other events, the rest of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ledger.base.numbers import is_number
from ledger.base.times import epoch_ms, parse_iso
from ledger.dialects import policy_of
from ledger.log.events import Run
from ledger.log.jsontext import decode, decode_many, load
from ledger.session.history import History

Record = Mapping[str, Any]

_TIMES = ("timestamp", "time", "created_at")
_BLOCK = 4096
_CONSTANT = ("schema_version", "run_id")  # the same in every event of a history


class OtherRecords(NamedTuple):
    """Hold what the fold does not keep, records as they stand in the file.

    `header` is the current segment's, or the configuration, None where there is none; `decisions` go by run; `events`
    tell how the session was stopped and went on; `updated_ms` is the time of the last record that states one, UTC
    milliseconds.
    """

    header: Record | None
    decisions: dict[int, list[Record]]
    events: list[Record]
    updated_ms: int | None


def other_records(history: History) -> OtherRecords:
    """Find in a log what its fold does not keep."""
    state, lines = history.state, bytes(history.content).split(b"\n")
    decisions: dict[int, list[Record]] = {}
    events: list[Record] = []
    policy = policy_of(state)
    if policy.has_decisions:
        for record in _objects(lines, b'"decision"'):
            if record.get("type") == "decision" and type(record.get("run")) is int:
                decisions.setdefault(record["run"], []).append(record)
    if policy.has_events:
        events = [one for one in _objects(lines) if one.get("event") not in ("baseline", "iteration")]
    header = state.replay.config or history.header()
    return OtherRecords(header, decisions, events, _last_ms(lines))


def _objects(lines: Sequence[bytes], word: bytes = b"") -> Iterator[Record]:
    """Yield the objects of the lines that hold a word or an escape, which may hide it."""
    wanted = [line for line in lines if word in line or b"\\u" in line]
    for start in range(0, len(wanted), _BLOCK):
        block = wanted[start : start + _BLOCK]
        for line, value in zip(block, decode_many(block), strict=True):
            found = decode(line).value if value is None and line.strip() else value
            if isinstance(found, dict):
                yield found


def _last_ms(lines: Sequence[bytes]) -> int | None:
    """Find the time of the last record that states one."""
    for line in reversed(lines):
        value: Any = decode(line).value if line.strip() else None
        stated = map(value.get, _TIMES) if isinstance(value, dict) else ()
        for at_ms in map(moment, stated):
            if at_ms is not None:
                return at_ms
    return None


def moment(value: object) -> int | None:
    """Read a time as UTC milliseconds, whatever the protocol; None where it is none."""
    if isinstance(value, str):
        read = parse_iso(value)
        return read[0] if read else None
    return epoch_ms(value) if is_number(value) else None  # type: ignore[arg-type]  # is_number says so


class RunDetails(NamedTuple):
    """Hold a run's secondary metrics, its `asi`, and every other key that `Run` has no field for, exactly."""

    metrics: dict[str, Any]
    asi: dict[str, Any]
    more: dict[str, Any]


def details(run: Run) -> RunDetails:
    """Read what a run's record holds further; a protocol that knows no asi and no metrics has them among the extras."""
    more: dict[str, Any] = load(run.extras) if run.extras else {}
    metrics, asi = run.metrics or {}, load(run.asi) if run.asi else {}
    if isinstance(more.get("metrics"), dict):
        metrics = more.pop("metrics")
    if isinstance(more.get("asi"), dict):
        asi = more.pop("asi")
    return RunDetails(metrics, asi, {key: value for key, value in more.items() if key not in _CONSTANT})
