"""Fixers of white space and of the log's end: byte order marks, blank lines, the last line."""

from collections.abc import Iterator

from ledger.log.diagnostics import Diagnostic, Edit
from ledger.log.jsontext import BOM, WHITE
from ledger.repair.damaged_lines import records_behind_torn, whole_objects
from ledger.repair.fixer import SAFE, UNSAFE, Options, Proposal, fixer, proposed
from ledger.repair.log_text import Text, record_of


@fixer("L102")
def remove_marks(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Remove a byte order mark; a line of nothing else goes with it, lest a blank one is left."""
    for one in found:
        start, line = text.start(one.line), text.line(one.line)
        if line.replace(BOM, b"").strip(WHITE):
            place = start + one.column - 1
            yield proposed(one, SAFE, "remove the byte order mark", Edit(place, place + len(BOM), b""))
        elif line.count(BOM) == 1:
            words = "remove the line, which holds nothing but a byte order mark"
            yield proposed(one, SAFE, words, Edit(start, text.end(one.line), b""))


@fixer("L113", "L114")
def remove_blank_lines(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Remove blank lines; those that follow one another by one fix."""
    first = 0
    for place, one in enumerate(found):
        if place + 1 < len(found) and found[place + 1].line == one.line + 1:
            continue
        group, first = tuple(found[first : place + 1]), place + 1
        words = "remove the blank line" if len(group) == 1 else f"remove {len(group):,} blank lines"
        yield proposed(group, SAFE, words, Edit(text.start(group[0].line), text.end(one.line), b""))


@fixer("L115")
def end_torn_tail(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Cut a torn tail off, but for whole records that it begins or ends with: those get their newline."""
    for one in found:
        start, end = text.start(one.line), len(text.data)
        tail = text.data[start:]
        whole, rest = whole_objects(tail)
        if all(record_of(part) is not None for part in whole) and whole:
            words = "end the last line" if len(whole) == 1 else f"give the {len(whole)} records on it a line each"
            words += f", and cut off the {len(rest):,} bytes after its whole record" if rest else ""
            yield proposed(one, UNSAFE, words, Edit(start, end, b"".join(part + b"\n" for part in whole)))
        elif behind := records_behind_torn(text, tail):
            words = f"cut off the torn record of {len(tail) - sum(map(len, behind)):,} bytes, and end what follows it"
            yield proposed(one, UNSAFE, words, Edit(start, end, b"".join(part + b"\n" for part in behind)))
        elif text.dialect is None:
            continue  # there is no record before it, and a log of nothing is no sounder
        elif tail.removeprefix(BOM).strip(WHITE):
            words = f"cut off the {end - start:,} bytes of the unfinished line"
            yield proposed(one, UNSAFE, words, Edit(start, end, b""))
        else:
            yield proposed(one, SAFE, "cut off the white space after the last line", Edit(start, end, b""))


@fixer("L116")
def end_last_line(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Add the missing final newline."""
    end = len(text.data)
    for one in found:
        yield proposed(one, SAFE, "add the final newline", Edit(end, end, b"\n"))
