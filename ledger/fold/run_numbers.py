"""A set of run numbers that stays small when they come in sequence, as they mostly do."""

from bisect import bisect_right
from collections.abc import Iterable


class RunSet:
    """Hold integers as sorted, disjoint, non-adjacent ranges [start, end]."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        pairs = list(ranges)
        self._starts = [start for start, _ in pairs]
        self._ends = [end for _, end in pairs]

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number <= self._ends[place]

    @property
    def highest(self) -> int | None:
        """The highest number held, or None."""
        return self._ends[-1] if self._ends else None

    def add(self, first: int, last: int | None = None) -> None:
        """Add a number, or every number from `first` to `last`; a range must lie above all that is held."""
        starts, ends = self._starts, self._ends
        end = first if last is None else last
        place = bisect_right(starts, first) - 1
        if place >= 0 and first <= ends[place]:
            return
        if place >= 0 and ends[place] == first - 1:
            ends[place] = end
            if place + 1 < len(starts) and starts[place + 1] == end + 1:
                ends[place] = ends.pop(place + 1)
                starts.pop(place + 1)
        elif place + 1 < len(starts) and starts[place + 1] == end + 1:
            starts[place + 1] = first
        else:
            starts.insert(place + 1, first)
            ends.insert(place + 1, end)

    def ranges(self) -> list[tuple[int, int]]:
        """List the ranges, lowest first."""
        return list(zip(self._starts, self._ends, strict=True))
