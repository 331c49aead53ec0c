"""The numbers of a record where its line spells them: found, compared without, and replaced with nothing else moved."""

from collections.abc import Mapping
from itertools import islice

from ledger.log.jsontext import TOKEN, keys

_DIGITS = b"-0123456789"


def rewrite(line: bytes, numbers: Mapping[str, int]) -> bytes:
    """Write other numbers in place of a record's own; every other byte stays. A key that is not there is left out."""
    found: dict[str, tuple[int, int]] = {}
    for name, column, depth, _ in keys(line):
        if depth == 1 and name in numbers:
            _key, _colon, value = islice(TOKEN.finditer(line, column - 1), 3)
            if value[0][:1] in _DIGITS:
                found[name] = value.span()
            if len(found) == len(numbers):
                break
    for name in sorted(found, key=found.__getitem__, reverse=True):
        start, end = found[name]
        line = line[:start] + str(numbers[name]).encode() + line[end:]
    return line


def bare(line: bytes) -> bytes:
    """Give a line without the carriage return that an editor, or git, may have put at its end."""
    return line.removesuffix(b"\r")


def masked(line: bytes) -> bytes:
    """Give a record's line without its run number and segment, which a merge may have changed."""
    return rewrite(bare(line), {"run": 0, "segment": 0})
