"""Edits of a log's bytes: put together, applied, and traced back to the lines that they came from."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from ledger.log.diagnostics import Edit, Fix

Fixed = TypeVar("Fixed")


def apply_edits(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Carry out edits, which lie in order and do not overlap."""
    parts: list[bytes] = []
    here = 0
    for edit in edits:
        parts += (data[here : edit.start], edit.data)
        here = edit.end
    return b"".join((*parts, data[here:]))


def fitting(items: Iterable[tuple[Fixed, Fix]]) -> tuple[list[Edit], list[Fixed], list[Fixed]]:
    """Choose the fixes that do not touch an earlier one: (their edits in order, what was chosen, what has to wait)."""
    spans: list[tuple[int, int]] = []
    edits: list[Edit] = []
    chosen: list[Fixed] = []
    waiting: list[Fixed] = []
    for item, fix in items:
        wanted = [(edit.start, edit.end) for edit in fix.edits]
        if any(_touches(spans, *span) for span in wanted):
            waiting.append(item)
            continue
        chosen.append(item)
        edits += fix.edits
        for span in wanted:
            spans.insert(bisect_left(spans, span), span)
    return sorted(edits, key=lambda edit: (edit.start, edit.end)), chosen, waiting


def _touches(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Tell whether a span shares a byte, or a border, with one of these, which lie in order and apart."""
    place = bisect_left(spans, (start, end))
    before = spans[place - 1] if place else None
    after = spans[place] if place < len(spans) else None
    return (before is not None and before[1] >= start) or (after is not None and after[0] <= end)


class Lineage:
    """Trace the lines of a log that is edited, in rounds, to the lines of the original.

    Lines that one edit spans are one group: what is said of any of them is said of the first.
    """

    def __init__(self, lines: int) -> None:
        self._origin = list(range(1, lines + 1))
        self._group: dict[int, int] = {}

    def of(self, line: int) -> int:
        """Give the original line (the first of its group) that a line came from; 0 stays the file as a whole."""
        return self.group(self._origin[line - 1]) if 0 < line <= len(self._origin) else 0

    def group(self, line: int) -> int:
        """Give the first line of an original line's group."""
        while line in self._group:
            line = self._group[line]
        return line

    def follow(self, starts: Sequence[int], edits: Sequence[Edit], new_starts: Sequence[int]) -> None:
        """Take the next round of edits: `starts` are where lines begin, and at last where the log ends."""
        for edit in edits:
            first, last = _at(starts, edit.start), _at(starts, max(edit.start, edit.end - 1))
            for place in range(first + 1, last + 1):
                one, other = self.group(self._origin[first]), self.group(self._origin[place])
                if one != other:
                    self._group[max(one, other)] = min(one, other)
        old = _traced(edits, new_starts[:-1])
        self._origin = [self._origin[_at(starts, place)] if self._origin else 1 for place in old]


def _at(starts: Sequence[int], offset: int) -> int:
    """Find the place in `starts` of the line that an offset lies in; past the end, the last line."""
    return max(0, min(bisect_right(starts, offset), len(starts) - 1) - 1)


def _traced(edits: Sequence[Edit], places: Sequence[int]) -> Iterator[int]:
    """Yield the offset before the edits of each offset after them, both in order."""
    shift, number = 0, 0  # new offset - old offset, ahead of the edit of this number
    for place in places:
        while number < len(edits) and edits[number].start + shift + len(edits[number].data) <= place:
            shift += len(edits[number].data) - (edits[number].end - edits[number].start)
            number += 1
        edit = edits[number] if number < len(edits) else None
        if edit is None or edit.start + shift > place:
            yield place - shift
        else:
            yield edit.start if edit.origin is None else edit.origin + place - shift - edit.start
