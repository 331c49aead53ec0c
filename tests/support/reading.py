"""Read logs from memory, the way the package reads files, and lay open what came of it."""

import io
import json
from collections import deque
from decimal import Decimal
from typing import Any, NamedTuple
from unittest.mock import patch

from ledger.dialects import by_name
from ledger.dialects.base import Dialect
from ledger.fold.run_numbers import RunSet
from ledger.fold.state import State, run_at
from ledger.log import source
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Decision, Event, Header, Lifecycle, Marker, Other, Run, Runs, Unread
from ledger.log.source import LogFile
from ledger.reading.reader import Reader
from ledger.reading.whole_log import events

DIALECTS = ("autoresearch", "state-protocol", "codex")

One = Run | Header | Marker | Decision | Lifecycle | Other | Unread


class Read(NamedTuple):
    """Hold what reading gave: events one by one, each with the segment it stands in, findings by place, the fold."""

    events: list[tuple[int, One]]
    diagnostics: list[Diagnostic]
    state: State

    @property
    def errors(self) -> list[str]:
        return [f"{d.line}:{d.column}: {d.code} {d.message}" for d in self.diagnostics if d.is_error]

    @property
    def findings(self) -> list[str]:
        return [f"{d.line}:{d.column}: {d.code} {d.message}" for d in self.diagnostics]


def read(data: bytes, dialect: str | Dialect | None, config: Any = None, block_bytes: int = 64 * 1024) -> Read:
    """Read a log of a known dialect; `config` is a codex log's run.json."""
    reader = Reader(by_name(dialect) if isinstance(dialect, str) else dialect)
    if config is not None and reader.dialect is not None and reader.dialect.run_json is not None:
        reader.configure(config, json.dumps(config, indent=2).encode())
    with patch.object(source, "BLOCK_BYTES", block_bytes):
        found = [
            (reader.state.segment.ordinal if reader.state.segment else 0, one)
            for event in events(LogFile(None, io.BytesIO(data), len(data)), reader)
            for one in flat(event)
        ]
    reader.finish()
    return Read(found, sorted(reader.diagnostics, key=lambda d: (d.line, d.column)), reader.state)


def flat(event: Event) -> list[One]:
    """Take a column of runs apart."""
    return [run_at(event, place) for place in range(len(event.run))] if isinstance(event, Runs) else [event]


def laid_open(value: Any) -> Any:
    """Turn a state into plain data that compares by type and digit."""
    if isinstance(value, RunSet):
        return value.ranges()
    if isinstance(value, float | Decimal | int | str | None):
        return type(value).__name__, repr(value)
    if isinstance(value, dict):
        return {key: laid_open(item) for key, item in value.items()}
    if isinstance(value, set):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple | deque):
        return [laid_open(item) for item in value]
    slots = getattr(value, "__slots__", None) or vars(value)
    return {slot: laid_open(getattr(value, slot)) for slot in slots if slot not in ("_gauge", "_gauged")}
