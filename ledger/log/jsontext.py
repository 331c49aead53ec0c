"""JSON text read without losing anything: what orjson and a double drop is looked for only where it can be."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import orjson

from ledger.base.numbers import Number, from_lexeme

MAX_DEPTH = 256
INT64 = range(-(2**63), 2**63)
WHITE = b" \t\r"
BOM = b"\xef\xbb\xbf"

TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*("?)|[\[\]{}:,]|-?Infinity|NaN|-?[0-9][0-9.eE+-]*|(?:\\.|[^\s\[\]{}:,"\\])+', re.DOTALL
)
"""What JSON text is made of, damaged or not. Group 1 is of strings alone: the closing quote, empty if there is none."""

_COLON = re.compile(rb"[ \t\r\n]*:")
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_SAFE_INTEGERS = orjson.OPT_STRICT_INTEGER  # past 53 bits it refuses, and so leaves those past 64 to the careful way


class Note(NamedTuple):
    """Name something about a line's text that the decoded value does not show; `column` counts bytes from 1."""

    kind: str
    column: int
    detail: str = ""


class Decoded(NamedTuple):
    """Hold a line's value as far as it could be read (None: not at all), and the notes on it."""

    value: Any
    notes: tuple[Note, ...]


def decode_many(lines: list[bytes]) -> list[Any]:
    """Decode lines at once: a dict for each that is an object without anything to note, else None.

    The lines are parsed as one array, and each value must serialise to its line again: that proves the line canonical,
    so it hides no duplicate key, no odd number and no trailing text.
    """
    array = b"[" + b",".join(lines) + b"]"
    try:
        values: list[Any] = orjson.loads(array)
    except orjson.JSONDecodeError:
        values = []
    if len(values) != len(lines):
        values = [_loads_or_none(line) for line in lines]
    try:
        same = list(map(orjson.dumps, values, repeat(None), repeat(_SAFE_INTEGERS))) == lines
    except orjson.JSONEncodeError:
        same = False
    if not same:
        values = [
            value if value is not None and _is_plain(value, line) else None
            for value, line in zip(values, lines, strict=True)
        ]
        if None in values:  # only then can a line have taken part in a neighbour's value
            values = [None if value is None else orjson.loads(line) for value, line in zip(values, lines, strict=True)]
    if b"\\" in array and b"\\u0000" in array:  # the first is seen at once, and mostly says no
        values = [None if b"\\u0000" in line else value for value, line in zip(values, lines, strict=True)]
    alike = set(map(type, values)) == {dict}
    return values if alike else [value if type(value) is dict else None for value in values]


def _loads_or_none(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _is_plain(value: Any, line: bytes) -> bool:
    """Tell whether the line says no more than the value: it is the text that a common writer makes of it.

    Escapes of plain characters are undone, and spaces after separators taken out of both texts, inside strings too. If
    the results are the same bytes, they have the same members and the same numbers; the canonical text has no duplicate
    key and no odd number, so the line has none either.
    """
    try:
        canonical = orjson.dumps(value, None, _SAFE_INTEGERS)
    except orjson.JSONEncodeError:
        return False
    line = line.strip(WHITE)
    if b"\\u" in line:
        line = _unescape_plain(line)
    if canonical in (line, line.replace(b'": ', b'":').replace(b', "', b',"')):
        return True
    return _squeeze(canonical) == _squeeze(line)


def _squeeze(text: bytes) -> bytes:
    return text.replace(b'": ', b'":').replace(b", ", b",")


def _unescape_plain(line: bytes) -> bytes:
    r"""Write \uXXXX escapes as the characters they mean; give the line back where one of them is not that simple."""
    if b"\\\\" in line:
        return line
    head, *rest = line.split(b"\\u")
    parts = [head]
    for part in rest:
        char = _character(part[:4])
        if char is None:
            return line
        parts += (char, part[4:])
    return b"".join(parts)


@lru_cache(maxsize=4096)
def _character(digits: bytes) -> bytes | None:
    """Give the character of four hex digits in UTF-8; None for one that needs its escape, or is half of a pair."""
    try:
        char = chr(int(digits, 16))
    except ValueError:
        return None
    return None if char < " " or char in '"\\' or "\ud800" <= char <= "\udfff" else char.encode()


def decode(line: bytes) -> Decoded:
    """Decode one line with every care and note whatever a reader must know of its text. Never raises."""
    if line.startswith(BOM):
        if not line[3:].strip(WHITE):
            return Decoded(None, (Note("bom", 1),))
        rest = decode(line[3:])
        moved = tuple(note._replace(column=note.column + 3) for note in rest.notes)
        return Decoded(rest.value, (Note("bom", 1), *moved))
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return Decoded(None, (Note("encoding", error.start + 1, f"byte 0x{line[error.start]:02x}"),))
    if (deep := _too_deep(line)) is not None:
        return Decoded(None, (Note("depth", deep),))
    return _decode_text(line, text)


def _too_deep(line: bytes) -> int | None:
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return None
    depth = 0
    for token in TOKEN.finditer(line):
        first = token[0][:1]
        if first in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                return token.start() + 1
        elif first in b"]}":
            depth -= 1
    return None


def _decode_text(line: bytes, text: str) -> Decoded:
    seen: list[tuple[str, str]] = []
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: _object(pairs, seen),
        parse_float=lambda lexeme: _number(lexeme, seen),
        parse_int=lambda lexeme: _integer(lexeme, seen),
        parse_constant=lambda token: seen.append(("constant", token)),
    )
    start = len(text) - len(text.lstrip(" \t\r\n"))  # run.json has lines of its own
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return Decoded(None, (_syntax(line, text, error),))
    except RecursionError:
        return Decoded(None, (Note("depth", 1),))
    notes = _located(line, list(dict.fromkeys(seen)))
    rest = text[end:].lstrip(" \t\r\n")
    if rest:
        notes.append(Note("trailing", len(text[: len(text) - len(rest)].encode()) + 1, rest[:40]))
    if lone := next((escape for escape in _ESCAPE.finditer(line) if escape["lone"]), None):
        notes.append(Note("surrogate", lone.start() + 1))
    if nul := _NUL.search(line):
        notes.append(Note("nul", nul.end() - 5))
    return Decoded(value, tuple(notes))


def _object(pairs: list[tuple[str, Any]], seen: list[tuple[str, str]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        seen.extend(("duplicate", name) for name, times in counted.items() if times > 1)
    return made


def _number(lexeme: str, seen: list[tuple[str, str]]) -> Number | None:
    try:
        return from_lexeme(lexeme)
    except OverflowError:
        seen.append(("overflow", lexeme))
        return None


def _integer(lexeme: str, seen: list[tuple[str, str]]) -> Number | None:
    if len(lexeme) < 19:
        return int(lexeme)
    if len(lexeme) > 310:  # past every double, and past what int() takes without a limit
        seen.append(("overflow", lexeme))
        return None
    value = Decimal(lexeme)
    if abs(value) > Decimal("1.7976931348623157e308"):
        seen.append(("overflow", lexeme))
        return None
    if int(value) not in INT64:
        seen.append(("bigint", lexeme))
    return int(value)


def _located(line: bytes, seen: list[tuple[str, str]]) -> list[Note]:
    """Find where the text shows what was noted: the second of two equal keys, else the first such token."""
    places: dict[tuple[str, str], int] = {}
    if any(kind == "duplicate" for kind, _ in seen):
        met: set[tuple[int, str]] = set()
        for name, column, _, scope in keys(line):
            if (scope, name) in met:
                places.setdefault(("duplicate", name), column)
            met.add((scope, name))
    tokens: dict[bytes, int] = {}
    if any(kind != "duplicate" for kind, _ in seen):
        for token in TOKEN.finditer(line):
            tokens.setdefault(token[0], token.start() + 1)
    return [
        Note(kind, places.get((kind, detail), 1) if kind == "duplicate" else tokens.get(detail.encode(), 1), detail)
        for kind, detail in seen
    ]


def keys(line: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield each key of a line's objects: (name, column, depth of its object from 1, a number for that object)."""
    scopes: list[int] = []
    opened = 0
    for token in TOKEN.finditer(line):
        first = token[0][:1]
        if first in b"[{":
            opened += 1
            scopes.append(opened)
        elif first in b"]}" and scopes:
            scopes.pop()
        elif first == b'"' and scopes and _COLON.match(line, token.end()) and (name := unescape(token[0])) is not None:
            yield name, token.start() + 1, len(scopes), scopes[-1]


def unescape(token: bytes) -> str | None:
    """Read a string token; None for what is none."""
    try:
        value = json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _syntax(line: bytes, text: str, error: json.JSONDecodeError) -> Note:
    column = len(text[: error.pos].encode("utf-8", "surrogatepass")) + 1
    if line[:7] in (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||"):
        return Note("conflict", 1, line[:7].decode())
    if error.msg.startswith("Invalid control character"):
        return Note("control", column, f"0x{ord(text[error.pos]):02x}" if error.pos < len(text) else "")
    said = error.msg.removesuffix(" starting at").rstrip(": ")
    return Note("syntax", column, said[0].lower() + said[1:])


def dump(value: Any) -> str:
    """Write a decoded value as compact JSON text that reads back as exactly the same value."""
    try:
        return orjson.dumps(value, default=_fragment).decode()
    except (orjson.JSONEncodeError, TypeError):
        return _dump_slowly(value)


def _fragment(value: object) -> orjson.Fragment:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError


def _dump_slowly(value: Any) -> str:
    """Write what orjson will not: integers past 64 bits, and nesting past its own limit."""
    if isinstance(value, dict):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_dump_slowly(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dump_slowly, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def load(text: str) -> Any:
    """Read back what `dump` wrote, exactly."""
    return decode(text.encode()).value


def mentions(asi: str, name: str) -> bool:
    """Tell whether JSON text has a name in it, as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(dump(name)[1:-1])}(?!\w)", asi) is not None
