"""The merged log: records numbered one after another, in their segments, and found as sound as what it was made of."""

import io
import sys
from collections import Counter
from collections.abc import Iterator, Set
from typing import NamedTuple

from ledger.dialects import by_name
from ledger.log.source import LogFile
from ledger.merge.fork import Fork, Sides, find_fork
from ledger.merge.order import Position, arrange
from ledger.merge.shared_records import find_shared
from ledger.merge.side import HEADER, RUN, Line, Side, rewrite
from ledger.reading.whole_log import events, open_reader

RELATIVE = frozenset(("E303", "S406", "S408", "S410"))
"""What is true of a run among runs that its writer did not know: told, and no obstacle.

A keep for too small a gain, another unit of time, a missing secondary metric, a confidence over other runs.
"""
_NUMBERING = frozenset(("S402", "S403", "S404", "S405"))
_GAP, _REPEATED = "S403", "S405"


class Change(NamedTuple):
    """Tell of a number that a record of log `log` (0 or 1) bears no more: `what` is `run` or `segment`."""

    log: int
    what: str
    old: int
    new: int


class Ended(NamedTuple):
    """Tell of an accepted finding on a line that the merge changed, so that the decision means nothing any more.

    `line` is the line in log `log` (0 or 1), `now` the one in the merged log.
    """

    log: int
    code: str
    line: int
    now: int


class Merged(NamedTuple):
    """Hold a merged log, what was renumbered for it, and how often each code is found that neither log had.

    `in_both` counts records behind the fork that both logs have, and the merged log once; `lost` those that theirs took
    for common, but ours never had; `ended` are decisions on lines that are others now.
    """

    data: bytes
    changes: list[Change]
    found: Counter[str]
    in_both: int = 0
    lost: int = 0
    ended: tuple[Ended, ...] = ()


def merge(ours: Side, theirs: Side, base: list[bytes] | None = None) -> Merged | str:
    """Merge two sound logs, or say why they conflict. `base` has the lines of the log that both come from."""
    sides = (ours, theirs)
    if ours.dialect != theirs.dialect:
        return f"they speak two protocols, {ours.dialect} and {theirs.dialect}"
    fork = find_fork(sides, base or [])
    if isinstance(fork, str):
        return fork
    if by_name(ours.dialect).folding.replays:
        return _longer(sides, fork)
    shared = find_shared(sides, fork)
    order = arrange(sides, fork, shared)
    if isinstance(order, str):
        return order
    merged = _numbered(sides, fork, order)
    if isinstance(merged, str):
        return merged
    ended = tuple(_ended(sides, order, merged.data.split(b"\n")[fork.lengths[fork.trunk] :], fork))
    return merged._replace(in_both=len(shared.lines), lost=fork.lost, ended=ended)


def _ended(sides: Sides, order: list[Position], lines: list[bytes], fork: Fork) -> Iterator[Ended]:
    """Yield the accepted findings of lines that are written otherwise in the merged log, whose tail these lines are."""
    accepted: list[dict[int, list[str]]] = [{}, {}]
    for log, side in enumerate(sides):
        for one in side.said:
            if one.accepted is not None and one.source is None:
                accepted[log].setdefault(one.line, []).append(one.code)
    if not any(accepted):
        return
    for now, (place, line) in enumerate(zip(order, lines, strict=False), fork.lengths[fork.trunk] + 1):
        for log, at in ((place.log, place.at), (1 - place.log, place.other)):
            if at is not None and sides[log].lines[at].data != line:
                yield from (Ended(log, code, at + 1, now) for code in accepted[log].get(at + 1, ()))


def _longer(sides: Sides, fork: Fork) -> Merged | str:
    """Take the longer of two histories, if it only continues the other."""
    ours, theirs = sides
    if ours.run_json != theirs.run_json:
        return "their run.json differ, so they are histories of two runs"
    shared = min(len(ours.lines), len(theirs.lines))
    if fork.lengths != (shared, shared):
        return (
            f"they differ from line {fork.lengths[0] + 1} on; a history is replayed event by event, so that only one of"
            " the two can be true: take that one"
        )
    return Merged((theirs if len(theirs.lines) > len(ours.lines) else ours).data, [], Counter())


def _numbered(sides: Sides, fork: Fork, order: list[Position]) -> Merged | str:
    """Give each run a number, in the first way that leaves no finding which neither log had.

    As the records are, if they can stay so; else from where the two tails count on, or behind the last number that both
    share, or behind the highest: where these differ, a gap may then be all that is left to find.
    """
    before = _numbers(_start(sides, fork))
    tails = [_numbers([sides[place.log].lines[place.at] for place in order if place.log == log]) for log in (0, 1)]
    taken = set(tails[0]) & set(tails[1])
    if fork.lengths[0] != fork.lengths[1]:  # an earlier merge gave these numbers to other runs
        taken |= set(tails[1 - fork.trunk]) & set(before)
    starts: list[int | None] = [] if taken else [None]
    highest = max(before, default=0) + 1
    if firsts := [tail[0] for tail in tails if tail]:
        starts += dict.fromkeys((min(firsts), before[-1] + 1 if before else 1, highest))
    conflict = ""
    for first in starts:
        data, changes = _draft(sides, fork, order, first)
        wrong, found = _judge(sides, fork, order, data, RELATIVE | {_GAP} if first == highest else RELATIVE)
        if wrong is None:
            return Merged(data, changes, found)
        conflict = wrong
    return conflict


def _start(sides: Sides, fork: Fork) -> list[Line]:
    return sides[fork.trunk].lines[: fork.lengths[fork.trunk]]


def _numbers(lines: list[Line]) -> list[int]:
    return [line.number for line in lines if line.kind == RUN and line.number is not None]


def _draft(sides: Sides, fork: Fork, order: list[Position], first: int | None) -> tuple[bytes, list[Change]]:
    """Write the merged log, its runs behind the fork counted from `first` (None: as they are).

    Decisions follow their results' numbers; a run that states its segment states the one that it stands in now.
    """
    start = _start(sides, fork)
    lines = [line.data for line in start]
    segment = start[-1].segment
    has_run = any(line.kind == RUN and line.segment == segment for line in start)
    now: tuple[dict[int, int], dict[int, int]] = ({}, {})
    now[1 - fork.trunk].update(fork.numbers)
    changes: dict[Change, None] = {}
    upcoming = first
    for log, index, same in order:
        line = sides[log].lines[index]
        wanted: dict[str, int] = {}
        if line.kind == HEADER:
            segment, has_run = segment + has_run, False
        elif line.number is not None:
            if line.kind == RUN:
                has_run = True
                now[log][line.number] = line.number if upcoming is None else upcoming
                if same is not None and (other := sides[1 - log].lines[same].number) is not None:
                    now[1 - log][other] = now[log][line.number]
                upcoming = None if upcoming is None else upcoming + 1
            if (number := now[log].get(line.number, line.number)) != line.number:
                wanted["run"] = number
            if line.states and line.segment != segment:
                wanted["segment"] = segment
        if line.kind == RUN:
            old = {"run": line.number or 0, "segment": line.segment}
            changes |= {Change(log, what, old[what], new): None for what, new in wanted.items()}
        lines.append(rewrite(line.data, wanted) if wanted else line.data)
    return b"\n".join(lines) + (b"\n" if _ends(sides, order) else b""), list(changes)


def _ends(sides: Sides, order: list[Position]) -> bool:
    """Tell whether the merged log's last line has a newline: only one that is a log's last may lack it."""
    if not order:
        return any(side.terminated for side in sides)
    log, index, _ = order[-1]
    return sides[log].terminated or index + 1 < len(sides[log].lines)


def _judge(
    sides: Sides, fork: Fork, order: list[Position], data: bytes, allowed: Set[str]
) -> tuple[str | None, Counter[str]]:
    """Check a merged log: what it must not be written for, and counts of the allowed findings that neither log had."""
    with LogFile(None, io.BytesIO(data), len(data)) as file:
        reader, undecided = open_reader(file, sides[0].dialect)
        reader.most = sys.maxsize  # each line counts
        for _ in events(file, reader):
            pass
        reader.finish(undecided)
    shared, found = fork.lengths[fork.trunk], Counter[str]()
    for one in reader.diagnostics:
        place = Position(fork.trunk, one.line - 1) if one.line <= shared else order[one.line - shared - 1]
        log, index, same = place
        before = sides[log].found.get(index + 1, set())
        if same is not None:
            before = before | sides[1 - log].found.get(same + 1, set())
        # An odd number may be odd in another way than before, but not a repeated one.
        odd_before = one.code in _NUMBERING - {_REPEATED} and not before.isdisjoint(_NUMBERING)
        if one.code in before or odd_before:
            continue
        if one.code not in allowed:
            said = f"line {index + 1} of {sides[log].name} would be found wrong among the other's records"
            return f"{said}: {one.code} {one.message}", found
        found[one.code] += 1
    return None, found
