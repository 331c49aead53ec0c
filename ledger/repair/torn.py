"""Whole records on a line that begins with one that a crash cut short: the next writer wrote on behind it."""

import re

from ledger.dialects import by_name
from ledger.repair.json_spans import whole_objects
from ledger.repair.log_text import Text, record_of

_START = re.compile(rb'\{[ \t]*"')
_MOST_BYTES = 1 << 16
_MOST_STARTS = 64


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
