"""What holds of every merge: all records are there, each log in its order, and nothing is found that was not before."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ledger.merge.side import DECISION, Side, read_side, rewrite
from ledger.merge.side import HEADER as HEADING
from ledger.merge.union import Merged, merge
from ledger.reading.whole_log import read_log
from tests.oracle import strategies
from tests.oracle.encode import Record
from tests.oracle.encode import lines as written
from tests.support.cli import HEADER, lines
from tests.support.mirroring import examples
from tests.support.sides import at

HOOK = {"type": "hook", "stage": "after", "exit_code": 0, "duration_ms": 4, "stdout_bytes": 0, "timed_out": False}
START = lines(HEADER, at(1, 1))
NEW = {"E303", "S406", "S408", "S410", "S403"}
CONFLICTS = ("only one can hold for the next run", "S413")


def tail_of(records: Sequence[Record], start: Sequence[Record], whole: bool) -> list[Record]:
    """Make a log's records the tail of another: numbered from where that ends, with a header of its own or without."""
    runs = [one["run"] for one in start if one.get("type") != "decision" and "run" in one]
    shift = max(runs, default=0) - min((one["run"] for one in records if "run" in one), default=1) + 1
    metric = next((one["metric"] for one in reversed(start) if one.get("type") == "config" and "metric" in one), None)
    tail = []
    for one in records if whole else [one for one in records if one.get("type") != "config"]:
        made = {**one, "run": one["run"] + shift} if "run" in one else one
        if not whole and metric is not None and one.get("type") == "result":
            made = {**made, "metric": metric}
        tail.append(made)
    return tail


@st.composite
def apart(draw: st.DrawFn, dialect: str) -> tuple[bytes, bytes, bytes]:
    """Draw two logs that went apart, and what they had when they did."""
    drawn: Callable[..., st.SearchStrategy[list[Record]]] = (
        strategies.autoresearch_records if dialect == "autoresearch" else strategies.state_records
    )
    first = draw(drawn(6, wild=False))
    cut = draw(st.integers(1, len(first)))
    start, style = first[:cut], draw(strategies.styles)
    ours = first[cut:] if draw(st.booleans()) else tail_of(draw(drawn(5, wild=False)), start, draw(st.booleans()))
    theirs = tail_of(draw(drawn(5, wild=False)), start, draw(st.booleans()))
    shared = written(start, style)
    return shared, shared + written(ours, style), shared + written(theirs, draw(strategies.styles))


def sides_of(folder: Path, *logs: bytes) -> tuple[Side, ...]:
    read = []
    for place, data in enumerate(logs):
        path = folder / f"{place}.jsonl"
        path.write_bytes(data)
        read.append(read_side(path, str(place)))
    assume(not any(side.errors for side in read))
    return tuple(read)


def bare(line: bytes) -> bytes:
    """Give a line without what a merge may renumber."""
    return rewrite(line, {"run": 0, "segment": 0}) if b'"' in line else line


def codes(folder: Path, data: bytes) -> Counter[str]:
    path = folder / "log.jsonl"
    path.write_bytes(data)
    return Counter(one.code for one in read_log(path).diagnostics)


def is_subsequence(some: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(one in rest for one in some)


both = pytest.mark.parametrize("dialect", ["autoresearch", "state-protocol"])


def bounds(one: Side, other: Side, common: int) -> tuple[Counter[bytes], Counter[bytes]]:
    """Count the records that a merged log has at least, and at most.

    What both begin with stands once, and so does what has a time and is the same in both, but for decisions in the same
    words about two results, and headers of two segments. What has no time may be the same only if some record with a
    time is, or if one log has all of the other.
    """
    tails = [Counter(bare(line.data) for line in side.lines[common:]) for side in (one, other)]
    timed = [line for side in (one, other) for line in side.lines[common:] if line.at_ms is not None]
    surely = {bare(line.data) for line in timed if line.kind not in (DECISION, HEADING)}
    start = Counter(bare(line.data) for line in one.lines[:common])
    same = tails[0] & tails[1]
    at_most = start + tails[0] + tails[1] - Counter({record: same[record] for record in same.keys() & surely})
    some = same in tails or any(bare(line.data) in same for line in timed)
    return (start + (tails[0] | tails[1]) if some else at_most), at_most


@both
@examples(25)
@given(data=st.data())
def test_nothing_is_lost_and_nothing_new_is_found(dialect: str, data: st.DataObject) -> None:
    start, ours, theirs = data.draw(apart(dialect))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, other = sides_of(folder, ours, theirs)
        done = merge(one, other)
        if isinstance(done, str):
            assert any(reason in done for reason in CONFLICTS), done
            return
        same = [a.data == b.data for a, b in zip(one.lines, other.lines, strict=False)]
        common = [*same, False].index(False)
        lines = done.data.split(b"\n")[:-1]
        assert done.data.startswith(start)
        at_least, at_most = bounds(one, other, common)
        assert at_least <= Counter(map(bare, lines)) <= at_most
        for side in (one, other):
            assert is_subsequence([bare(line.data) for line in side.lines], list(map(bare, lines)))
        found, before = codes(folder, done.data), codes(folder, ours) | codes(folder, theirs)
        assert set(found) - set(before) <= set(done.found) <= NEW
        assert done.found["S403"] <= 1
        for log, side in enumerate((one, other)):
            if not any(change.log == log for change in done.changes):
                assert is_subsequence([line.data for line in side.lines], lines)


@both
@examples(12)
@given(data=st.data())
def test_a_log_merged_with_its_own_beginning_is_itself(dialect: str, data: st.DataObject) -> None:
    start, ours, _ = data.draw(apart(dialect))
    with tempfile.TemporaryDirectory() as name:
        whole, begun = sides_of(Path(name), ours, start)
        for a, b in ((whole, whole), (whole, begun), (begun, whole)):
            done = merge(a, b)
            assert isinstance(done, Merged), done
            assert (done.data, done.changes) == (ours, [])


@both
@examples(12)
@given(data=st.data())
def test_sides_may_be_swapped(dialect: str, data: st.DataObject) -> None:
    _, *logs = data.draw(apart(dialect))
    with tempfile.TemporaryDirectory() as name:
        one, other = sides_of(Path(name), *logs)
        there, back = merge(one, other), merge(other, one)
        assert isinstance(there, str) == isinstance(back, str)
        if isinstance(there, Merged) and isinstance(back, Merged):
            assert sorted(map(bare, there.data.split(b"\n"))) == sorted(map(bare, back.data.split(b"\n")))


@examples(25)
@given(seconds=st.lists(st.integers(0, 10_000), min_size=2, max_size=12, unique=True), owners=st.integers(0, 4095))
def test_without_ties_either_side_may_come_first(seconds: list[int], owners: int) -> None:
    """Each record goes to one of the two logs, in order of time; the merged log is the one log that they came from."""
    everything = [at(number, second) for number, second in enumerate(sorted(seconds), 2)]
    start = lines(HEADER, at(1, 0))
    split: tuple[list[Record], list[Record]] = ([], [])
    for place, record in enumerate(everything):
        mine = split[owners >> place & 1]
        mine.append({**record, "run": len(mine) + 2})
    with tempfile.TemporaryDirectory() as name:
        one, other = sides_of(Path(name), *(start + lines(*part) for part in split))
        for done in (merge(one, other), merge(other, one)):
            assert isinstance(done, Merged) and done.data == start + lines(*everything)


@both
@examples(12)
@given(data=st.data())
def test_a_branch_merged_twice_brings_each_record_once(dialect: str, data: st.DataObject) -> None:
    start, *logs = data.draw(apart(dialect))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, other = sides_of(folder, *logs)
        first = merge(one, other, start.removesuffix(b"\n").split(b"\n"))
        assume(isinstance(first, Merged))
        assert isinstance(first, Merged)
        (main,) = sides_of(folder, first.data)
        again = merge(main, other, [line.data for line in other.lines])
        assert isinstance(again, Merged) and again.data == first.data


@both
@examples(30)
@given(data=st.data())
def test_a_merged_log_has_all_that_either_side_has(dialect: str, data: st.DataObject) -> None:
    """Nobody has to know where the logs parted to merge one of them again."""
    start, *logs = data.draw(apart(dialect))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, other = sides_of(folder, *logs)
        first = merge(one, other)
        assume(isinstance(first, Merged))
        assert isinstance(first, Merged)
        whole, begun = sides_of(folder, first.data, start)
        for a, b in ((whole, one), (whole, other), (one, whole), (other, whole), (whole, begun), (whole, whole)):
            again = merge(a, b)
            assert isinstance(again, Merged) and (again.data, again.changes) == (first.data, [])


@examples(40)
@given(owners=st.lists(st.integers(0, 2), min_size=2, max_size=12), data=st.data())
def test_branches_that_merge_each_other_over_and_over_end_with_each_record_once(
    owners: list[int], data: st.DataObject
) -> None:
    """Three worktrees log runs and hooks, and take over what another one has, now and then, then all."""
    logs = [START] * 3
    everything = Counter(map(bare, START.splitlines()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for second, owner in enumerate(owners, 2):
            last = max(json.loads(line).get("run", 0) for line in logs[owner].splitlines())
            record = lines(
                at(last + 1, second, description=f"idea at {second}"), *data.draw(st.sampled_from([[], [HOOK]]))
            )
            everything += Counter(map(bare, record.splitlines()))
            logs[owner] += record
            if (source := data.draw(st.integers(0, 5))) < 3:
                mine, their = sides_of(folder, logs[owner], logs[source])
                done = merge(mine, their)
                assert isinstance(done, Merged)
                logs[owner] = done.data
        for first, *rest in ((0, 1, 2), (2, 0, 1)):
            whole = logs[first]
            for other in rest:
                mine, their = sides_of(folder, whole, logs[other])
                done = merge(mine, their)
                assert isinstance(done, Merged)
                whole = done.data
            assert Counter(map(bare, whole.splitlines())) == everything
            assert not codes(folder, whole)
