"""Fixer of a log that does not begin with its header."""

from collections.abc import Iterator

from ledger.dialects import by_name
from ledger.dialects.base import Said
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
    elif options.metric and options.direction and (make := by_name(text.dialect).header) is not None:
        records = (record_of(text.line(line)) or {} for line in range(1, text.lines + 1))
        header = make(Said(options.metric, options.direction, options.unit, options.name), records)
        words = f"begin the log with a header for {options.metric!r}, where {options.direction} is better"
        yield proposed(tuple(found), UNSAFE, words, Edit(0, 0, dump(header).encode() + b"\n"))
