"""Hypothesis strategies that draw whole logs of each dialect: sound, or with warnings only, never with an error.

`size` bounds the records of a segment; `wild` adds metrics at the edges of doubles and past their digits.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from . import codex
from .encode import Num, Record, Style, lines

if TYPE_CHECKING:
    from collections.abc import Callable

FINE = [
    *("0.0", "-0", "1e5", "1E+2", "4.44e-16"),
    *("0.1", "0.10000000000000000001", "0.10000000000000000002", "1.00000000000000000001"),
]
EDGE = [
    *("1e300", "-1e300", "5e-324", "-5e-324", "123456789012345678901234567890.5"),
    *("9007199254740993", "9223372036854776000", "18446744073709551616", "-9223372036854775809"),
]
NAMES = [
    *("mem", "compile_µs", "a.b", " ", "two words", 'quo"te', "it's", "semi;colon--", "=1+1", "run", "metric"),
    *("nul\u0000", "\u2028", "日本", "🦀", "x" * 80),
]
WORDS = [
    *("inline hot loop", "=1+1", "-x", "tab\tnew\nline", "nul\u0000byte", "\u2028\u0085", "é ü 🦀"),
    *("<script>", "\x1b[31m", ", : {}"),
]
STATUSES = ["keep", "discard", "checks_failed", "crash"]
FORBIDDEN = {"", "__proto__", "constructor", "prototype"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spell_time(milliseconds: int, digits: int, offset: str) -> str:
    """Write a time as ISO-8601 with so many decimals, its hours as they stand whatever the offset."""
    time = EPOCH + timedelta(milliseconds=milliseconds)
    fraction = f".{time.microsecond:06d}"[: digits + 1] if digits else ""
    return f"{time:%Y-%m-%dT%H:%M:%S}{fraction}{offset}"


integers = st.integers(-1000, 1000).map(str).map(Num)
tame_numbers: st.SearchStrategy[Num] = st.one_of(
    st.sampled_from(["1", "2", "3", "1.0", "1.50", "1.5", "2.00", "0"]).map(Num),
    integers,
    st.tuples(integers, st.integers(0, 999)).map(lambda pair: Num(f"{pair[0]}.{pair[1]:03d}")),
)
wild_numbers: st.SearchStrategy[Num] = st.sampled_from(FINE + EDGE).map(Num)
texts: st.SearchStrategy[str] = st.one_of(st.sampled_from(WORDS), st.text(st.characters(codec="utf-8"), max_size=8))
some_text = texts.filter(bool)
hashes = st.sampled_from(["abc1234", "12e4567", "0000000", "7e12345"])
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), tame_numbers, wild_numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)
extras: st.SearchStrategy[Record] = st.dictionaries(
    st.sampled_from(["iterationTokens", "promotion", "note", "x", "Metric", "é", "nested key"]), json_values, max_size=2
)
iso_times: st.SearchStrategy[str] = st.builds(
    spell_time,
    st.integers(1_600_000_000_000, 1_800_000_000_000),
    st.sampled_from([0, 3, 6]),
    st.sampled_from(["Z", "+00:00", "+05:30", "-08:00", ""]),
)
epoch_times: st.SearchStrategy[Num] = st.one_of(
    st.integers(1_600_000_000, 1_800_000_000).map(str).map(Num),
    st.integers(1_600_000_000_000, 1_800_000_000_000).map(str).map(Num),
    st.tuples(st.integers(1_600_000_000, 1_800_000_000), st.integers(0, 999_999)).map(
        lambda pair: Num(f"{pair[0]}.{pair[1]:06d}")
    ),
    st.sampled_from(["0", "99999999999", "100000000000", "1.7e9", "1.7e12", "1700000000000.5"]).map(Num),
)
times = st.one_of(epoch_times, iso_times)
styles: st.SearchStrategy[Style] = st.builds(
    Style,
    comma=st.sampled_from([",", ", "]),
    colon=st.sampled_from([":", ": "]),
    order=st.sampled_from(["as is", "sorted", "reversed"]),
    ascii=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"]),
)


def several(strategy: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[list[Any]]:
    """Draw lists of up to so many, half of them at least half as long."""
    return st.one_of(st.lists(strategy, max_size=size), st.lists(strategy, min_size=size // 2, max_size=size))


def numbers(wild: bool = True) -> st.SearchStrategy[Num]:
    """Draw a metric's text."""
    return st.one_of(tame_numbers, wild_numbers) if wild else tame_numbers


def merged(*parts: st.SearchStrategy[Record]) -> st.SearchStrategy[Record]:
    """Draw records and merge them; where two have a key, the former one's value counts."""

    def merge(drawn: tuple[Record, ...]) -> Record:
        record: Record = {}
        for part in drawn:
            record = {**record, **{key: value for key, value in part.items() if key not in record}}
        return record

    return st.tuples(*parts).map(merge)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw null or the strategy's."""
    return st.one_of(st.none(), strategy)


@st.composite
def written(draw: st.DrawFn, records: list[Record], blank_lines: bool = True) -> bytes:
    """Draw how the records are written."""
    style = draw(styles)
    texts: list[Record | str] = list(records)
    blank = st.tuples(st.integers(0, len(texts)), st.sampled_from(["", " ", "\t"]))
    blanks = draw(st.lists(blank, max_size=2)) if blank_lines else []
    for index, text in sorted(blanks, reverse=True):
        texts.insert(index, text)
    ends_in_record = bool(texts) and not isinstance(texts[-1], str)
    final_newline = not (blank_lines and ends_in_record) or draw(st.integers(0, 4)) > 0
    return lines(texts, style, final_newline)


# --- autoresearch ---------------------------------------------------------------------------------------------------

units = st.one_of(st.sampled_from(["", "ms", "µs"]), texts)
metric_names = st.one_of(st.sampled_from(["total_ms", "score", "µ.x"]), some_text)
directions = st.sampled_from(["lower", "higher"])


@st.composite
def headers(draw: st.DrawFn) -> Record:
    """Draw a header of section 2, in any of its spellings."""
    record: Record = {"type": "config"}
    if draw(st.integers(0, 5)):
        record["name"] = draw(some_text)
    record[draw(st.sampled_from(["metricName", "metricName", "metric_name"]))] = draw(metric_names)
    if draw(st.booleans()):
        record[draw(st.sampled_from(["metricUnit", "metricUnit", "metric_unit", "unit"]))] = draw(units)
    record[draw(st.sampled_from(["bestDirection", "bestDirection", "direction"]))] = draw(directions)
    if draw(st.integers(0, 4)) == 0:
        record["timestamp"] = draw(epoch_times)
    return {**draw(extras), **record}


markers = merged(
    st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("status"), "state": st.just("running"), "timestamp": epoch_times},
            optional={"backstop_ack": st.sampled_from([0, 1, 200, 400])},
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("status"),
                "state": st.sampled_from(["running", "done", "cancelled", "wall", "blocked"]),
                "timestamp": epoch_times,
            }
        ),
    ),
    extras,
)
hooks = merged(
    st.fixed_dictionaries(
        {
            "type": st.just("hook"),
            "stage": st.sampled_from(["before", "after"]),
            "exit_code": st.integers(-15, 3),
            "duration_ms": st.integers(0, 30_000),
            "stdout_bytes": st.integers(0, 8192),
            "timed_out": st.booleans(),
        },
        optional={"timestamp": epoch_times},
    ),
    extras,
)
unknown_types = merged(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["finalize", "note", "é \u2028"])},
        optional={
            "timestamp": times,
            "reason": texts,
            "metric": json_values,
            "status": st.sampled_from(["keep", "discard", "odd"]),
        },
    ),
    extras,
)
side_records: st.SearchStrategy[Record] = st.one_of(markers, hooks, unknown_types)


def secondary(wild: bool = True) -> st.SearchStrategy[Record]:
    """Draw a run's `metrics`."""
    names = st.one_of(st.sampled_from(NAMES), texts).filter(lambda name: name not in FORBIDDEN)
    odd = st.one_of(texts, st.booleans(), st.none())
    return st.dictionaries(names, st.one_of(numbers(wild), numbers(wild), odd), max_size=3)


def run_bodies(wild: bool = True) -> st.SearchStrategy[Record]:
    """Draw a run of section 2 without its number; keys past `metric` and `status` may be missing."""
    return merged(
        st.one_of(
            st.fixed_dictionaries({"metric": numbers(wild), "status": st.sampled_from(["keep", "discard"])}),
            st.fixed_dictionaries({"metric": numbers(wild), "status": st.sampled_from(STATUSES)}),
            st.fixed_dictionaries({"metric": st.just(Num("0")), "status": st.just("crash")}),
        ),
        st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["run", "result"]),
                "commit": st.one_of(hashes, st.sampled_from(["", "---", "f823bf52f028"])),
                "description": texts,
                "timestamp": times,
                "metrics": maybe(secondary(wild)),
                "segment": maybe(st.integers(0, 3)),
                "confidence": maybe(st.one_of(tame_numbers, st.just(Num("2.3")))),
                "asi": maybe(st.dictionaries(texts, json_values, max_size=2)),
            },
        ),
        extras,
    )


@st.composite
def autoresearch_records(draw: st.DrawFn, size: int = 8, wild: bool = True) -> list[Record]:
    """Draw the records of a log of section 2: headers repeated before a run, numbers that repeat, skip and go back."""
    records: list[Record] = []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        records.append(draw(headers()))
        for again in draw(st.lists(st.one_of(st.none(), headers(), side_records), max_size=2)):
            records.append(records[-1] if again is None and records[-1]["type"] == "config" else again or draw(markers))
        item = st.one_of(run_bodies(wild), run_bodies(wild), run_bodies(wild), side_records)
        for body in draw(several(item, size)):
            if "metric" in body and body.get("type") in (None, "run", "result"):
                number = max(0, number + draw(st.sampled_from([1, 1, 1, 1, 1, 0, 2, -1, -5, 100])))
                records.append({"run": number, **body})
            else:
                records.append(body)
    return records


@st.composite
def autoresearch_logs(draw: st.DrawFn, size: int = 8, wild: bool = True) -> bytes:
    """Draw a log of section 2."""
    return draw(written(draw(autoresearch_records(size, wild))))


# --- state-protocol -------------------------------------------------------------------------------------------------

positive = st.one_of(st.integers(1, 50).map(str).map(Num), st.sampled_from([Num("0.5"), Num("1e1")]))
state_configs = merged(
    st.fixed_dictionaries(
        {
            "type": st.just("config"),
            "schema_version": st.just(1),
            "name": some_text,
            "metric": metric_names,
            "direction": directions,
            "created_at": iso_times,
        },
        optional={
            "unit": some_text,
            "min_effect_size_pct": positive,
            "noise_floor_pct": positive,
            "max_runs": st.integers(1, 30),
            "max_minutes": positive,
            "files_in_scope": st.lists(some_text, max_size=2),
            "off_limits": st.lists(some_text, max_size=2),
        },
    ),
    extras,
)


@st.composite
def state_results(draw: st.DrawFn, run: int, metric: str, wild: bool = True) -> Record:
    """Draw a result: by value, by median, or by both, with samples or without."""
    record: Record = {"type": "result", "run": run, "metric": metric, "timestamp": draw(iso_times)}
    status = draw(st.sampled_from([None, "measured", "measured", "measured", "crash"]))
    if status:
        record["status"] = status
    if status == "crash":
        return {**draw(extras), **record, "value": 0}
    for key in draw(st.sampled_from([("value",), ("median",), ("value", "median")])):
        record[key] = draw(numbers(wild))
    if draw(st.booleans()):
        record["samples"] = draw(st.lists(numbers(wild), min_size=1, max_size=4))
    optional = st.fixed_dictionaries({}, optional={"commit": hashes, "description": some_text})
    return {**draw(extras), **record, **draw(optional)}


@st.composite
def state_records(draw: st.DrawFn, size: int = 8, wild: bool = True) -> list[Record]:
    """Draw the records of a log of section 3: decisions late, repeated, across segments, and `stop`."""
    records: list[Record] = []
    results: dict[int, Record] = {}
    for _ in range(draw(st.integers(1, 3))):
        config = draw(state_configs)
        records.extend([draw(state_configs)] * draw(st.sampled_from([0, 0, 1])) + [config])
        item = st.sampled_from(["result", "result decided", "result decided", "decision"])
        for what in draw(several(item, size)):
            if what != "decision":
                run = max(results, default=0) + draw(st.sampled_from([1, 1, 1, 3]))
                results[run] = draw(state_results(run, config["metric"], wild))
                records.append(results[run])
            if what != "result" and results:
                run = max(results) if what == "result decided" else draw(st.sampled_from(sorted(results)))
                crashed = results[run].get("status") == "crash"
                actions = ["discard"] if crashed else ["keep", "discard", "discard", "keep", "baseline"]
                action = draw(st.sampled_from(actions + (["stop"] if draw(st.integers(0, 9)) == 9 else [])))
                why = {"reason": draw(some_text), "timestamp": draw(iso_times)}
                records.append({**draw(extras), "type": "decision", "run": run, "action": action, **why})
    return records


@st.composite
def state_logs(draw: st.DrawFn, size: int = 8, wild: bool = True) -> bytes:
    """Draw a log of section 3."""
    return draw(written(draw(state_records(size, wild))))


# --- codex ----------------------------------------------------------------------------------------------------------


@st.composite
def run_jsons(draw: st.DrawFn) -> Record:
    """Draw a sound run.json; the target is mostly out of reach."""
    direction = draw(directions)
    far = -1e308 if direction == "lower" else 1e308
    run = codex.config(
        direction=direction,
        target=draw(st.sampled_from([far] * 6 + [0, 1.5, -7.25])),
        guard=draw(st.sampled_from([None, "make test"])),
        max_iterations=draw(st.sampled_from([None, None, 1, 3, 8])),
        goal=draw(some_text),
        name=draw(metric_names),
        background=draw(st.booleans()),
    )
    run["metric"]["json_key"] = draw(st.sampled_from([None, "errors.total"]))
    return run


def steps(wild: bool = True) -> st.SearchStrategy[codex.Step]:
    """Draw a step of a codex history."""
    return st.builds(
        codex.Step,
        kind=st.sampled_from(["try"] * 15 + list(codex.KINDS[1:])),
        metric=numbers(wild),
        guard_fails=st.booleans(),
        resume=st.sampled_from([True, True, False]),
        text=some_text,
        respell=st.booleans(),
    )


@st.composite
def codex_logs(draw: st.DrawFn, size: int = 8, wild: bool = True) -> tuple[bytes, Record]:
    """Draw a log of section 4 and its run.json."""
    run = draw(run_jsons())
    events = codex.simulate(run, draw(numbers(wild)), draw(several(steps(wild), size)))
    return draw(written(events, blank_lines=False)), run


def logs(dialect: str, size: int = 8, wild: bool = True) -> st.SearchStrategy[tuple[bytes, Record | None]]:
    """Draw a log of a dialect, with its run.json or None."""
    alone: dict[str, Callable[[int, bool], st.SearchStrategy[bytes]]] = {
        "autoresearch": autoresearch_logs,
        "state-protocol": state_logs,
    }
    if dialect == "codex":
        return codex_logs(size, wild)
    return alone[dialect](size, wild).map(lambda data: (data, None))
