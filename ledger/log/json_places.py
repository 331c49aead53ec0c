"""Where things stand in a line of JSON: the members of its objects, its strings and its brackets."""

from collections.abc import Iterator
from typing import NamedTuple

from ledger.log.jsontext import TOKEN, unescape


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
    for token in TOKEN.finditer(line):
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
            here.name, here.start, here.key_end = unescape(token[0]) or "", *token.span()
        elif here is not None and here.is_object and here.value is None:
            here.value = token.start()
        end = token.end()
        if mark in b"{[":
            scopes += 1
            stack.append(_Frame(scopes, is_object=mark == b"{"))
    return found


def own_members(line: bytes) -> dict[str, Member]:
    """Find the members of a line's own object by name; of equal names the last."""
    return {member.name: member for member in members(line) if member.depth == 1}


def strings(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each string begins and ends, quotes included; one that is left open ends with the text."""
    return (token.span() for token in TOKEN.finditer(text) if token[1] is not None)


class Nesting:
    """Follow the brackets of a text that comes in pieces: how deep it is by now, and whether a string is open."""

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False

    def feed(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        """Take the next piece; yield each bracket in it, and where it ends."""
        shift = 1 if self.in_string else 0
        for token in TOKEN.finditer(b'"' + text if shift else text):  # so an open string goes on
            mark = token[0][:1]
            self.in_string = token[1] == b""
            if mark in b"{[":
                self.depth += 1
            elif mark in b"}]":
                self.depth -= 1
            else:
                continue
            yield token.end() - shift, mark
