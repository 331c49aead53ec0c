"""Where two logs of one session part: what both have, and what each has of its own behind that."""

from itertools import takewhile
from typing import NamedTuple

from ledger.dialects import by_name
from ledger.merge.side import DECISION, HEADER, REST, RUN, Line, Side, bare, masked

Sides = tuple[Side, Side]


START = -(2**63)
"""The time of what stands before every time."""


class Fork(NamedTuple):
    """Hold what both logs have: the first `lengths[n]` lines of log n.

    The merged log begins with those of log `trunk`. The other's may bear other run numbers there, and lack lines that
    an earlier merge brought in; `numbers` gives the trunk's number for each of the other's. Of the other's lines `lost`
    are not in the trunk, which never had them.
    """

    trunk: int
    lengths: tuple[int, int]
    numbers: dict[int, int]
    lost: int = 0


class Part(NamedTuple):
    """Hold lines of one log that stay together, by index from 0, and when they begin (UTC milliseconds)."""

    at_ms: int
    lines: list[int]


def find_fork(sides: Sides, base: list[bytes]) -> Fork | str:
    """Find where two logs part, or say why they cannot be one session's.

    `base` has the lines of the log that both come from, none where nobody knows it. A log that already took in another
    branch has its lines in order, but not side by side: then that log is the trunk.
    """
    ours, theirs = (side.lines for side in sides)
    pairs = zip(ours, theirs, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: bare(pair[0].data) == bare(pair[1].data), pairs))
    if by_name(sides[0].dialect).folding.replays:
        return Fork(0, (common, common), {})
    if not any(line.kind == HEADER for line in ours[:common]):
        return "they are logs of different sessions: they do not begin with the same config header"
    start = [bare(line) for line in base]
    if _begins(ours, start) and len(start) <= common:
        return Fork(0, (common, common), {})
    for trunk, other in ((0, 1), (1, 0)):
        lines = sides[trunk].lines
        if not _begins(sides[other].lines, start):
            continue
        if (taken := _absorbed(lines, sides[other].lines[: len(start)])) is not None:
            length, numbers = taken
            return Fork(trunk, (length, len(start)) if trunk == 0 else (len(start), length), numbers)
    if _begins(theirs, start) and (picked := _picked(ours[common:], theirs[common : len(start)])) is not None:
        return Fork(0, (common, len(start)), *picked)
    return "the records that both come from are no longer the same in them: one of the two was rewritten"


def _begins(lines: list[Line], start: list[bytes]) -> bool:
    return [bare(line.data) for line in lines[: len(start)]] == start


def _picked(lines: list[Line], start: list[Line]) -> tuple[dict[int, int], int] | None:
    """Tell whether a log never had some of these records: (the numbers of those that it has, how many it has not).

    So it is where git picks one commit of a branch, but not what stood before it on the branch. None if the log may
    just have been cut short, or may have them in another form: only by its time is a record known to be another. None
    as well if they open a segment, which the log then lacks.
    """
    if not lines:
        return None
    here = {masked(line.data): line for line in lines if line.kind in (RUN, DECISION)}
    times = {None, *(line.at_ms for line in lines)}
    numbers: dict[int, int] = {}
    lost = 0
    for line in start:
        found = here.get(masked(line.data)) if line.kind in (RUN, DECISION) else None
        if found is None and (line.kind == HEADER or (line.kind != REST and line.at_ms in times)):
            return None
        lost += found is None
        if found is not None and line.kind == RUN and line.number is not None and found.number is not None:
            numbers[line.number] = found.number
    return numbers, lost


def _absorbed(lines: list[Line], start: list[Line]) -> tuple[int, dict[int, int]] | None:
    """Find the shortest beginning of a log that has all these lines in order, and the numbers that their runs bear."""
    numbers: dict[int, int] = {}
    done = 0
    for length, line in enumerate(lines, 1):
        wanted = start[done]
        if line.kind == wanted.kind and (
            bare(line.data) == bare(wanted.data)
            or (line.kind in (RUN, DECISION) and masked(line.data) == masked(wanted.data))
        ):
            if wanted.kind == RUN and wanted.number is not None and line.number is not None:
                numbers[wanted.number] = line.number
            done += 1
            if done == len(start):
                return length, numbers
    return None


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
