"""A fix as a unified diff: exactly the lines that its edits touch, with two around them."""

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ledger.log.diagnostics import Edit
from ledger.repair.edits import apply_edits
from ledger.repair.log_text import Text

_AROUND = 2
_UNENDED = "\\ No newline at end of file"


class _Chunk(NamedTuple):
    """Hold lines that change together, from `first` to before `last`, counted from 0, and what they become."""

    first: int
    last: int
    old: list[bytes]
    new: list[bytes]


def unified(text: Text, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield the lines of the diff that edits make, without newlines; bytes that are not UTF-8 are shown as escapes."""
    shift = 0
    for hunk in _hunks(list(_chunks(text, edits))):
        head, tail = max(0, hunk[0].first - _AROUND), min(text.lines, hunk[-1].last + _AROUND)
        grown = sum(len(chunk.new) - len(chunk.old) for chunk in hunk)
        yield f"@@ -{_range(head, tail - head)} +{_range(head + shift, tail - head + grown)} @@"
        here = head
        for chunk in hunk:
            yield from _signed(" ", _between(text, here, chunk.first))
            yield from _signed("-", chunk.old)
            yield from _signed("+", chunk.new)
            here = chunk.last
        yield from _signed(" ", _between(text, here, tail))
        shift += grown


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _signed(sign: str, lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix(b"\n").decode("utf-8", "backslashreplace")
        if not line.endswith(b"\n"):
            yield _UNENDED


def _hunks(chunks: list[_Chunk]) -> Iterator[list[_Chunk]]:
    """Group chunks that lie so close that the lines around them meet."""
    group: list[_Chunk] = []
    for chunk in chunks:
        if group and chunk.first > group[-1].last + 2 * _AROUND:
            yield group
            group = []
        group.append(chunk)
    if group:
        yield group


def _chunks(text: Text, edits: Sequence[Edit]) -> Iterator[_Chunk]:
    group: list[Edit] = []
    first = last = 0
    for edit in edits:
        begins, ends = _touched(text, edit)
        if group and begins >= last:
            yield _chunk(text, first, last, group)
            group = []
        first, last = (min(first, begins), max(last, ends)) if group else (begins, ends)
        group.append(edit)
    if group:
        yield _chunk(text, first, last, group)


def _chunk(text: Text, first: int, last: int, edits: list[Edit]) -> _Chunk:
    start, end = text.starts[first], text.starts[last]
    old = text.data[start:end]
    new = apply_edits(old, [edit._replace(start=edit.start - start, end=edit.end - start) for edit in edits])
    return _Chunk(first, last, _split(old), _split(new))


def _touched(text: Text, edit: Edit) -> tuple[int, int]:
    """Give the lines that an edit changes, from 0 to before the end; none for one that only puts lines between."""
    start, end = edit.start, edit.end
    if start == end and (not edit.data or edit.data.endswith(b"\n")):
        place = text.number_at(start) - 1
        if start < len(text.data) and text.starts[place] == start:
            return place, place
        if start == len(text.data) and text.terminated:
            return text.lines, text.lines
    return text.number_at(start) - 1, text.number_at(max(start, end - 1))


def _between(text: Text, first: int, last: int) -> list[bytes]:
    return _split(text.data[text.starts[first] : text.starts[last]])


def _split(data: bytes) -> list[bytes]:
    return io.BytesIO(data).readlines()
