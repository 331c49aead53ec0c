"""Hold the oracle to small examples computed by hand, and its generators to the rules that they must keep."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import codex, fold, random_logs, strategies
from .encode import Num, Record, Style, lines

HEADER: Record = {"type": "config", "name": "n", "metricName": "ms", "metricUnit": "ms", "bestDirection": "lower"}
NOW = datetime(2026, 5, 6, 13, tzinfo=UTC)
COUNTS = ("runs", "keep", "discard", "crash", "checks_failed", "other")
DIALECTS = ("autoresearch", "state-protocol", "codex")


def run(number: int, status: str, metric: int | str, **more: Any) -> Record:
    """Return a run of section 2."""
    return {"run": number, "status": status, "metric": Num(metric), **more}


def view(
    records: list[Record], name: str, dialect: str = "autoresearch", run_json: Record | None = None
) -> list[fold.Row]:
    """Return the rows of a view."""
    return fold.views("log", lines(records, Style()), dialect, run_json)[name]


def judge(records: list[Record], dialect: str = "autoresearch", limit: int | None = None, now: datetime = NOW) -> str:
    """Return the six values in one line."""
    return " ".join(str(value) for value in fold.verdict(lines(records, Style()), dialect, None, limit, now).values())


def cells(rows: list[fold.Row], columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the rows."""
    return [tuple(row[column] for column in columns.split()) for row in rows]


def test_baseline_passes_over_a_first_crash() -> None:
    records = [HEADER, run(1, "crash", 0), run(2, "discard", 100), run(3, "keep", 75)]
    assert cells(view(records, "segments"), "baseline_run baseline best improvement_pct") == [(2, 100, 75, 25.0)]
    assert cells(view(records, "runs"), "delta_pct best_so_far is_best") == [
        (None, None, False),
        (0.0, None, False),
        (-25.0, 75, True),
    ]
    assert cells(view(records, "compare"), "best keep_rate runs_to_best") == [(75, 1 / 3, 3)]


def test_a_baseline_of_zero_gives_no_percentage() -> None:
    records = [HEADER, run(1, "keep", "0.0"), run(2, "keep", -4)]
    assert cells(view(records, "segments"), "baseline best improvement_pct") == [(0.0, -4, None)]
    assert cells(view(records, "runs"), "delta_pct") == [(None,), (None,)]


def test_a_negative_baseline_is_taken_absolutely() -> None:
    records = [{**HEADER, "bestDirection": "higher"}, run(1, "keep", -10), run(2, "keep", -5)]
    assert cells(view(records, "best"), "run improvement_pct") == [(2, 50.0)]


def test_ties_go_to_the_earliest_and_numbers_are_compared_exactly() -> None:
    records = [HEADER, run(1, "keep", "1.50"), run(2, "keep", "1.5"), run(2, "keep", "15e-1")]
    assert cells(view(records, "runs"), "is_best") == [(True,), (False,), (False,)]
    records += [run(3, "keep", "1.49999999999999999999"), run(4, "keep", "1.5")]
    assert cells(view(records, "best"), "run metric") == [(3, 1.5)]


@pytest.mark.parametrize(
    ("runs", "confidence"),
    [
        ([("keep", 10), ("keep", 8)], None),  # two measurements
        ([("keep", 10), ("crash", 0), ("keep", 8)], None),  # a crash measures nothing
        ([("keep", 10), ("keep", 10), ("keep", 10), ("keep", 8)], None),  # MAD 0
        ([("keep", 10), ("discard", 12), ("discard", 14)], None),  # the best is the baseline
        ([("discard", 10), ("keep", 12), ("discard", 14)], None),  # the best is worse than the baseline
        ([("discard", 10), ("discard", 12), ("discard", 14)], None),  # no best
        ([("keep", 10), ("keep", 8), ("checks_failed", 13)], 2 / 2),  # median 10, deviations 0 2 3
        ([("keep", 10), ("crash", 0), ("keep", 8), ("discard", 13), ("discard", 11)], 2 / 1.5),  # 10.5: .5 2.5 2.5 .5
        ([("keep", 0), ("keep", -6), ("discard", 4), ("discard", 1)], 6 / 2.0),  # median .5, deviations .5 6.5 3.5 .5
    ],
)
def test_confidence(runs: list[tuple[str, int]], confidence: float | None) -> None:
    records = [HEADER, *(run(number, *one) for number, one in enumerate(runs, 1))]
    assert view(records, "segments")[0]["confidence"] == confidence


def test_streaks_end_at_keep_and_checks_failed() -> None:
    statuses = ["discard", "crash", "checks_failed", "crash", "keep", "discard", "discard", "crash"]
    records = [HEADER, *(run(number, status, 1) for number, status in enumerate(statuses, 1))]
    assert cells(view(records, "streaks"), "first_run last_run length current") == [
        (1, 2, 2, False),
        (4, 4, 1, False),
        (6, 8, 3, True),
    ]
    assert cells(view(records, "segments"), "streak longest_streak") == [(3, 3)]


def test_headers_without_a_run_between_replace_one_another() -> None:
    other = {**HEADER, "metricName": "score", "metricUnit": "", "bestDirection": "higher"}
    marker = {"type": "status", "state": "running", "timestamp": 1700000000}
    records = [HEADER, marker, other, run(1, "keep", 1), HEADER, HEADER]
    assert cells(view(records, "segments"), "segment metric_name unit direction runs") == [
        (0, "score", "", "higher", 1),
        (1, "ms", "ms", "lower", 0),
    ]
    assert cells(view(records, "events"), "line segment kind") == [
        (1, 0, "config"),
        (2, 0, "status"),
        (3, 0, "config"),
        (5, 1, "config"),
        (6, 1, "config"),
    ]
    assert cells(view(records, "sessions"), "segments metric_name best state") == [(2, "score", 1, "running")]
    assert cells(view(records, "compare"), "metric_name runs best") == [("score", 1, 1), ("ms", 0, None)]


def test_compare_takes_the_best_segment_of_the_metric() -> None:
    records = [
        HEADER,
        run(1, "keep", 10),
        run(2, "discard", 11),
        HEADER,
        run(3, "keep", 8),
        run(4, "keep", 6),
        HEADER,
        run(5, "keep", 6),
    ]
    assert cells(view(records, "compare"), "runs best improvement_pct runs_to_best keep_rate") == [(5, 6, 25.0, 4, 0.8)]


def test_times_are_read_in_seconds_milliseconds_and_text() -> None:
    stamps = [
        1700000000,
        Num("1700000000123"),
        Num("1700000000.9999"),
        "2023-11-14T23:13:20.5+01:00",
        "2023-11-14T22:13:20",
    ]
    records = [HEADER, *(run(number, "keep", 1, timestamp=stamp) for number, stamp in enumerate(stamps, 1))]
    seconds = "2023-11-14T22:13:20."
    assert [row["at"] for row in view(records, "runs")] == [
        seconds + end for end in ("000Z", "123Z", "999Z", "500Z", "000Z")
    ]
    assert cells(view(records, "segments"), "first_at last_at") == [(seconds + "000Z", seconds + "999Z")]


def test_metrics_are_the_numbers_only() -> None:
    records = [
        HEADER,
        run(1, "keep", 1, metrics={"a.b": Num("1.50"), "text": "x", "flag": True, "none": None}),
        run(2, "keep", 1, metrics=None),
    ]
    assert cells(view(records, "metrics"), "segment run name value") == [(0, 1, "a.b", 1.5)]


def test_verdict_counts_the_runs_that_state_the_last_ones_segment() -> None:
    stated = [(5, "discard"), (7, "keep"), (5, "keep"), (7, "discard"), (5, "crash"), (7, "keep"), (5, "discard")]
    runs = [run(number, status, 1, segment=segment) for number, (segment, status) in enumerate(stated, 1)]
    assert judge([HEADER, *runs]) == "5 4 2 none 0 continue"
    assert judge([HEADER, *runs], limit=4) == "5 4 2 none 0 max_iterations"
    assert judge([HEADER, *runs, run(9, "crash", 0)]) == "0 1 1 none 0 continue"
    assert judge([HEADER, *runs, HEADER]) == "0 0 0 none 0 continue"


def test_verdict_order() -> None:
    records = [HEADER, *(run(number, "discard", 1) for number in range(9))]
    assert judge(records) == "0 9 9 none 0 wall"
    assert judge(records, limit=9) == "0 9 9 none 0 max_iterations"
    assert judge([*records, {"type": "status", "state": "done", "timestamp": 1}], limit=9) == "0 9 9 done 0 concluded"
    assert judge(records[:-1]) == "0 8 8 none 0 continue"


def test_backstop_waits_for_its_acknowledgement() -> None:
    def ack(count: int) -> Record:
        return {"type": "status", "state": "running", "timestamp": 1, "backstop_ack": count}

    records = [HEADER, *(run(number, "keep", 1) for number in range(1, 401))]
    assert judge(records[:200]) == "0 199 0 none 0 continue"
    assert judge(records[:201]) == "0 200 0 none 0 backstop"
    assert judge([*records[:201], ack(200)]) == "0 200 0 running 200 continue"
    assert judge([*records, ack(200)]) == "0 400 0 running 200 backstop"
    assert judge([ack(400), *records]) == "0 400 0 running 0 backstop"
    assert judge([*records, ack(400)], limit=500) == "0 400 0 running 400 continue"


STATE: Record = {
    "type": "config",
    "schema_version": 1,
    "name": "n",
    "metric": "ms",
    "direction": "lower",
    "created_at": "2026-05-06T12:00:00Z",
}


def result(number: int, value: int, **more: Any) -> Record:
    """Return a result."""
    return {
        "type": "result",
        "run": number,
        "metric": "ms",
        "value": value,
        "timestamp": "2026-05-06T12:01:00Z",
        **more,
    }


def decision(number: int, action: str) -> Record:
    """Return a decision."""
    return {"type": "decision", "run": number, "action": action, "reason": "r", "timestamp": "2026-05-06T12:02:00Z"}


def test_state_protocol_decides_late_and_stop_leaves_the_action() -> None:
    records = [
        STATE,
        result(1, 12),
        result(2, 10, median=9),
        decision(2, "baseline"),
        decision(1, "keep"),
        result(3, 8),
        decision(3, "discard"),
        decision(3, "keep"),
        decision(3, "stop"),
        result(4, 0, status="crash"),
        result(5, 7),
        decision(5, "stop"),
    ]
    assert cells(view(records, "runs", "state-protocol"), "run status metric delta_pct is_best") == [
        (1, "keep", 12, 100 / 3, False),
        (2, "baseline", 9, 0.0, False),
        (3, "keep", 8, -100 / 9, True),
        (4, "crash", 0, None, False),
        (5, "measured", 7, -200 / 9, False),
    ]
    assert cells(
        view(records, "sessions", "state-protocol"), "runs keep other crash baseline best_run state streak unit"
    ) == [(5, 2, 2, 1, 9, 3, "none", 1, "")]
    assert cells(view(records, "events", "state-protocol")[1:3], "kind state run detail") == [
        ("decision", "baseline", 2, {"reason": "r"}),
        ("decision", "keep", 1, {"reason": "r"}),
    ]
    assert judge(records, "state-protocol") == "0 5 1 none 0 concluded"


def test_streak_passes_over_the_undecided() -> None:
    records = [STATE]
    for number, action in enumerate(["keep", "discard", None, "discard", None], 1):
        records += [result(number, 1), *([decision(number, action)] if action else [])]
    assert cells(view(records, "streaks", "state-protocol"), "first_run last_run length current") == [(2, 4, 2, True)]
    assert cells(view(records, "segments", "state-protocol"), "streak longest_streak") == [(2, 2)]


def test_state_protocol_budgets() -> None:
    failed = [record for number in range(1, 10) for record in (result(number, 1), decision(number, "discard"))]
    assert judge([STATE, *failed], "state-protocol") == "0 9 9 none 0 wall"
    assert judge([{**STATE, "max_minutes": 60}, *failed], "state-protocol") == "0 9 9 none 0 max_minutes"
    assert judge([{**STATE, "max_minutes": 61}, *failed], "state-protocol") == "0 9 9 none 0 wall"
    assert judge([{**STATE, "max_minutes": 60, "max_runs": 9}, *failed], "state-protocol").endswith("max_iterations")
    assert judge([{**STATE, "max_runs": 9}, *failed], "state-protocol", limit=0).endswith("wall")


def trial(metric: int, **more: Any) -> codex.Step:
    """Return a codex trial."""
    return codex.Step("try", Num(metric), **more)


def test_codex_counts_the_baseline_in_nothing() -> None:
    config = codex.config(target=-1, guard="make test")
    events = codex.simulate(config, Num(10), [trial(12), trial(8), trial(7, guard_fails=True), trial(8)])
    assert cells(view(events, "runs", "codex", config), "run status metric delta_pct best_so_far is_best") == [
        (0, "baseline", 10, 0.0, 10, False),
        (1, "discard", 12, 20.0, 10, False),
        (2, "keep", 8, -20.0, 8, True),
        (3, "discard", 7, -30.0, 8, False),
        (4, "discard", 8, -20.0, 8, False),
    ]
    assert cells(
        view(events, "segments", "codex", config), "name runs keep discard other baseline_run best_run streak"
    ) == [("reduce errors", 4, 1, 3, 0, 0, 2, 2)]
    assert cells(view(events, "segments", "codex", config), "confidence") == [(2.0,)]  # median 8, deviations 2 4 0 1 0
    assert cells(view(events[:1], "compare", "codex", config), "runs best runs_to_best keep_rate") == [(0, 10, 0, None)]
    assert cells(view(events, "compare", "codex", config), "runs best runs_to_best keep_rate") == [(4, 8, 2, 0.25)]


def test_codex_error_head_is_the_head_from_then_on() -> None:
    config = codex.config(target=-1)
    steps = [codex.Step("error reverted"), trial(8), codex.Step("error"), codex.Step("error trial")]
    events = codex.simulate(config, Num(10), steps)
    assert [event["event"] for event in events] == [
        "baseline",
        "error",
        "resumed",
        "iteration",
        "error",
        "resumed",
        "error",
    ]
    _, reverted, resumed, kept, plain, _, last = events
    assert reverted["head"] == resumed["head"] == reverted["revert_commit"] != reverted["trial_commit"]
    assert plain["head"] == kept["trial_commit"] and plain["trial_commit"] is None
    assert last["head"] == last["trial_commit"] and last["revert_commit"] is None
    rows = view(events, "events", "codex", config)
    assert [row["detail"]["head"] for row in rows] == [
        event["head"] for event in (reverted, resumed, plain, events[5], last)
    ]
    assert cells(view(events, "sessions", "codex", config), "state") == [("error",)]
    assert cells(view(events[:6], "sessions", "codex", config), "state") == [("active",)]
    data = lines(events, Style())
    assert fold.verdict(data, "codex", config, None, NOW)["VERDICT"] == "concluded"


def test_codex_ends_by_target_or_limit() -> None:
    met = codex.simulate(codex.config(target=8), Num(10), [trial(9), trial(8), trial(1)])
    assert [event["event"] for event in met] == ["baseline", "iteration", "iteration", "complete"]
    limited = codex.simulate(codex.config(target=8, max_iterations=1), Num(10), [trial(9), trial(8)])
    assert [event["event"] for event in limited] == ["baseline", "iteration", "stopped"]


def test_figures_past_the_doubles_are_null() -> None:
    records = [{**HEADER, "bestDirection": "higher"}, run(1, "keep", "5e-324"), run(2, "keep", "1e300")]
    assert cells(view(records, "best"), "metric improvement_pct") == [(1e300, None)]
    assert view([HEADER, run(1, "keep", "9223372036854776000")], "best")[0]["metric"] == 9223372036854776000


def replay(config: Record, events: list[Record]) -> None:
    """Hold a codex history to section 4 rule by rule, apart from how `simulate` makes one."""
    ended, iteration, head, retained = "", 0, "", Decimal(0)
    for seq, event in enumerate(events):
        kind = event["event"]
        assert event["seq"] == seq and (kind == "baseline") == (seq == 0)
        assert ended != "complete" and (kind == "resumed") == bool(ended)
        if kind == "baseline":
            head, retained = event["head"], Decimal(event["metric"])
            assert (event["guard_log"] is not None) == (config["guard"] is not None)
        elif kind == "iteration":
            iteration += 1
            tried, kept = Decimal(event["trial_metric"]), event["outcome"] == "keep"
            gains = tried < retained if config["metric"]["direction"] == "lower" else tried > retained
            assert event["iteration"] == iteration and Decimal(event["previous_metric"]) == retained
            assert kept == (gains and event["guard"] == "pass")
            assert (event["guard"] == "not_run") == (not gains)
            assert event["guard"] != "fail" or config["guard"]
            assert (event["guard_log"] is not None) == (config["guard"] is not None and gains)
            assert (event["revert_commit"] is None) == kept
            assert event["head"] == (event["trial_commit"] if kept else event["revert_commit"])
            head, retained = event["head"], tried if kept else retained
            assert Decimal(event["retained_metric"]) == retained
        else:
            if kind == "error":
                head = event["revert_commit"] or event["trial_commit"] or head
                assert event["trial_commit"] or not event["revert_commit"]
            assert event["head"] == head and Decimal(event["metric"]) == retained
            assert (
                kind != "resumed"
                or ended != "error"
                or events[seq - 1]["revert_commit"]
                or not events[seq - 1]["trial_commit"]
            )
        ended = kind if kind in ("complete", "stopped", "blocked", "error") else ""
    limit, target = config["max_iterations"], Decimal(repr(config["target"]))
    met = retained <= target if config["metric"]["direction"] == "lower" else retained >= target
    assert ended or not (met or (limit and iteration >= limit))
    assert ended != "complete" or met


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None)
@given(data=st.data())
def test_drawn_logs_can_be_judged_and_agree_with_themselves(dialect: str, data: st.DataObject) -> None:
    log, config = data.draw(strategies.logs(dialect))
    agrees_with_itself(log, dialect, config)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_random_logs_are_the_same_again_and_agree_with_themselves(dialect: str, seed: int) -> None:
    runs = Random(seed).choice([0, 1, 60, 300])
    log, config = random_logs.generate(seed, dialect, runs)
    assert random_logs.generate(seed, dialect, runs) == (log, config)
    agrees_with_itself(log, dialect, config)


def agrees_with_itself(log: bytes, dialect: str, config: Record | None) -> None:
    """Check what must hold between the views of any log."""
    rows = fold.views("log", log, dialect, config)
    (session,), segments, runs = rows["sessions"], rows["segments"], rows["runs"]
    for key in COUNTS:
        assert session[key] == sum(segment[key] for segment in segments)
    assert session["runs"] == sum(session[key] for key in COUNTS[1:])
    assert sum(row["is_best"] for row in runs) == len(rows["best"])
    current = {row["segment"]: row["length"] for row in rows["streaks"] if row["current"]}
    assert current == {row["segment"]: row["streak"] for row in segments if row["streak"]}
    assert sum(row["runs"] for row in rows["compare"]) == session["runs"]
    read = sorted(row["line"] for row in [*runs, *rows["events"]])
    held = [json.loads(line) for line in log.split(b"\n") if line.strip()]
    assert len(set(read)) == len(read) == len(held)
    assert set(fold.verdict(log, dialect, config, None, NOW)) == set(fold.six(0, 0, 0, "", 0, ""))
    json.dumps(rows, allow_nan=False)
    if config is not None:
        replay(config, [json.loads(line, parse_float=Num, parse_int=int) for line in log.splitlines()])
