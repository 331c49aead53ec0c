"""The order of a merged log: by time, no run under another header than its own, and each log in its own order."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ledger.merge.fork import Fork, Part, Sides, moments, regions
from ledger.merge.shared_records import Shared
from ledger.merge.side import HEADER, RUN, Line, bare

Pair = tuple[Part | None, Part | None]
"""Parts of log 0 and log 1 that are one, or one part alone."""


class Position(NamedTuple):
    """Point to a line of the merged log: in log `log`, at index `at`; `other` is the same record's in the other."""

    log: int
    at: int
    other: int | None = None


def arrange(sides: Sides, fork: Fork, both: Shared) -> list[Position] | str:
    """Order what the logs have behind their fork, or say why there is no honest order.

    What continues the segment that both share goes first, record by record. A segment that a log opened follows whole,
    since its runs are about its own header; one that has no run yet goes last, or another header would replace it.
    """
    if both.whole is not None:
        log = both.whole
        others = both.lines if log == 0 else {other: index for index, other in both.lines.items()}
        return [Position(log, index, others.get(index)) for index in range(fork.lengths[log], len(sides[log].lines))]
    ours, theirs = (regions(side.lines, length) for side, length in zip(sides, fork.lengths, strict=True))
    pairs = list(_by_time(ours, theirs, both.regions))
    shared = pairs.pop(0)
    unused = [pair for pair in pairs if not _has_run(sides, pair)]
    headers = {[bare(line.data) for line in _records(sides, pair) if line.kind == HEADER][-1] for pair in unused}
    if len(headers) > 1:
        return "each of them ends in a config header of its own without a run; only one can hold for the next run"
    ordered = [shared, *(pair for pair in pairs if _has_run(sides, pair)), *unused]
    return [place for pair in ordered for place in _lines(sides, pair, both)]


def _records(sides: Sides, pair: Pair) -> list[Line]:
    parts = zip(sides, pair, strict=True)
    return [side.lines[index] for side, part in parts if part is not None for index in part.lines]


def _has_run(sides: Sides, pair: Pair) -> bool:
    return any(line.kind == RUN for line in _records(sides, pair))


def _lines(sides: Sides, pair: Pair, both: Shared) -> Iterator[Position]:
    """Put the lines of a part in order: record by record, if both logs have a share in it."""
    ours, theirs = ([] if part is None else moments(side.lines, part) for side, part in zip(sides, pair, strict=True))
    there = {part.lines[0]: place for place, part in enumerate(theirs)}
    partners = {
        place: there[other]
        for place, part in enumerate(ours)
        if (other := both.lines.get(part.lines[0])) is not None and other in there
    }
    brought = set(both.lines.values())
    for mine, their in _by_time(ours, theirs, partners):
        yield from (Position(0, index, both.lines.get(index)) for index in (mine.lines if mine else ()))
        yield from (Position(1, index) for index in (their.lines if their else ()) if index not in brought)


def _by_time(ours: list[Part], theirs: list[Part], partners: Mapping[int, int]) -> Iterator[Pair]:
    """Yield parts of both logs in order of time, each log's own order kept; ours go first at the same time.

    Partners (place in ours → place in theirs) are one. Where the logs have them in another order, ours holds.
    """
    back = {other: place for place, other in partners.items()}
    done: set[int] = set()
    a = b = 0
    while a < len(ours) or b < len(theirs):
        if b in done:
            b += 1
        elif a == len(ours) or (
            b < len(theirs) and b not in back and (a in partners or theirs[b].at_ms < ours[a].at_ms)
        ):
            yield None, theirs[b]
            b += 1
        elif a in partners:
            yield ours[a], theirs[partners[a]]
            done.add(partners[a])
            a += 1
        else:
            yield ours[a], None
            a += 1
