"""Fixers of what is about a log as a whole: its header at the top, its run numbers."""

from collections.abc import Iterator

from ledger.dialects import by_name
from ledger.dialects.base import Said
from ledger.log.diagnostics import Diagnostic, Edit
from ledger.log.events import Header, Runs, Unread
from ledger.log.json_places import own_members
from ledger.log.jsontext import dump
from ledger.repair.fixer import UNSAFE, Options, Proposal, fixer, proposed
from ledger.repair.log_text import Text, record_of


@fixer("S403", "S404", "S405")
def renumber_runs(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Make the run numbers follow in file order.

    Room is left for records that cannot be read; a first run 0 stays.
    """
    edits = [edit for line, number in _renumbered(text) if (edit := _edit(text, line, number))]
    if edits:
        yield proposed(tuple(found), UNSAFE, f"number the runs in file order, which changes {len(edits):,}", *edits)


def _renumbered(text: Text) -> Iterator[tuple[int, int]]:
    """Yield (line, new number) of each run whose number does not follow."""
    last: int | None = None
    lost = 0
    for event, _ in text.events:
        if isinstance(event, Unread) and event.kind in (None, "unknown", "run", "result"):
            lost += event.records
        elif isinstance(event, Runs):
            for line, number in zip(event.line, event.run, strict=True):
                due = 1 if last is None else last + 1
                follows = due <= number <= due + lost or (number == 0 and last is None)
                last = number if follows else due + lost
                lost = 0
                if not follows:
                    yield line, last


def _edit(text: Text, line: int, number: int) -> Edit | None:
    member, start = own_members(text.line(line)).get("run"), text.start(line)
    return None if member is None else Edit(start + member.value, start + member.end, b"%d" % number)


@fixer("S411")
def renumber_results(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Give each repeated result a number of its own, and the decisions on it that follow.

    It is that of the decision right behind it, if no other result bears that; else one past all others.
    """
    repeated = {one.line for one in found}
    records = [(line, record_of(text.line(line)) or {}) for line in range(1, text.lines + 1)]
    numbers = {line: run for line, record in records if type(run := record.get("run")) is int}
    taken = {run for line, run in numbers.items() if records[line - 1][1].get("type") == "result"}
    highest, renamed, edits = max(numbers.values(), default=0), dict[int, int](), []
    for line, record in records:
        run = numbers.get(line)
        if run is None:
            continue
        if line in repeated:
            meant = numbers.get(line + 1)
            if meant is None or meant in taken:
                highest = meant = highest + 1
            taken.add(meant)
            renamed[run] = meant
        if run in renamed and (line in repeated or record.get("type") == "decision"):
            edits.append(_edit(text, line, renamed[run]))
    if edits:
        words = f"give repeated results new numbers, up to {max(renamed.values())}, with the decisions that follow them"
        yield proposed(tuple(found), UNSAFE, words, *filter(None, edits))


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
