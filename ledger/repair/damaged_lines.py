"""Records in text that is no sound line: whole ones side by side, ones on several lines, raw control characters."""

import re
from collections.abc import Iterator

from ledger.dialects import by_name
from ledger.log.json_places import Nesting, strings
from ledger.log.jsontext import WHITE
from ledger.repair.log_text import Text, record_of

_MOST_BYTES = 1 << 16
_MOST_STARTS = 64
_START = re.compile(rb'\{[ \t]*"')
_MOST_OBJECTS = 1000
_CONTROL = re.compile(rb"[\x00-\x1f]")
_SHORT = {8: rb"\b", 9: rb"\t", 10: rb"\n", 12: rb"\f", 13: rb"\r"}


def control_escapes(text: bytes) -> Iterator[tuple[int, bytes]]:
    r"""Yield each control character within a string with the escape for it, the short one if there is one (`\t`)."""
    for span in strings(text):
        for found in _CONTROL.finditer(text, *span):
            code = found[0][0]
            yield found.start(), _SHORT.get(code) or b"\\u%04x" % code


def on_one_line(text: bytes) -> bytes:
    """Write a record of several lines on one: within strings newlines become escapes, between tokens spaces."""
    parts: list[bytes] = []
    end = 0
    for place, escape in control_escapes(text):
        parts += (text[end:place], escape)
        end = place + 1
    return b"".join((*parts, text[end:])).replace(b"\n", b" ")


def whole_objects(line: bytes) -> tuple[list[bytes], bytes]:
    """Take the whole objects off the start of a line: (each of them, what follows the last).

    A line of very many is taken for garbage, with none.
    """
    found: list[bytes] = []
    start = 0
    nesting = Nesting()
    for end, mark in nesting.feed(line):
        if nesting.depth == 0 and mark == b"}":
            found.append(line[start:end].strip(WHITE))
            start = end
        if nesting.depth < 0 or len(found) > _MOST_OBJECTS:
            break
    if len(found) > _MOST_OBJECTS:
        return [], line
    return found, line[start:].strip(WHITE)


def records_behind_torn(text: Text, line: bytes) -> list[bytes]:
    """Give the records that a line ends with, behind a torn one; none if it is not so, or the line is very long.

    A record has the keys that its protocol requires: an object inside the torn record, which may be whole, has not.
    """
    if text.dialect is None or len(line) > _MOST_BYTES:
        return []
    for tried, start in enumerate(_START.finditer(line, 1)):
        if tried == _MOST_STARTS:
            break
        parts, rest = whole_objects(line[start.start() :])
        if parts and not rest and all(_is_record(text.dialect, part) for part in parts):
            return parts
    return []


def _is_record(dialect: str, part: bytes) -> bool:
    record = record_of(part)
    if record is None:
        return False
    required = [field.key for field in by_name(dialect).kind_of(record).fields if field.presence == "required"]
    return bool(required) and record.keys() >= set(required)
