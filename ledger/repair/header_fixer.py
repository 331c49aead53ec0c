"""Fixer of a log that does not begin with its header."""

from collections.abc import Iterator
from typing import Any

from ledger.dialects.state_protocol import DIALECT as STATE_PROTOCOL
from ledger.log.diagnostics import Diagnostic, Edit
from ledger.log.events import Header
from ledger.log.jsontext import dump
from ledger.repair.fixer import UNSAFE, Options, Proposal, fixer, proposed
from ledger.repair.log_text import Text, record_of


@fixer("S401")
def put_header_first(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Move the log's first header up; if it has none, write the one that was given."""
    line = next((event.place.line for event, _ in text.events if isinstance(event, Header)), None)
    if line is not None:
        start, end = text.start(line), text.end(line)
        edits = (Edit(0, 0, text.line(line) + b"\n", start), Edit(start, end, b""))
        yield proposed(tuple(found), UNSAFE, f"move the header in line {line} to the top", *edits)
    elif options.metric and options.direction:
        header = _header(text, options)
        words = f"begin the log with a header for {options.metric!r}, where {options.direction} is better"
        yield proposed(tuple(found), UNSAFE, words, Edit(0, 0, dump(header).encode() + b"\n"))


def _header(text: Text, options: Options) -> dict[str, Any]:
    """Make the header of what a person said; in state-protocol it was made when the first record was."""
    name = {} if options.name is None else {"name": options.name}
    if text.dialect != STATE_PROTOCOL.name:
        return {
            "type": "config", **name, "metricName": options.metric, "metricUnit": options.unit or "",
            "bestDirection": options.direction,
        }  # fmt: skip
    records = (record_of(text.line(line)) or {} for line in range(1, text.lines + 1))
    at = next((stamp for record in records if isinstance(stamp := record.get("timestamp"), str)), "")
    unit = {} if options.unit is None else {"unit": options.unit}
    return {
        "type": "config", "schema_version": 1, "name": options.name or options.metric, "metric": options.metric,
        "direction": options.direction, **unit, "created_at": at,
    }  # fmt: skip
