"""A log behind its fork, cut at the headers that open segments."""

from typing import NamedTuple

from ledger.merge.side import HEADER, RUN, Line

START = -(2**63)
"""The time of what stands before every time."""


class Part(NamedTuple):
    """Hold lines of one log that stay together, by index from 0, and when they begin (UTC milliseconds)."""

    at_ms: int
    lines: list[int]


def regions(lines: list[Line], length: int) -> list[Part]:
    """Cut a log behind its first `length` lines at its headers; one that only replaces another cuts nothing.

    The first part continues the segment that both logs share; it may be empty.
    """
    found: list[list[int]] = [[]]
    has_run = True  # the other log may have runs for the shared segment, so a first header opens another one
    for index in range(length, len(lines)):
        if lines[index].kind == HEADER and has_run:
            found.append([])
            has_run = False
        has_run = has_run or lines[index].kind == RUN
        found[-1].append(index)
    parts, at_ms = [], START
    for region in found:
        times = [at for index in region if (at := lines[index].at_ms) is not None]
        parts.append(Part(times[0] if times else at_ms, region))
        at_ms = times[-1] if times else at_ms
    return parts


def moments(lines: list[Line], region: Part) -> list[Part]:
    """Cut a region at each record that has a time; what has none stays behind the record that it follows."""
    found: list[Part] = []
    for index in region.lines:
        at_ms = lines[index].at_ms
        if at_ms is not None or not found:
            found.append(Part(START if at_ms is None else at_ms, []))
        found[-1].lines.append(index)
    return found
