"""What each fixer makes of a log, and what it leaves alone."""

import json
import time
from typing import Any

import pytest

from ledger.repair.carried_out import FixedLog, carry_out
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import make_plan
from tests.oracle import codex
from tests.oracle.encode import Num, Style
from tests.oracle.encode import lines as encoded
from tests.support.cli import HEADER, lines, run

BOM = b"\xef\xbb\xbf"
STATE_HEADER = {
    "type": "config", "schema_version": 1, "name": "p", "metric": "ms", "direction": "lower",
    "created_at": "2026-01-01T12:00:00Z",
}  # fmt: skip


def result(number: int, value: float) -> dict[str, Any]:
    return {"type": "result", "run": number, "metric": "ms", "value": value, "timestamp": "2026-01-01T12:00:00Z"}


def decision(number: int, action: str) -> dict[str, Any]:
    return {
        "type": "decision", "run": number, "action": action, "reason": "r", "timestamp": "2026-01-01T12:00:00Z",
    }  # fmt: skip


def repaired(data: bytes, code: str = "", options: Options = Options(), dialect: str | None = None) -> FixedLog:  # noqa: B008
    text = Text(data, dialect)
    items = [item for item in make_plan(text, text.diagnostics, options).items if code in ("", *item.codes)]
    return carry_out(text, items, options)


def made(data: bytes, code: str = "", options: Options = Options()) -> bytes:  # noqa: B008
    outcome = repaired(data, code, options)
    assert outcome.refusal is None, outcome.worse
    return outcome.text.data


def dumped(record: Any, **how: Any) -> bytes:
    return json.dumps(record, **how).encode()


FIRST = lines(HEADER, run(1, 100))


def test_byte_order_marks():
    assert made(BOM + BOM + FIRST) == FIRST
    assert made(FIRST + BOM + b" \r\n") == FIRST
    assert repaired(FIRST + BOM + BOM + b"\n").done == []  # it is no blank line, and no record


def test_blank_lines_that_follow_one_another_are_one_item():
    outcome = repaired(lines(HEADER, b"", b" \t", b"\r", run(1, 100), b""))
    assert [item.fix.description for item in outcome.done] == ["remove 3 blank lines", "remove the blank line"]
    assert outcome.text.data == FIRST


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (b'{"run":2', b""),
        (b" \t\r", b""),
        (BOM, b""),
        (b"garbage\xff", b""),
        (dumped(run(2, 90)) + b'{"run":3,"me', lines(json.dumps(run(2, 90)).encode())),
        (dumped(run(2, 90)) + dumped(run(3, 80)), lines(dumped(run(2, 90)), dumped(run(3, 80)))),
    ],
)
def test_a_torn_tail(tail: bytes, kept: bytes):
    assert made(FIRST + tail, "L115") == FIRST + kept


@pytest.mark.parametrize("data", [b"{", b" ", b"\n\r", b"\xff"])
def test_a_log_of_a_torn_tail_alone_is_left_alone(data: bytes):
    outcome = repaired(data, "L115")
    assert outcome.done == []


@pytest.mark.parametrize("gap", [b"", b"  \t", b"\r"])
def test_records_on_one_line(gap: bytes):
    pair = dumped(run(2, 90, description="a } { b")) + gap + dumped(run(3, 80))
    expected = FIRST + lines(dumped(run(2, 90, description="a } { b")), dumped(run(3, 80)))
    assert made(FIRST + b" " + pair + b"\n") == FIRST + b" " + expected.removeprefix(FIRST)


@pytest.mark.parametrize("rest", [b",", b"{}x", b"1", b'{"run":3', b"[]", b"}"])
def test_a_record_and_something_else(rest: bytes):
    assert repaired(FIRST + dumped(run(2, 90)) + rest + b"\n", "L105").done == []


def test_a_record_that_was_written_over_several_lines():
    pretty = dumped(run(2, 90, metrics={"a": [1, 2]}), indent=2)
    outcome = repaired(FIRST + pretty + b"\n")
    assert len(outcome.done) == 1 and outcome.text.lines == 3
    assert json.loads(outcome.text.line(3)) == run(2, 90, metrics={"a": [1, 2]})


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_text_with_raw_newlines(end: bytes):
    record = run(2, 90, description="a\n\n\tb\r\nc")
    raw = dumped(record).replace(b"\\n", b"\n").replace(b"\\t", b"\t").replace(b"\\r", b"\r") + end
    outcome = repaired(FIRST + raw, "L103")
    assert outcome.text.data == FIRST + dumped(record) + (b"\r\n" if end == b"\r\n" else b"\n")


TORN = (
    b'{"run":2,"commit":"abc', b'{"run":2', b'{"run":2,"metric":1', b'{"run":2,"asi":{"a":1}',
)  # fmt: skip


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("whole", [[run(3, 90)], [run(3, 90, description='a {"b'), run(4, 80, asi={"run": 1})]])
def test_a_torn_record_with_whole_ones_behind_it(torn: bytes, end: bytes, whole: list[Any]):
    data = FIRST + torn + b"".join(map(dumped, whole)) + end
    outcome = repaired(data)
    assert outcome.refusal is None and outcome.text.data == FIRST + b"".join(dumped(one) + b"\n" for one in whole)


def test_an_object_inside_a_torn_record_is_no_record():
    torn = b'{"run":2,"metric":1,"status":"keep","asi":{"idea":"x","metrics":{"a":1}}'
    assert repaired(FIRST + torn + b"\n").done == []
    assert made(FIRST + torn, "L115") == FIRST
    told = b'{"run":2,"description":"see ' + dumped(run(1, 100)) + b'"}'
    assert repaired(FIRST + told + b"\n").done == []


def test_torn_records_are_not_joined_with_the_next():
    data = FIRST + b'{"run":2,"description":"half\n' + lines(run(3, 90))
    assert repaired(data, "L103").done == []


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [(b"\t", rb"\t"), (b"\r", rb"\r"), (b"\x08\x0c", rb"\b\f"), (b"\x1b[0m\x01", rb"\u001b[0m\u0001")],
)  # fmt: skip
def test_control_characters_are_escaped_shortly(raw: bytes, escaped: bytes):
    line = dumped(run(2, 90, description="a\\\\@b@"))
    assert made(FIRST + line.replace(b"@", raw) + b"\n") == FIRST + line.replace(b"@", escaped) + b"\n"


def test_duplicate_keys():
    line = b'{"run":9, "run":2,"metric":{"x":1,"x":2},"metric":90,"asi":{"k":1,"j":0,"k":[{"m":1,"\\u006d":2}]},@}'
    rest = dumped({key: value for key, value in run(2, 90).items() if key not in ("run", "metric")})[1:-1]
    expected = b'{"run":2,"metric":90,"asi":{"j":0,"k":[{"\\u006d":2}]},@}'
    assert made(FIRST + line.replace(b"@", rest) + b"\n") == FIRST + expected.replace(b"@", rest) + b"\n"


def test_a_crash_without_a_number():
    crash = dumped(run(2, 7, "crash", asi={"metric": 7}))
    assert (
        made(FIRST + crash.replace(b'"metric": 7', b'"metric": -Infinity', 1) + b"\n")
        == FIRST + crash.replace(b'"metric": 7', b'"metric": 0', 1) + b"\n"
    )
    for other in (crash.replace(b": 7", b": NaN"), crash.replace(b'"crash"', b'"keep"').replace(b": 7", b": NaN", 1)):
        assert repaired(FIRST + other + b"\n").done == []
    data = lines(STATE_HEADER, {**result(1, 7), "status": "crash"}, decision(1, "discard"))
    assert made(data.replace(b'"value":7', b'"value":NaN')) == data.replace(b'"value":7', b'"value":0')


@pytest.mark.parametrize(
    ("word", "meant"),
    [("KEEP", "keep"), (" kept", "keep"), ("Discarded", "discard"), ("crashed", "crash"),
     ("checks-failed", "checks_failed"), ("Checks Failed", "checks_failed"), ("success", None), ("", None),
     ("stopped", None), ("\ud83d", None)],
)  # fmt: skip
def test_a_status_that_is_respelt(word: str, meant: str | None):
    data = lines(HEADER, {**run(1, 100), "status": word})
    outcome = repaired(data, "R203")
    assert outcome.text.data == (data if meant is None else lines(HEADER, {**run(1, 100), "status": meant}))


def test_other_words_that_are_respelt():
    header = {**HEADER, "bestDirection": "Lower"}
    marker = {"type": "status", "state": "canceled", "timestamp": 1700000000000}
    assert made(lines(header, marker)) == lines(HEADER, {**marker, "state": "cancelled"})
    data = lines(STATE_HEADER, result(1, 5), decision(1, "Kept"))
    assert made(data) == data.replace(b"Kept", b"keep")


def test_a_key_that_would_stand_twice_is_not_respelt():
    data = lines({**HEADER, "metric_name": "other", "unit": "s", "metric_unit": "s"})
    assert repaired(data, "R213").done == []


def test_run_numbers():
    numbers = [1, 2, 2, 7, 3, 0, 9]
    data = lines(HEADER, *(run(number, 100) for number in numbers))
    outcome = repaired(data)
    records = [json.loads(outcome.text.line(line)) for line in range(2, outcome.text.lines + 1)]
    assert [record["run"] for record in records] == [1, 2, 3, 4, 5, 6, 7]
    assert [record["description"] for record in records] == [f"idea {number}" for number in numbers]


def test_run_numbers_leave_room_for_what_cannot_be_read():
    data = lines(HEADER, run(0, 1), run(1, 100), b'{"run":2', run(3, 90), run(3, 80))
    outcome = repaired(data, "S405")
    assert outcome.text.data == lines(HEADER, run(0, 1), run(1, 100), b'{"run":2', run(3, 90), {**run(3, 80), "run": 4})


def test_repeated_results_take_their_decisions_along():
    data = lines(
        STATE_HEADER, result(1, 9), decision(1, "baseline"), result(2, 8), decision(2, "keep"), result(2, 7),
        decision(2, "discard"), result(3, 6), decision(1, "stop"),
    )  # fmt: skip
    assert made(data, "S411") == lines(
        STATE_HEADER, result(1, 9), decision(1, "baseline"), result(2, 8), decision(2, "keep"), result(4, 7),
        decision(4, "discard"), result(3, 6), decision(1, "stop"),
    )  # fmt: skip


def test_a_repeated_result_takes_the_number_of_the_decision_behind_it():
    data = lines(STATE_HEADER, result(1, 9), decision(1, "baseline"), result(1, 8), decision(2, "keep"), result(3, 7))
    assert made(data, "S411") == lines(
        STATE_HEADER, result(1, 9), decision(1, "baseline"), result(2, 8), decision(2, "keep"), result(3, 7)
    )


def test_stated_segments():
    data = lines(HEADER, run(1, 100, segment=3), HEADER, run(2, 90, segment=0), run(3, 90, segment=1))
    assert made(data) == lines(HEADER, run(1, 100, segment=0), HEADER, run(2, 90, segment=1), run(3, 90, segment=1))


def test_the_first_header_moves_up_whatever_else_is_wrong_with_it():
    header = dumped(HEADER).replace(b"metricName", b"metric_name")
    assert made(lines(run(1, 100), b"", BOM + header, run(2, 90))) == lines(dumped(HEADER), run(1, 100), run(2, 90))
    assert made(lines(result(1, 5), STATE_HEADER)) == lines(STATE_HEADER, result(1, 5))


def test_a_header_is_written_as_it_was_given():
    options = Options("ms", "lower", "p")
    assert made(lines(result(1, 5)), "S401", options) == lines(STATE_HEADER, result(1, 5))
    given = {"type": "config", "metricName": "ms", "metricUnit": "", "bestDirection": "higher"}
    assert made(lines(run(1, 5)), "S401", Options("ms", "higher")) == lines(given, run(1, 5))


def test_conflicts_that_are_not_whole_are_left_alone():
    for marks in (b"<<<<<<< a", b"=======", b">>>>>>> b", b"<<<<<<< a\n>>>>>>> b", b"=======\n<<<<<<< a\n>>>>>>> b"):
        outcome = repaired(FIRST + marks + b"\n" + lines(run(2, 90)))
        assert outcome.done == [] and outcome.text.data == FIRST + marks + b"\n" + lines(run(2, 90))


def test_two_conflicts():
    sides = (b"<<<<<<< a", run(3, 80), b"=======", run(2, 90), b">>>>>>> b")
    more = (b"<<<<<<< a", run(5, 80), b"=======", run(4, 90), b">>>>>>> b")
    assert made(FIRST + lines(*sides, *more)) == FIRST + lines(run(2, 90), run(3, 80), run(4, 90), run(5, 80))


@pytest.mark.parametrize(("side", "kept"), [("both", (2, 3, 4, 5)), ("ours", (2,)), ("theirs", (3, 5))])
def test_a_conflict_within_a_conflict_is_settled_with_it(side: str, kept: tuple[int, ...]):
    runs = {number: run(number, 100 - number, timestamp=1_700_000_000_000 + number) for number in range(2, 6)}
    inner = (b"<<<<<<< a", runs[2], b"||||||| o", b"=======", runs[4], b">>>>>>> b")
    base = (b"||||||| o", b"<<<<<<<<< x", run(9, 9), b"=========", run(8, 8), b">>>>>>>>> y")
    data = FIRST + lines(b"<<<<<<< a", *inner, *base, b"=======", runs[3], runs[5], b">>>>>>> b")
    outcome = repaired(data, "L119", Options(side=side))
    assert len(outcome.done) == 1 and outcome.text.data == FIRST + lines(*(runs[number] for number in kept))


def test_a_whole_conflict_behind_one_that_is_not():
    data = FIRST + lines(b"<<<<<<< a", b"<<<<<<< a", run(2, 9), b"=======", run(3, 8), b">>>>>>> b")
    outcome = repaired(data)
    assert len(outcome.done) == 1 and outcome.text.data == FIRST + lines(b"<<<<<<< a", run(2, 9), run(3, 8))


@pytest.mark.parametrize(
    "filler",
    [b"\n", b"{\n", b'{"a":"\n', b"<<<<<<< a\n", b"=======\n", BOM + b"\n", b'{"a":1,"a":2}\n', b'{"a":\n1,"b":2\n}\n',
     b"{}{}\n", b"{}"],
)  # fmt: skip
def test_long_logs_of_nothing_good_take_no_more_than_their_length(filler: bytes):
    begun = time.process_time()
    repaired(FIRST + filler * 5_000 + b"\n")
    assert time.process_time() - begun < 10  # a tenth of a second to one, where what is quadratic takes minutes


def test_a_header_is_moved_past_what_white_space_goes_away_with_it():
    for blank in (b"\n", b" \r\n", BOM + b"\n", BOM):
        outcome = repaired(blank + lines(run(1, 100), HEADER, run(2, 90)))
        assert (outcome.refusal, outcome.left, outcome.text.data) == (None, [], lines(HEADER, run(1, 100), run(2, 90)))


@pytest.mark.parametrize("gap", [b"", b" "])
def test_what_an_unreadable_record_hid_is_no_new_finding(gap: bytes):
    """Two faults on one line: the first is put right, then the other is seen, and put right as well."""
    glued = FIRST + dumped(run(2, 90, status="Discard")) + gap + dumped(run(3, 80)) + b"\n"
    raw = FIRST + dumped(run(2, 90, status="Discard", description="a\tb")).replace(rb"\t", b"\t") + b"\n"
    for data in (glued, raw):
        first = repaired(data)
        assert first.refusal is None and [one.code for one in first.revealed] == ["R203"]
        second = repaired(first.text.data)
        assert second.refusal is None and second.text.diagnostics == []


def test_a_log_without_its_header_may_have_hidden_that():
    """The record that cannot be read might have been the header."""
    first = repaired(lines(dumped(run(1, 100, description="a\tb")).replace(rb"\t", b"\t"), HEADER, run(2, 90)))
    assert first.refusal is None and [one.code for one in first.revealed] == ["S401"]
    second = repaired(first.text.data)
    assert second.refusal is None and second.text.diagnostics == []


def test_a_history_whose_last_event_was_torn_is_cut_back_to_what_it_says():
    """That it never ended cannot be seen while its last line is unfinished."""
    config = codex.config(target=5)
    steps = [codex.Step("try", Num(value)) for value in ("9", "4")]
    whole = encoded(codex.simulate(config, Num("10"), steps), Style())
    torn = Text(whole[:-20], None, json.dumps(config).encode())
    assert [one.code for one in torn.diagnostics] == ["L115"]
    outcome = carry_out(torn, make_plan(torn, torn.diagnostics, Options()).items, Options())
    assert outcome.refusal is None and [one.code for one in outcome.revealed] == ["E354"]
    assert outcome.text.data == whole[: whole[:-1].rindex(b"\n") + 1]


def test_a_cut_that_breaks_the_replay_is_refused():
    config = codex.config(target=5)
    steps = [codex.Step("try", Num(value)) for value in ("9", "8", "7")]
    events = encoded(codex.simulate(config, Num("10"), steps), Style()).splitlines(keepends=True)
    glued = Text(b"".join((events[0], events[1][:-30], *events[2:])), None, json.dumps(config).encode())
    outcome = carry_out(glued, make_plan(glued, glued.diagnostics, Options()).items, Options())
    assert outcome.refusal is not None and "E332" in {one.code for one in outcome.worse}
