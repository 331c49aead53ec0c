"""Where two logs of one session part: what both have, and what each has of its own behind that."""

from collections import Counter
from itertools import takewhile
from typing import NamedTuple

from ledger.merge.lexeme import masked
from ledger.merge.side import DECISION, HEADER, RUN, Line, Side

Sides = tuple[Side, Side]


class Fork(NamedTuple):
    """Hold what both logs have: the first `lengths[n]` lines of log n.

    The merged log begins with those of log `trunk`. The other's may bear other run numbers there, and lack lines that
    an earlier merge brought in; `numbers` gives the trunk's number for each of the other's.
    """

    trunk: int
    lengths: tuple[int, int]
    numbers: dict[int, int]


def find_fork(sides: Sides, base: list[bytes]) -> Fork | str:
    """Find where two logs part, or say why they cannot be one session's.

    `base` has the lines of the log that both come from, none where nobody knows it. A log that already took in another
    branch has its lines in order, but not side by side: then that log is the trunk.
    """
    ours, theirs = (side.lines for side in sides)
    common = sum(1 for _ in takewhile(lambda pair: pair[0].data == pair[1].data, zip(ours, theirs, strict=False)))
    if sides[0].dialect == "codex":
        return Fork(0, (common, common), {})
    if not any(line.kind == HEADER for line in ours[:common]):
        return "they are logs of different sessions: they do not begin with the same config header"
    if [line.data for line in ours[: len(base)]] == base and len(base) <= common:
        return Fork(0, (common, common), {})
    for trunk, other in ((0, 1), (1, 0)):
        start = sides[other].lines[: len(base)]
        if [line.data for line in start] == base and (taken := _absorbed(sides[trunk].lines, start)) is not None:
            length, numbers = taken
            return Fork(trunk, (length, len(base)) if trunk == 0 else (len(base), length), numbers)
    return "the records that both come from are no longer the same in them: one of the two was rewritten"


def _absorbed(lines: list[Line], start: list[Line]) -> tuple[int, dict[int, int]] | None:
    """Find the shortest beginning of a log that has all these lines in order, and the numbers that their runs bear."""
    numbers: dict[int, int] = {}
    done = 0
    for length, line in enumerate(lines, 1):
        wanted = start[done]
        if line.kind == wanted.kind and (line.data == wanted.data or _same(line, wanted)):
            if wanted.kind == RUN and wanted.number is not None and line.number is not None:
                numbers[wanted.number] = line.number
            done += 1
            if done == len(start):
                return length, numbers
    return None


def _same(one: Line, other: Line) -> bool:
    return one.kind in (RUN, DECISION) and masked(one.data) == masked(other.data)


def count_twins(sides: Sides, fork: Fork) -> int:
    """Count the runs behind the fork that both logs have, but for their numbers: an earlier merge brought them over."""
    tails = [
        [line for line in side.lines[length:] if line.kind == RUN]
        for side, length in zip(sides, fork.lengths, strict=True)
    ]
    times = {line.at_ms for line in tails[0]} & {line.at_ms for line in tails[1]}  # only twins have the same
    counts = [Counter(masked(line.data) for line in tail if line.at_ms in times) for tail in tails]
    return (counts[0] & counts[1]).total()
