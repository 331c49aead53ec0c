"""The order of a merged log: by time, no run under another header than its own, and each log in its own order."""

from typing import NamedTuple

from ledger.merge.fork import Fork, Sides
from ledger.merge.side import HEADER, RUN, Line

START = -(2**63)
"""The time of what stands before every time."""


class Part(NamedTuple):
    """Hold lines of one log that stay together: (log, index from 0) of each, and when they begin (UTC milliseconds)."""

    at_ms: int
    lines: list[tuple[int, int]]


def arrange(sides: Sides, fork: Fork) -> list[tuple[int, int]] | str:
    """Order what both logs have behind their fork, as (log, index from 0), or say why there is no honest order.

    What continues the segment that both share goes first, record by record. A segment that a log opened follows whole,
    since its runs are about its own header; one that has no run yet goes last, or another header would replace it.
    """
    parts = [
        _regions(side.lines, length, log) for log, (side, length) in enumerate(zip(sides, fork.lengths, strict=True))
    ]
    shared = [_moments(sides[log].lines, parts[log][0]) for log in (0, 1)]
    opened = [parts[log][1:] for log in (0, 1)]
    last: list[list[Part]] = [[], []]
    for log in (0, 1):
        if opened[log] and not any(sides[log].lines[index].kind == RUN for _, index in opened[log][-1].lines):
            last[log] = [opened[log].pop()]
    if all(last):
        ours, theirs = (_header(sides[log].lines, last[log][0]) for log in (0, 1))
        if ours != theirs:
            return "each of them ends in a config header of its own without a run; only one can hold for the next run"
    ordered = (*_by_time(*shared), *_by_time(*opened), *_by_time(*last))
    return [line for part in ordered for line in part.lines]


def _regions(lines: list[Line], length: int, log: int) -> list[Part]:
    """Cut a log behind the fork at its headers; one that only replaces another, no run being between, cuts nothing.

    The first part continues the shared segment; it may be empty.
    """
    found: list[list[tuple[int, int]]] = [[]]
    has_run = True  # the other log may have runs for the shared segment, so a first header opens another one
    for index in range(length, len(lines)):
        if lines[index].kind == HEADER and has_run:
            found.append([])
            has_run = False
        has_run = has_run or lines[index].kind == RUN
        found[-1].append((log, index))
    parts, at_ms = [], START
    for region in found:
        times = [at for _, index in region if (at := lines[index].at_ms) is not None]
        parts.append(Part(times[0] if times else at_ms, region))
        at_ms = times[-1] if times else at_ms
    return parts


def _moments(lines: list[Line], region: Part) -> list[Part]:
    """Cut a region at each record that has a time; what has none stays behind the record that it follows."""
    found: list[Part] = []
    for log, index in region.lines:
        at_ms = lines[index].at_ms
        if at_ms is not None or not found:
            found.append(Part(START if at_ms is None else at_ms, []))
        found[-1].lines.append((log, index))
    return found


def _header(lines: list[Line], region: Part) -> bytes:
    """Give the header that holds at a region's end."""
    return next(lines[index].data for _, index in reversed(region.lines) if lines[index].kind == HEADER)


def _by_time(ours: list[Part], theirs: list[Part]) -> list[Part]:
    """Put parts of both logs in order of time, each log's own order kept; ours go first at the same time."""
    merged: list[Part] = []
    a = b = 0
    while a < len(ours) and b < len(theirs):
        if theirs[b].at_ms < ours[a].at_ms:
            merged.append(theirs[b])
            b += 1
        else:
            merged.append(ours[a])
            a += 1
    return [*merged, *ours[a:], *theirs[b:]]
