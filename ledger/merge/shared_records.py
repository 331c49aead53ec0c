"""Records that both logs have behind their fork: one of them got the other's by an earlier merge."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ledger.merge.fork import Fork, Part, Sides, regions
from ledger.merge.side import DECISION, HEADER, RUN, Line, bare, masked

Name = Hashable
"""What a record is called in both logs, whatever number it bears."""


class Shared(NamedTuple):
    """Hold what is the same record in both logs: index from 0 in log 0 → index in log 1.

    `regions` pairs the parts behind the fork that are one segment. `whole` is the log that has all there is behind the
    fork, None if each has something of its own.
    """

    lines: dict[int, int]
    regions: dict[int, int]
    whole: int | None


def find_shared(sides: Sides, fork: Fork) -> Shared:
    """Find the records that both logs have behind their fork.

    A record with a time is known by its bytes, but for its number and segment, which a merge may change; a decision by
    its result as well. A header is known by the records behind it. What has no time is known by the record that it
    follows; where that is the fork itself, or a header without any record that has a time, two logs may well have
    written the same each for itself, so it counts as one only if one of the logs then has all that the other has.
    """
    parts = [regions(side.lines, length) for side, length in zip(sides, fork.lengths, strict=True)]
    known = _timed(sides, fork)
    pairs, untimed = _paired(sides, parts, known)
    loose: dict[int, int] = {}
    for ours, theirs in (pairs | untimed).items():
        headers = _headers(sides, parts[0][ours], parts[1][theirs])
        followers = list(_followers(sides, parts[0][ours], parts[1][theirs], known | headers))
        (loose if ours in untimed else known).update(headers)
        for index, other, leader in followers:
            (loose if leader is None or ours in untimed else known)[index] = other
    if (whole := _whole(sides, fork, known | loose)) is not None:
        return Shared(known | loose, pairs | untimed, whole)
    return Shared(known, pairs, _whole(sides, fork, known))


def _whole(sides: Sides, fork: Fork, lines: Mapping[int, int]) -> int | None:
    left = [len(side.lines) - length - len(lines) for side, length in zip(sides, fork.lengths, strict=True)]
    return 0 if left[1] == 0 else 1 if left[0] == 0 else None


def _timed(sides: Sides, fork: Fork) -> dict[int, int]:
    """Pair the records that have times, but for headers."""
    tails = [side.lines[length:] for side, length in zip(sides, fork.lengths, strict=True)]
    times = {line.at_ms for line in tails[0]} & {line.at_ms for line in tails[1]} - {None}
    ours, theirs = (_counted(_timed_names(log, side.lines, fork, times)) for log, side in enumerate(sides))
    return _same(ours, theirs)


def _timed_names(log: int, lines: list[Line], fork: Fork, times: set[int | None]) -> Iterator[tuple[Name, int]]:
    """Name the records whose time the other log has as well."""
    results: dict[int, Name] = {}
    for index in range(fork.lengths[log], len(lines)):
        line = lines[index]
        name: Name = _text(line) if line.at_ms in times else (log, index)
        if line.kind == RUN and line.number is not None:
            results[line.number] = name
        elif line.kind == DECISION and line.number is not None:
            ahead = line.number if log == fork.trunk else fork.numbers.get(line.number, line.number)
            name = name, results.get(line.number, ahead)
        if line.at_ms in times and line.kind != HEADER:
            yield name, index


def _counted(named: Iterable[tuple[Name, int]]) -> dict[Name, int]:
    """Give the index of each name; equal ones within a log are told apart by counting."""
    seen: Counter[Name] = Counter()
    found: dict[Name, int] = {}
    for name, index in named:
        seen[name] += 1
        found[name, seen[name]] = index
    return found


def _same(ours: Mapping[Name, int], theirs: Mapping[Name, int]) -> dict[int, int]:
    return {index: theirs[name] for name, index in ours.items() if name in theirs}


def _text(line: Line) -> bytes:
    return masked(line.data) if line.kind in (RUN, DECISION) else bare(line.data)


def _paired(sides: Sides, parts: list[list[Part]], timed: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Pair the segments that share a record; and apart from these, those without times that hold the same.

    Of those that have no run yet, equal headers make one: the next run will be about it, whoever logs that.
    """
    region = {index: place for place, part in enumerate(parts[1]) for index in part.lines}
    same = {
        content: place for place, part in enumerate(parts[1]) if (content := _untimed(sides[1].lines, part)) is not None
    }
    pairs, untimed, taken = {0: 0}, dict[int, int](), {0}
    for place, part in enumerate(parts[0][1:], 1):
        found = pairs
        theirs = next((region[timed[index]] for index in part.lines if index in timed), None)
        if theirs is None and (content := _untimed(sides[0].lines, part)) is not None:
            found, theirs = untimed, same.get(content)
        if theirs is not None and theirs not in taken:
            found[place] = theirs
            taken.add(theirs)
    unused: dict[bytes | None, int] = {
        header: other
        for other, part in enumerate(parts[1])
        if other not in taken and (header := _unused_header(sides[1].lines, part)) is not None
    }
    for place, part in enumerate(parts[0]):
        if place in pairs or place in untimed:
            continue
        if (other := unused.pop(_unused_header(sides[0].lines, part), None)) is not None:
            pairs[place] = other
    return pairs, untimed


def _unused_header(lines: list[Line], part: Part) -> bytes | None:
    """Give the header that holds at the end of a part without a run; None where there is one, or no header."""
    found = None
    for index in part.lines:
        if lines[index].kind == RUN:
            return None
        if lines[index].kind == HEADER:
            found = bare(lines[index].data)
    return found


def _untimed(lines: list[Line], part: Part) -> tuple[bytes, ...] | None:
    """Give the content of a part if none of its records, but for headers, has a time."""
    if any(lines[index].at_ms is not None and lines[index].kind != HEADER for index in part.lines):
        return None
    return tuple(_text(lines[index]) for index in part.lines)


def _headers(sides: Sides, ours: Part, theirs: Part) -> dict[int, int]:
    """Pair the equal headers of one segment."""
    return _same(*(
        _counted((bare(side.lines[index].data), index) for index in part.lines if side.lines[index].kind == HEADER)
        for side, part in zip(sides, (ours, theirs), strict=True)
    ))  # fmt: skip


def _followers(
    sides: Sides, ours: Part, theirs: Part, known: Mapping[int, int]
) -> Iterator[tuple[int, int, int | None]]:
    """Yield what is equal and has no time: (in log 0, in log 1, the line in log 0 that it follows; None: the fork)."""
    back = {other: index for index, other in known.items()}
    leaders: dict[int, int | None] = {}
    here = _counted(_following(sides[0].lines, ours, {index: index for index in known}, leaders))
    there = _counted(_following(sides[1].lines, theirs, back, {}))
    for index, other in _same(here, there).items():
        yield index, other, leaders[index]


def _following(
    lines: list[Line], part: Part, called: Mapping[int, int], leaders: dict[int, int | None]
) -> Iterator[tuple[Name, int]]:
    """Name what has no time by what it follows, if the other log has that; note what that is."""
    leader, is_shared = None, True
    for index in part.lines:
        line = lines[index]
        if line.at_ms is not None or line.kind == HEADER:
            leader, is_shared = called.get(index), index in called
        elif is_shared:
            leaders[index] = leader
            yield (leader, _text(line)), index
