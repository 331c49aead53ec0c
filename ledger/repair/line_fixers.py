"""Fixers of lines that hold less or more than one record, and of raw control characters."""

from collections.abc import Iterator

from ledger.log.diagnostics import Diagnostic, Edit
from ledger.log.json_places import Nesting
from ledger.log.jsontext import WHITE
from ledger.log.source import MAX_LINE_BYTES
from ledger.repair.damaged_lines import control_escapes, on_one_line, records_behind_torn, whole_objects
from ledger.repair.fixer import UNSAFE, Options, Proposal, by_line, fixer, proposed
from ledger.repair.log_text import Text, record_of

_MOST_LINES = 1000
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


@fixer("L103", also=("L104", "L105", "L113", "L114", "L115", "L118"))
def join_lines(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Join the lines that raw newlines broke one record into."""
    lines = dict(by_line(found))
    done = 0
    for line, here in lines.items():
        if line <= done or not any(one.code in ("L103", "L118") for one in here):
            continue
        last = _last_line(text, line)
        if last is None:
            continue
        joined = on_one_line(b"\n".join(text.line(number) for number in range(line, last + 1)))
        if record_of(joined) is None:
            continue
        done = last
        covered = tuple(one for number in range(line, last + 1) for one in lines.get(number, ()))
        words = f"join lines {line} to {last}, which are one record broken by raw newlines"
        yield proposed(covered, UNSAFE, words, Edit(text.start(line), text.end(last), joined + b"\n"))


def _last_line(text: Text, first: int) -> int | None:
    """Find the line in which the record that begins a line ends; None if it is that line, or no such record is seen.

    No line after the first may look like the start of a record: that keeps the search short, and torn records apart.
    """
    if not text.line(first).startswith(b"{"):
        return None
    nesting, size = Nesting(), 0
    for number in range(first, min(first + _MOST_LINES, text.lines + 1)):
        line = text.line(number)
        size += len(line) + 1
        if size > MAX_LINE_BYTES or (number > first and line.startswith((b"{", *_MARKERS))):
            return None
        for _ in nesting.feed(line + b"\n"):
            pass
        if nesting.depth <= 0 and not nesting.in_string:
            return number if number > first else None
    return None


@fixer("L103")
def cut_torn_start(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Cut off the torn record that whole ones were written behind, and give each of these a line."""
    for one in found:
        start, whole = text.start(one.line), records_behind_torn(text, text.line(one.line))
        if whole:
            data = b"".join(part + b"\n" for part in whole)
            torn = len(text.line(one.line)) - sum(map(len, whole))
            records = "record" if len(whole) == 1 else f"{len(whole)} records"
            words = f"cut off the {torn:,} bytes of a torn record, and keep the {records} behind it"
            yield proposed(one, UNSAFE, words, Edit(start, text.end(one.line), data))


@fixer("L105")
def split_records(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Give each record on a line a line of its own, if nothing else stands on it."""
    for one in found:
        line, start = text.line(one.line), text.start(one.line)
        parts, rest = whole_objects(line)
        if rest or len(parts) < 2 or any(record_of(part) is None for part in parts):
            continue
        edits, here = [], len(line) - len(line.lstrip(WHITE)) + len(parts[0])
        for part in parts[1:]:
            follows = line.index(part, here)
            edits.append(Edit(start + here, start + follows, b"\n"))
            here = follows + len(part)
        yield proposed(one, UNSAFE, f"give the {len(parts)} records on it a line each", *edits)


@fixer("L118")
def escape_control_characters(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Write raw control characters in a text as escapes."""
    for line, here in by_line(found):
        data, start = text.line(line), text.start(line)
        escapes = list(control_escapes(data))
        if record_of(on_one_line(data)) is None:
            continue
        edits = (Edit(start + place, start + place + 1, escape) for place, escape in escapes)
        count = len(escapes)
        words = (
            "write the raw control character as an escape" if count == 1 else f"escape {count} raw control characters"
        )
        yield proposed(tuple(here), UNSAFE, words, *edits)
