"""Two logs of a session that went apart: what becomes of them, by examples."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.merge.side import masked, rewrite
from ledger.merge.union import Change
from tests.support.cli import HEADER, lines
from tests.support.sides import STATE, at, decision, findings, merged, result, union

HOOK = {"type": "hook", "stage": "after", "exit_code": 0, "duration_ms": 4, "stdout_bytes": 0, "timed_out": False}
OTHER = {**HEADER, "metricName": "bytes"}
START = lines(HEADER, at(1, 1), at(2, 2))


def runs(data: bytes) -> list[tuple[int, str]]:
    """Give (number, description) of each run, in order."""
    records = [json.loads(line) for line in data.splitlines()]
    return [(one["run"], one["description"]) for one in records if "metric" in one and one.get("type") != "config"]


def test_what_both_begin_with_stands_once_and_the_rest_is_put_in_order_of_time(tmp_path: Path) -> None:
    ours = START + lines(at(3, 10, description="a"), at(4, 30, description="b"))
    theirs = START + lines(at(3, 20, description="c"), at(4, 40, description="d"))
    done = merged(tmp_path, ours, theirs)
    assert done.data == START + lines(
        at(3, 10, description="a"), at(4, 20, description="c"), at(5, 30, description="b"), at(6, 40, description="d")
    )
    assert done.changes == [Change(1, "run", 3, 4), Change(0, "run", 4, 5), Change(1, "run", 4, 6)]
    assert findings(tmp_path, done.data) == []
    assert done.data == merged(tmp_path, theirs, ours).data


def test_numbers_that_do_not_collide_stay(tmp_path: Path) -> None:
    ours, theirs = START + lines(at(3, 10)), START + lines(at(3, 10), at(4, 20))
    assert merged(tmp_path, ours, theirs).data == theirs
    later = START + lines({**HOOK, "timestamp": 1_700_000_015_000})
    done = merged(tmp_path, theirs, later)
    assert (done.changes, sorted(done.data.splitlines())) == ([], sorted({*theirs.splitlines(), *later.splitlines()}))


def test_only_the_digits_of_a_number_change(tmp_path: Path) -> None:
    odd = '{ "metric":1.50 , "asi":{"run":3,"segment":7}, "\\u0072un" : 3,"status":"discard","commit":"",'
    odd += '"description":"\\"run\\": 3 \\u00e9", "timestamp":1700000020000 }\r'
    done = merged(tmp_path, START + lines(at(3, 10)), START + lines(odd.encode()))
    assert done.data == START + lines(at(3, 10), odd.replace('un" : 3', 'un" : 4').encode())


def test_a_record_without_a_time_stays_behind_the_record_it_follows(tmp_path: Path) -> None:
    timeless = {key: value for key, value in at(4, 0, description="no time").items() if key != "timestamp"}
    ours = START + lines({**HOOK, "exit_code": 1}, at(3, 30, description="a"), {**HOOK, "exit_code": 2}, timeless)
    theirs = START + lines(at(3, 20, description="b"), at(4, 40, description="c"))
    done = merged(tmp_path, ours, theirs)
    assert runs(done.data)[2:] == [(3, "b"), (4, "a"), (5, "no time"), (6, "c")]
    kinds = [json.loads(line).get("exit_code") for line in done.data.splitlines()]
    assert kinds == [None, None, None, 1, None, None, 2, None, None]


def test_a_clock_that_goes_back_does_not_change_a_logs_own_order(tmp_path: Path) -> None:
    ours = START + lines(at(3, 30, description="a"), at(4, 5, description="b"))
    theirs = START + lines(at(3, 20, description="c"), at(4, 40, description="d"))
    assert runs(merged(tmp_path, ours, theirs).data)[2:] == [(3, "c"), (4, "a"), (5, "b"), (6, "d")]


def test_a_segment_that_one_opened_stays_whole_behind_the_shared_one(tmp_path: Path) -> None:
    ours = START + lines(at(3, 10, segment=0), OTHER, at(4, 20, segment=1), at(5, 60, segment=1))
    theirs = START + lines(at(3, 30, segment=0), at(4, 50, segment=0))
    done = merged(tmp_path, ours, theirs)
    assert done.data == START + lines(
        at(3, 10, segment=0),
        at(4, 30, segment=0, description="idea 3"),
        at(5, 50, segment=0, description="idea 4"),
        OTHER,
        at(6, 20, segment=1, description="idea 4"),
        at(7, 60, segment=1, description="idea 5"),
    )
    assert findings(tmp_path, done.data) == []


def test_segments_that_both_opened_follow_one_another_and_runs_state_them(tmp_path: Path) -> None:
    ours = START + lines(OTHER, at(3, 30, segment=1), at(4, 50, segment=1))
    theirs = START + lines({**OTHER, "name": "theirs"}, at(3, 20, segment=1), at(4, 60))
    done = merged(tmp_path, ours, theirs)
    assert done.data == START + lines(
        {**OTHER, "name": "theirs"}, at(3, 20, segment=1), at(4, 60),
        OTHER, at(5, 30, segment=2, description="idea 3"), at(6, 50, segment=2, description="idea 4"),
    )  # fmt: skip
    assert [change for change in done.changes if change.what == "segment"] == [Change(0, "segment", 1, 2)]
    assert findings(tmp_path, done.data) == []


def test_a_header_without_a_run_goes_last_and_two_of_them_are_a_conflict(tmp_path: Path) -> None:
    ours, theirs = START + lines(OTHER), START + lines(HEADER, at(3, 20, segment=1))
    assert merged(tmp_path, ours, theirs).data == theirs + lines(OTHER)
    assert merged(tmp_path, theirs, ours).data == theirs + lines(OTHER)
    late = START + lines(at(3, 9), {**OTHER, "metricName": "x"})
    assert "only one can hold for the next run" in str(union(tmp_path, ours, late))
    same = START + lines(at(3, 9), OTHER)
    assert findings(tmp_path, merged(tmp_path, ours, same).data) == []


@pytest.mark.parametrize("header", [HEADER | {"name": "next"}, HEADER])
def test_equal_headers_without_a_run_stand_once_however_often_logs_are_merged(
    tmp_path: Path, header: dict[str, Any]
) -> None:
    start = lines(HEADER, at(1, 1))
    marker = {"type": "status", "state": "running", "timestamp": 1_700_000_009_000}
    ours, theirs = start + lines(header), start + lines(at(2, 2, 90), header, marker)
    first = merged(tmp_path, ours, theirs)
    assert first.data == merged(tmp_path, theirs, ours).data == theirs
    for one, other in ((first.data, ours), (ours, first.data), (first.data, theirs), (theirs, first.data)):
        assert merged(tmp_path, one, other).data == theirs


def test_a_header_that_takes_anothers_place_opens_a_segment_where_the_other_log_has_runs(tmp_path: Path) -> None:
    start = lines(HEADER)
    ours, theirs = start + lines(OTHER, at(1, 10, segment=0)), start + lines(at(1, 20, segment=0))
    assert merged(tmp_path, ours, theirs).data == start + lines(
        at(1, 20, segment=0), OTHER, at(2, 10, segment=1, description="idea 1")
    )


def test_confidences_stay_as_they_were_written(tmp_path: Path) -> None:
    start = lines(HEADER, at(1, 1, 100), at(2, 2, 90), at(3, 3, 95))
    ours = start + lines(at(4, 10, 80, confidence=4.0))
    theirs = start + lines(at(4, 20, 85, confidence=3.0))
    assert findings(tmp_path, ours) == findings(tmp_path, theirs) == []
    done = merged(tmp_path, ours, theirs)
    assert (b'"confidence":4.0' in done.data, b'"confidence":3.0' in done.data) == (True, True)
    assert dict(done.found) == {"S410": 1} and findings(tmp_path, done.data) == ["S410"]


def test_what_only_the_merge_makes_true_is_told(tmp_path: Path) -> None:
    ours = START + lines(at(3, 10, metrics={"mem": 5}))
    done = merged(tmp_path, ours, START + lines(at(3, 20)))
    assert dict(done.found) == {"S408": 1} and findings(tmp_path, done.data) == ["S408"]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [((5, 6), [3, 4, 5, 6]), ((3, 3), [3, 4, 5, 6]), ((2, 1), [2, 3, 4, 5]), ((5, 3), [3, 4, 5, 6])],
)
def test_odd_numbers_of_a_log_become_no_odder(tail: tuple[int, int], expected: list[int], tmp_path: Path) -> None:
    """A gap, a repeat, numbers that start again, one that goes back: beside two runs that count on."""
    ours = START + lines(at(tail[0], 10), at(tail[1], 30))
    done = merged(tmp_path, ours, START + lines(at(3, 20), at(4, 40)))
    assert [number for number, _ in runs(done.data)][2:] == expected
    assert set(findings(tmp_path, done.data)) <= set(findings(tmp_path, ours)) and not done.found


def test_numbers_go_past_those_that_the_beginning_has_out_of_order(tmp_path: Path) -> None:
    start = lines(HEADER, at(1, 1), at(7, 2), at(4, 3))
    done = merged(tmp_path, start + lines(at(5, 10), at(6, 20)), start + lines(at(5, 15), at(6, 25)))
    assert [number for number, _ in runs(done.data)][3:] == [8, 9, 10, 11]
    assert dict(done.found) == {"S403": 1}  # one gap rather than a number that two runs have


def test_decisions_follow_their_results(tmp_path: Path) -> None:
    start = lines(STATE, result(1, 0), decision(1, 1, "baseline"))
    ours = start + lines(result(2, 10, 9), decision(2, 11), result(3, 30, 8), decision(3, 31, "discard"))
    theirs = start + lines(result(2, 20, 7), decision(1, 21, "stop"), decision(2, 32))
    done = merged(tmp_path, ours, theirs)
    assert done.data == start + lines(
        result(2, 10, 9), decision(2, 11), result(3, 20, 7), decision(1, 21, "stop"),
        result(4, 30, 8), decision(4, 31, "discard"), decision(3, 32),
    )  # fmt: skip
    assert findings(tmp_path, done.data) == []


def test_results_numbered_behind_what_the_beginning_has(tmp_path: Path) -> None:
    start = lines(STATE, result(1, 0), result(5, 1))
    done = merged(tmp_path, start + lines(result(4, 10)), start + lines(result(4, 20), decision(4, 21)))
    assert done.data == start + lines(result(6, 10), result(7, 20), decision(7, 21))


def test_two_decisions_about_one_run_are_a_conflict(tmp_path: Path) -> None:
    start = lines(STATE, result(1, 0))
    said = union(tmp_path, start + lines(decision(1, 10)), start + lines(decision(1, 20, "discard")))
    assert said == (
        "line 3 of theirs would be found wrong among the other's records: S413 the decision replaces the earlier"
        " 'keep' of run 1"
    )


def test_different_sessions_are_refused(tmp_path: Path) -> None:
    other = lines({**HEADER, "name": "another"}, at(1, 1), at(2, 2))
    assert "different sessions" in str(union(tmp_path, START, other))
    assert "different sessions" in str(union(tmp_path, lines(b"", HEADER), lines(HEADER)))
    assert "two protocols" in str(union(tmp_path, START, lines(STATE)))


def test_a_record_that_both_have_behind_the_fork_stands_once(tmp_path: Path) -> None:
    ours = START + lines(at(3, 5), at(4, 10, description="same"))
    theirs = START + lines(at(3, 10, description="same"))
    done = merged(tmp_path, ours, theirs)
    assert done.data == ours and done.in_both == 1
    assert merged(tmp_path, theirs, ours).data == ours


def test_both_may_grow_behind_what_one_took_from_the_other(tmp_path: Path) -> None:
    ours, theirs = START + lines(HOOK, at(3, 10), HOOK), START + lines(at(3, 20), HOOK, at(4, 40))
    both = merged(tmp_path, ours, theirs).data
    assert runs(both)[2:] == [(3, "idea 3"), (4, "idea 3"), (5, "idea 4")] and both.count(b'"hook"') == 3
    more = merged(tmp_path, both + lines(HOOK, at(6, 60), HOOK), theirs + lines(HOOK, at(5, 50), HOOK, HOOK))
    assert [number for number, _ in runs(more.data)] == [1, 2, 3, 4, 5, 6, 7]
    assert more.data.count(b'"hook"') == 7 and more.in_both == 4


def test_segments_that_both_have_grow_together(tmp_path: Path) -> None:
    ours = START + lines(at(3, 9), HEADER, at(4, 30, segment=1))
    theirs = START + lines(at(3, 8), HEADER, at(4, 20, segment=1), at(5, 50, segment=1))
    both = merged(tmp_path, ours, theirs)
    assert both.data.count(b'"config"') == 3 and [number for number, _ in runs(both.data)] == [1, 2, 3, 4, 5, 6, 7]
    more = merged(tmp_path, both.data, theirs + lines(at(6, 60, segment=1), {**HEADER, "name": "last"}))
    assert more.data.count(b'"config"') == 4 and more.data.endswith(lines({**HEADER, "name": "last"}))
    assert more.data == merged(tmp_path, more.data, both.data).data == merged(tmp_path, both.data, more.data).data
    assert findings(tmp_path, more.data) == []


def test_what_has_no_time_is_the_same_only_where_one_log_has_all_of_the_other(tmp_path: Path) -> None:
    """Two crashes may well be told of in the same words."""
    a, b, crash = (
        {k: v for k, v in at(3, 0, 1, "discard", description=text).items() if k != "timestamp"} for text in "abc"
    )
    ours, theirs = START + lines(a, {**crash, "run": 4}), START + lines(b, {**crash, "run": 4})
    both = merged(tmp_path, ours, theirs).data
    assert [text for _, text in runs(both)][2:] == ["a", "c", "b", "c"]
    for one, other in ((both, ours), (both, theirs), (ours, both), (theirs, both)):
        assert merged(tmp_path, one, other).data == both


def test_decisions_in_the_same_words_belong_to_their_results(tmp_path: Path) -> None:
    start = lines(STATE, result(1, 0))
    ours, theirs = start + lines(result(2, 10, 9), decision(2, 30)), start + lines(result(2, 20, 8), decision(2, 30))
    done = merged(tmp_path, ours, theirs)
    assert done.data == start + lines(result(2, 10, 9), result(3, 20, 8), decision(2, 30), decision(3, 30))
    assert merged(tmp_path, done.data, theirs).data == done.data


@pytest.mark.parametrize("other", [b"\r\n", b"\n"])
def test_line_ends_of_two_kinds(other: bytes, tmp_path: Path) -> None:
    """As git writes them on Windows, where one of the logs was taken out there."""
    ours = (START + lines(at(3, 10))).replace(b"\n", b"\r\n" if other == b"\n" else b"\n")
    theirs = (START + lines(at(3, 20))).replace(b"\n", other)
    done = merged(tmp_path, ours, theirs)
    assert done.data.startswith(ours) and [number for number, _ in runs(done.data)] == [1, 2, 3, 4]
    assert done.data.splitlines(keepends=True)[-1].endswith(b"}" + other)
    assert merged(tmp_path, done.data, theirs).data == done.data


@pytest.mark.parametrize("ended", [(True, False), (False, True), (False, False)])
def test_a_missing_last_newline(ended: tuple[bool, bool], tmp_path: Path) -> None:
    ours, theirs = START + lines(at(3, 10)), START + lines(at(3, 20))
    cut = [data if whole else data[:-1] for data, whole in zip((ours, theirs), ended, strict=True)]
    whole = START + lines(at(3, 10), at(4, 20, description="idea 3"))
    assert merged(tmp_path, *cut).data == (whole if ended[1] else whole[:-1])
    assert merged(
        tmp_path, *(data if own else data[:-1] for data, own in zip((ours, ours), ended, strict=True))
    ).data == (ours if any(ended) else ours[:-1])


def test_a_branch_that_is_merged_again_brings_only_what_is_new(tmp_path: Path) -> None:
    ours = START + lines(at(3, 10, description="a"), at(4, 30, description="b"))
    branch = START + lines(at(3, 20, description="c"))
    first = merged(tmp_path, ours, branch, START).data
    grown = branch + lines(at(4, 50, description="d"), at(5, 25, description="e"))
    main = first + lines(at(6, 45, description="f"))
    again = merged(tmp_path, main, grown, branch)
    assert runs(again.data)[2:] == [(3, "a"), (4, "c"), (5, "b"), (6, "f"), (7, "d"), (8, "e")]
    assert again.data == merged(tmp_path, grown, main, branch).data
    assert findings(tmp_path, again.data) == []


def test_decisions_about_results_that_an_earlier_merge_renumbered(tmp_path: Path) -> None:
    start = lines(STATE, result(1, 0))
    branch = start + lines(result(2, 20, 7))
    main = merged(tmp_path, start + lines(result(2, 10, 9)), branch, start).data
    again = merged(tmp_path, main, branch + lines(decision(2, 40), decision(1, 41)), branch)
    assert again.data == main + lines(decision(3, 40), decision(1, 41))


def test_a_rewritten_beginning_is_a_conflict(tmp_path: Path) -> None:
    mended = START.replace(b"idea 2", b"idea two")
    assert "one of the two was rewritten" in str(union(tmp_path, mended, START + lines(at(3, 10)), START))
    assert "one of the two was rewritten" in str(union(tmp_path, START[: len(lines(HEADER))], START, START))


def test_numbers_are_found_where_a_records_own_keys_are() -> None:
    line = rb'{"a":{"run":1},"b":"\"run\":2","run":-0 ,"segment":null}'
    assert rewrite(line, {"run": 12, "segment": 3}) == line.replace(b"-0", b"12")
    assert masked(b'{"run":17,"segment":20}') == masked(b'{"run":1,"segment":2}') == b'{"run":0,"segment":0}'
    assert rewrite(b'{"run":"7"}', {"run": 1}) == b'{"run":"7"}'
