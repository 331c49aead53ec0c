"""Where things stand in a line of JSON: its members, and characters that must be escaped."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ledger.log.jsontext import WHITE, decode

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
MARK = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
"""What shows where a record ends: brackets, quotes, and the escapes that hide them."""

_MOST_OBJECTS = 1000
_CONTROL = re.compile(rb"[\x00-\x1f]")
_SHORT = {8: rb"\b", 9: rb"\t", 10: rb"\n", 12: rb"\f", 13: rb"\r"}


class Member(NamedTuple):
    """Tell where a member of an object stands: its key from `start` to before `key_end`, its value to before `end`.

    `depth` is that of its object, from 1; `scope` numbers the object within the line.
    """

    name: str
    depth: int
    scope: int
    start: int
    key_end: int
    value: int
    end: int


class _Frame:
    """An open object or array, with the member that is being read in it."""

    def __init__(self, scope: int, *, is_object: bool) -> None:
        self.scope = scope
        self.is_object = is_object
        self.name: str | None = None
        self.start = self.key_end = 0
        self.value: int | None = None


def members(line: bytes) -> list[Member]:
    """Find the members of all objects in a line that is JSON, in the order in which they end."""
    found: list[Member] = []
    stack: list[_Frame] = []
    scopes = end = 0
    for token in _TOKEN.finditer(line):
        mark, here = token[0][:1], stack[-1] if stack else None
        if here is not None and mark in b",}]":
            if here.name is not None and here.value is not None:
                found.append(Member(here.name, len(stack), here.scope, here.start, here.key_end, here.value, end))
            here.name = here.value = None
        if mark in b"}]":
            if stack:
                stack.pop()
        elif mark in b",:":
            continue
        elif here is not None and here.is_object and here.name is None:
            here.name, here.start, here.key_end = _text(token[0]), *token.span()
        elif here is not None and here.is_object and here.value is None:
            here.value = token.start()
        end = token.end()
        if mark in b"{[":
            scopes += 1
            stack.append(_Frame(scopes, is_object=mark == b"{"))
    return found


def _text(token: bytes) -> str:
    value = decode(token).value
    return value if isinstance(value, str) else ""


def own_members(line: bytes) -> dict[str, Member]:
    """Find the members of a line's own object by name; of equal names the last."""
    return {member.name: member for member in members(line) if member.depth == 1}


def control_escapes(text: bytes) -> Iterator[tuple[int, bytes]]:
    r"""Yield each control character within a string with the escape for it, the short one if there is one (`\t`)."""
    for string in _STRING.finditer(text):
        for found in _CONTROL.finditer(text, *string.span()):
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
    start = here = depth = 0
    in_string = False
    for mark in MARK.finditer(line):
        depth, in_string = step(mark[0], depth, in_string=in_string)
        if depth == 0 and mark[0] == b"}" and not in_string:
            here = mark.end()
            found.append(line[start:here].strip(WHITE))
            start = here
        if depth < 0 or len(found) > _MOST_OBJECTS:
            break
    if len(found) > _MOST_OBJECTS:
        return [], line
    return found, line[here:].strip(WHITE)


def step(mark: bytes, depth: int, *, in_string: bool) -> tuple[int, bool]:
    """Follow one match of MARK: how deep the nesting is after it, and whether a string is open."""
    if mark == b'"':
        return depth, not in_string
    if in_string or mark[:1] == b"\\":
        return depth, in_string
    return depth + (1 if mark in b"{[" else -1), False
