"""Fixer of git conflict markers: both sides in the order of their times, or one of them."""

import heapq
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from ledger.base.numbers import is_number
from ledger.base.times import moment
from ledger.log.diagnostics import Diagnostic, Edit
from ledger.repair.fixer import UNSAFE, Options, Proposal, fixer, proposed
from ledger.repair.log_text import Text, record_of

_ORDER = {b"<<<<<<<": 0, b"|||||||": 1, b"=======": 2, b">>>>>>>": 3}
_DEEPEST = 16
_TIMES = ("timestamp", "created_at", "time")


class _Block(NamedTuple):
    """Hold a conflict: its first and last line, and the lines of either side."""

    first: int
    last: int
    ours: list[bytes]
    theirs: list[bytes]

    def settled(self, side: str) -> list[bytes]:
        """Give the lines that stay."""
        if side == "both":
            return _by_time(self.ours, self.theirs)
        return self.ours if side == "ours" else self.theirs


@fixer("L119", also=("L115",))
def settle_conflicts(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Take the markers of a whole conflict out, and keep both sides, or the one that was asked for."""
    for block in _blocks(text, [one.line for one in found], options.side):
        here = tuple(one for one in found if block.first <= one.line <= block.last)
        kept = block.settled(options.side)
        if options.side == "both":
            words = f"keep both sides of the git conflict in time order, {len(kept)} lines"
        else:
            lost = len(block.ours) + len(block.theirs) - len(kept)
            words = f"keep {options.side} of the git conflict, {len(kept)} lines, and drop the other side's {lost}"
        data = b"".join(line + b"\n" for line in kept)
        yield proposed(here, UNSAFE, words, Edit(text.start(block.first), text.end(block.last), data))


def _blocks(text: Text, lines: list[int], side: str) -> list[_Block]:
    """Find the conflicts whose markers stand in these lines, each marker in its order; others are left alone.

    One inside another, as a merge of merges leaves it, is settled with that.
    """
    whole: list[_Block] = []
    open_ones: list[dict[int, int]] = []  # where the markers of each stand so far, by their order
    for line in lines:
        order = _ORDER.get(text.line(line)[:7])
        if order == 0 and len(open_ones) < _DEEPEST:
            open_ones.append({0: line})
        elif not order or not open_ones or order <= max(open_ones[-1]) or (order == 3 and 2 not in open_ones[-1]):
            open_ones.clear()
        elif order < 3:
            open_ones[-1][order] = line
        else:
            at, inside = open_ones.pop(), list[_Block]()
            while whole and whole[-1].first > at[0]:
                inside.append(whole.pop())
            inside.reverse()
            ours = _between(text, at[0], at.get(1, at[2]), inside, side)
            whole.append(_Block(at[0], line, ours, _between(text, at[2], line, inside, side)))
    return whole


def _between(text: Text, before: int, after: int, inside: list[_Block], side: str) -> list[bytes]:
    """Give the lines between two markers, with the conflicts that stand there settled."""
    found: list[bytes] = []
    here = before + 1
    for block in inside:
        if before < block.first < after:
            found += (text.line(number) for number in range(here, block.first))
            found += block.settled(side)
            here = block.last + 1
    return found + [text.line(number) for number in range(here, after)]


def _by_time(ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Merge two sides by time, each in its own order; a line that both have is one line. Ours goes first in a tie.

    A line without a time goes right after the one before it on its side.
    """
    shared = set(ours)
    sides = (_timed(ours), _timed([line for line in theirs if line not in shared]))
    return [line for _, line in heapq.merge(*sides, key=itemgetter(0))]


def _timed(lines: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """Pair lines with times that never go back, so that merging keeps each side's order."""
    latest = 0
    for line in lines:
        latest = max(latest, _time(line) or 0)
        yield latest, line


def _time(line: bytes) -> int | None:
    record = record_of(line) or {}
    value = next((record[key] for key in _TIMES if key in record), None)
    return moment(value)[0] if isinstance(value, str) or is_number(value) else None
