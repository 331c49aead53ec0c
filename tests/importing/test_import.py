"""`import`: tables of other tools and of ledger itself turned into sound logs, or refused with every reason."""

import hashlib
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.exports import FORMATS
from ledger.fold.segment import STATUSES
from ledger.importing import KINDS, Imported, ImportOptions, TableFile, read
from ledger.importing.run_rows import WORDS
from ledger.mirror.views import by_name as view_by_name
from tests.oracle import strategies
from tests.oracle.encode import Record
from tests.support.cli import HEADER, SOUND, ledger, lines, log, run
from tests.support.damaged import CONFIG, HISTORY, anything
from tests.support.mirroring import Mirror, examples, write
from tests.support.reading import DIALECTS

pytestmark = pytest.mark.usefixtures("each_mirror")

RESULTS = (
    b"commit\tval_bpb\tmemory_gb\tstatus\tdescription\n"
    b"a1b2c3d\t0.997900\t44.0\tkeep\tbaseline\n"
    b"b2c3d4e\t0.993200\t44.2\tkeep\tincrease LR to 0.04\n"
    b"c3d4e5f\t1.005000\t-\tdiscard\tswitch to GeLU activation\n"
    b"d4e5f6a\t0.000000\t0.0\tcrash\tdouble model width (OOM)\n"
)
ITERATIONS = (
    b"# metric_direction: higher_is_better\n# mode: loop\n"
    b"iteration\tcommit\tmetric\tdelta\tguard\tstatus\tdescription\n"
    b"0\ta1b2c3d\t85.20\t0.0\tpass\tbaseline\tinitial state\n"
    b"1\tb2c3d4e5f6a\t87.1\t+1.9\tpass\tkeep (reworked)\tadd edge cases\n"
    b"2\t-\t86.5\t-0.6\tfail\tdiscard\trefactor\n"
    b"3\t-\t-\t-\t-\tcrash\tout of memory\n"
)


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line, parse_float=Decimal) for line in text.split("\n")[:-1]]


def imported(data: bytes, name: str = "results.tsv", **said: Any) -> list[dict[str, Any]]:
    made = read(TableFile.of(name, data), ImportOptions(**{"direction": "lower", **said}))
    assert isinstance(made, Imported), made
    return records(made.data.decode())


def faults(data: bytes, **said: Any) -> list[tuple[int, str]]:
    made = read(TableFile.of("results.tsv", data), ImportOptions(**{"direction": "lower", "metric": "m", **said}))
    assert not isinstance(made, Imported)
    return made


def test_results(tmp_path: Path):
    log(tmp_path, RESULTS, "results.tsv")
    code, out, err = ledger(tmp_path, "import", "results.tsv", "--direction", "lower", "-o", "autoresearch.jsonl")
    assert (code, out) == (0, "") and "R206 (4)" in err and "--timestamp TIME" in err
    header, *runs = records((tmp_path / "autoresearch.jsonl").read_text("utf-8"))
    origin = {"file": "results.tsv", "sha256": hashlib.sha256(RESULTS).hexdigest()}
    assert header == {
        "type": "config", "name": "results.tsv", "metricName": "val_bpb", "bestDirection": "lower",
        "importedFrom": origin,
    }  # fmt: skip
    assert [(one["run"], one["commit"], str(one["metric"]), one["status"]) for one in runs] == [
        (1, "a1b2c3d", "0.997900", "keep"), (2, "b2c3d4e", "0.993200", "keep"), (3, "c3d4e5f", "1.005000", "discard"),
        (4, "d4e5f6a", "0.000000", "crash"),
    ]  # fmt: skip
    assert [one["metrics"] for one in runs] == [
        {"memory_gb": Decimal(44)},
        {"memory_gb": Decimal("44.2")},
        {},
        {"memory_gb": 0},
    ]
    assert [one.get("asi") for one in runs] == [None, None, {"missing": ["memory_gb"]}, None]
    code, out, _ = ledger(tmp_path, "check", "--format", "json")
    assert code == 0
    assert {found["code"] for found in json.loads(out)["logs"][0]["diagnostics"]} == {"R206"}, "no times in the table"


def test_a_time_leaves_nothing_to_warn_of(tmp_path: Path):
    log(tmp_path, RESULTS, "results.tsv")
    words = (
        "--direction",
        "lower",
        "--timestamp",
        "2026-05-06T12:00Z",
        "--unit",
        "bits",
        "--name",
        "tiny",
        "--metric",
        "bpb",
    )
    code, out, err = ledger(tmp_path, "import", "results.tsv", *words)
    assert (code, err) == (0, "")
    header, first, *_ = records(out)
    assert (header["name"], header["metricName"], header["metricUnit"]) == ("tiny", "bpb", "bits")
    assert first["timestamp"] == 1_778_068_800_000
    assert ledger(tmp_path, "check", "-", stdin=out.encode()) == (
        0,
        "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n",
        "",
    )


def test_iterations():
    header, *runs = imported(ITERATIONS, "it.tsv", direction=None)
    assert (header["metricName"], header["bestDirection"]) == ("metric", "higher")
    assert header["importedFrom"]["comments"] == ["metric_direction: higher_is_better", "mode: loop"]
    assert [(one["run"], one["commit"], str(one["metric"]), one["status"]) for one in runs] == [
        (1, "a1b2c3d", "85.20", "keep"), (2, "b2c3d4e", "87.1", "keep"), (3, "", "86.5", "discard"),
        (4, "", "0", "crash"),
    ]  # fmt: skip
    assert [one["imported"] for one in runs] == [
        {"iteration": "0", "delta": "0.0", "guard": "pass", "status": "baseline"},
        {"iteration": "1", "delta": "+1.9", "guard": "pass", "status": "keep (reworked)", "commit": "b2c3d4e5f6a"},
        {"iteration": "2", "delta": "-0.6", "guard": "fail"},
        {"iteration": "3", "delta": "-", "guard": "-", "metric": "-"},
    ]


@pytest.mark.parametrize("data", [RESULTS, ITERATIONS], ids=["results", "iterations"])
def test_how_a_table_is_written_does_not_matter(data: bytes):
    plain = imported(data)
    for other in (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data[:-1], data.replace(b"\n", b"\n\n")):
        written = imported(other)
        assert written[1:] == plain[1:] and written[0] | {"importedFrom": 0} == plain[0] | {"importedFrom": 0}


def test_quotes_count_around_a_whole_cell_only():
    head, row = b"commit\tm\tstatus\tdescription\n", b"\t1\tdiscard\t"
    table = head + row + b'"a ""b""\tc"\n' + row + b'"x" and "y"\n' + row + b'say "z"\n'
    assert [one["description"] for one in imported(table)[1:]] == ['a "b"\tc', '"x" and "y"', 'say "z"']
    assert [one["description"] for one in imported(table.replace(b"\t", b",").replace(b'""\tc', b'"",c'))[1:]][1:] == [
        '"x" and "y"', 'say "z"',
    ]  # fmt: skip


def test_a_table_without_rows_is_told():
    made = read(
        TableFile.of("results.tsv", b"commit\tm\tstatus\tdescription\r\n"), ImportOptions(direction="lower", metric="m")
    )
    assert isinstance(made, Imported) and "the table has no rows, so the log has no runs" in made.notes


def test_a_column_of_times():
    table = b"commit\tm\tstatus\tdescription\ttimestamp\tseconds\n\t1\tdiscard\ta\t%b\t61\n"
    assert imported(table % b"1700000000")[1]["timestamp"] == 1_700_000_000
    made = imported(table % b"2026-05-06T14:00:00.5+02:00")[1]
    assert made["timestamp"] == 1_778_068_800_500 and made["imported"] == {
        "timestamp": "2026-05-06T14:00:00.5+02:00",
        "seconds": "61",
    }
    assert imported(table % b"2026-05-06T12:00", utc=True)[1]["timestamp"] == 1_778_068_800_000
    assert "--utc reads it as UTC" in faults(table % b"2026-05-06T12:00")[0][1]
    assert "neither ISO-8601 nor" in faults(table % b"yesterday")[0][1]
    for duration in (b"-5", b"0", b"12.75", b"946684799"):
        assert "a column of durations needs another name" in faults(table % duration)[0][1]
    assert imported(table % b"946684800")[1]["timestamp"] == 946_684_800
    assert "timestamp" not in imported(table % b"-")[1]
    header, made = imported(b"commit\ttime\tm\tmem\tstatus\n\t1700000000\t1\t2\tdiscard\n")
    assert header["metricName"] == "m" and made["metric"] == 1 and made["metrics"] == {"mem": 2}
    assert "no table" in faults(b"commit\ttime\tstatus\n")[0][1]


def test_words():
    assert set(WORDS.values()) == set(STATUSES)
    table = b"commit\tm\tstatus\tdescription\n\t1\tNo-Op\ta\n\t1\tpivot\tb\n\t1\tblocked\tc\n"
    assert [line for line, _ in faults(table)] == [3, 4]
    made = imported(table, words={"pivot": "skip", "blocked": "checks_failed"})
    assert [(one["run"], one["status"], one["imported"]) for one in made[1:]] == [
        (1, "discard", {"status": "No-Op"}), (2, "checks_failed", {"status": "blocked"}),
    ]  # fmt: skip


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path):
    bad = (
        b"commit\tm\tmem\tstatus\tdescription\n\tx\t1\tkeep\ta\n\t1\t2\tpivot\tb\n\t1\t2\tkeep\n"
        b"\t-\t2\tdiscard\tc\n\t1\tmany\tcrash\td\n\t1e999\t2\tkeep\te\n\tnan\t2\tcrash\tf\n"
    )
    log(tmp_path, bad, "bad.tsv")
    code, out, err = ledger(tmp_path, "import", "bad.tsv", "--direction", "lower", "-o", "new.jsonl")
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "bad.tsv:2: the metric 'x' is no number that a log can hold",
        "bad.tsv:3: unknown status 'pivot': say what it counts as, such as --status 'pivot=discard'",
        "bad.tsv:4: 4 fields where the header has 5",
        "bad.tsv:5: there is no metric, which only a crash may be without",
        "bad.tsv:6: mem 'many' is no number that a log can hold",
        "bad.tsv:7: the metric '1e999' is no number that a log can hold",
        "refused: nothing was written",
    ]
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"", 1, "there is no header"),
        (b"# only a comment\n", 1, "there is no header"),
        (b"a\tb\n1\t2\n", 1, "these columns are no table that can be imported"),
        (b"commit\tm\tstatus\tdescription\n\t\xff\tkeep\t\n", 2, "not UTF-8: byte 0xff"),
        (b"commit\tm\tx\tx\tstatus\tdescription\n", 1, "two columns are called 'x'"),
        (b"commit\tm\tm\tstatus\tdescription\n", 1, "two columns are called 'm'"),
        (b"commit\tm\tstatus\tdescription\rabc1234\t1\tkeep\ta\r", 1, "a carriage return stands within the header"),
        (b"commit\tm\t__proto__\tstatus\tdescription\n", 1, "a secondary metric must not be named '__proto__'"),
        (b"path,segment,run,name,value\n", 1, "these columns are no table that can be imported"),
        (b"path,line,kind,data\n", 1, "there is no line of a log"),
        (b"path,line,kind,data\n/a,1,run\n", 2, "3 fields where the header has 4"),
        (b'path,line,kind,data\n/a,1,run,"x\n', 2, "no CSV: unexpected end of data"),
        (b'path,line,kind,data\n/a,2,run,"{}\n"\n', 2, "line 2 of the log stands where its line 1 should"),
        (b'path,line,kind,data\n/a,1,run,"{}\n"\n/b,1,run,"{}\n"\n', 1, "this holds 2 logs"),
        (b'path,line,kind,data\n/a,1,unreadable,"\\xff\n"\n', 2, "this line was damaged"),
        (b"path,line,kind,data\n/a,1,unreadable,'=1\n", 2, "this line was damaged"),
    ],
)
def test_what_is_no_such_table(data: bytes, line: int, reason: str):
    found = faults(data)
    assert found[0][0] == line and found[0][1].startswith(reason), found


@pytest.mark.parametrize(
    ("table", "words", "option"),
    [
        (RESULTS, (), "--direction lower or --direction higher"),
        (ITERATIONS.replace(b"higher_is", b"bigger_is"), (), "--direction"),
        (ITERATIONS.replace(b"# mode: loop", b"# metric_direction: lower"), (), "--direction"),
        (b"path,line,segment,run,status,metric,delta_pct,best_so_far,is_best,commit,description,at,confidence\n",
         ("--direction", "lower"), "--metric NAME"),
    ],
)  # fmt: skip
def test_what_no_one_says_is_asked_for(tmp_path: Path, table: bytes, words: tuple[str, ...], option: str):
    log(tmp_path, table, "t.tsv")
    code, out, err = ledger(tmp_path, "import", "t.tsv", "-o", "new.jsonl", *words)
    assert (code, out) == (2, "") and err.count("\n") == 1 and option in err
    assert not (tmp_path / "new.jsonl").exists()


def test_an_option_that_the_table_gainsays(tmp_path: Path):
    log(tmp_path, ITERATIONS, "it.tsv")
    code, out, err = ledger(tmp_path, "import", "it.tsv", "--direction", "lower")
    assert code == 0 and records(out)[0]["bestDirection"] == "lower"
    assert "note: it.tsv says that higher is better; --direction lower counts\n" in err
    assert ledger(tmp_path, "import", "it.tsv", "--status", "x=y").code == 2


def test_a_metric_that_is_called_like_another_column_is_refused(tmp_path: Path):
    """Else the numbers of the first would pass for the other's."""
    log(tmp_path, RESULTS, "t.tsv")
    code, out, err = ledger(tmp_path, "import", "t.tsv", "--direction", "lower", "--metric", "memory_gb")
    assert (code, out) == (2, "") and "'memory_gb' is another column of t.tsv" in err


@pytest.mark.of_a_file
def test_what_is_never_replaced(tmp_path: Path):
    log(tmp_path, RESULTS, "results.tsv")
    log(tmp_path, SOUND, "other.jsonl")
    assert ledger(tmp_path, "sync", "other.jsonl").code == 0
    mirror = (tmp_path / "mirror.db").read_bytes()
    words = ("import", "results.tsv", "--direction", "lower", "-o")
    for name in ("other.jsonl", "mirror.db", "results.tsv", "."):
        code, out, err = ledger(tmp_path, *words, name)
        assert (code, out) == (2, "") and err.startswith("ledger: "), (name, err)
    assert (tmp_path / "other.jsonl").read_bytes() == SOUND and (tmp_path / "mirror.db").read_bytes() == mirror
    assert [ledger(tmp_path, *words, "new/log.jsonl").code for _ in range(2)] == [0, 0], (
        "the same log may be written again"
    )
    assert (tmp_path / "results.tsv").read_bytes() == RESULTS
    assert ledger(tmp_path, "import", "missing.tsv", "-o", "x.jsonl").code == 2


def test_exports_of_ledger_come_back(tmp_path: Path):
    whole = lines(
        HEADER, run(1, 100, metrics={"mem": 5}), b'\t{"type":"status","state":"done","timestamp":1700000009000}'
    )
    runs = lines(HEADER, run(1, 100, metrics={"mem": 5}), run(2, 104.5, "discard", confidence=1.5))
    log(tmp_path, whole, "whole.jsonl")
    log(tmp_path, runs, "runs.jsonl")
    assert ledger(tmp_path, "sync", "whole.jsonl", "runs.jsonl").code == 0
    out = ledger(tmp_path, "export", "--view", "lines", "--format", "csv", "whole.jsonl").out
    assert ledger(tmp_path, "import", "-", stdin=out.encode()).out == whole.decode()
    told = ("--direction", "lower", "--metric", "total_ms")
    out = ledger(tmp_path, "runs", "--wide", "--format", "csv", "--session", "runs.jsonl").out
    code, made, err = ledger(tmp_path, "import", "-", *told, stdin=out.encode())
    assert code == 0 and "no asi and no other keys" in err
    assert records(made)[1:] == [one | {"metrics": one.get("metrics", {})} for one in records(runs.decode())[1:]]
    code, made, err = ledger(
        tmp_path, "import", "-", *told, stdin=ledger(tmp_path, "runs", "--format", "csv").out.encode()
    )
    assert (code, made) == (1, "") and "this holds more than one log" in err
    marked = ledger(tmp_path, "runs", "--format", "csv", "--status", "discard").out
    code, made, err = ledger(tmp_path, "import", "-", *told, stdin=marked.encode())
    assert (code, made) == (1, "") and "-:2: line 3 of the log stands where its line 2 should" in err


def test_a_history_comes_back_beside_its_run_json(tmp_path: Path):
    events = log(tmp_path, HISTORY, "a/events.jsonl")
    config = log(tmp_path, json.dumps(CONFIG).encode(), "a/run.json")
    assert ledger(tmp_path, "sync", "a").code == 0
    ledger(tmp_path, "export", "--view", "lines", "--format", "csv", "-o", "l.csv")
    code, out, err = ledger(tmp_path, "import", "l.csv", "-o", "b/events.jsonl")
    assert (code, out) == (1, "") and "E330" in err and not (tmp_path / "b/events.jsonl").exists()
    log(tmp_path, config.read_bytes(), "b/run.json")
    assert ledger(tmp_path, "import", "l.csv", "-o", "b/events.jsonl").code == 0
    assert (tmp_path / "b/events.jsonl").read_bytes() == events.read_bytes()


def test_a_log_that_would_not_be_sound_is_refused(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 1), b'{"run":2}'), "bad.jsonl")
    assert ledger(tmp_path, "sync", "--quarantine", "bad.jsonl").code == 0
    out = ledger(tmp_path, "export", "--view", "lines", "--format", "csv").out
    code, made, err = ledger(tmp_path, "import", "-", "-o", "new.jsonl", stdin=out.encode())
    assert (code, made) == (1, "") and "of the log -:3:" in err and "would not be sound" in err
    assert not (tmp_path / "new.jsonl").exists()


def test_kinds_differ():
    assert len({kind.name for kind in KINDS}) == len(KINDS) == 4


numbers = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9).map(str),
    st.sampled_from(["0.997900", "1e5", "+1.50", ".5", "007", "12345678901234567890123456.5", "0.1000000000000000055"]),
)
texts = st.text(st.characters(codec="utf-8", exclude_characters='\t\n\r"'), max_size=20)
commits = st.sampled_from(["a1b2c3d", "7e12345", "0000000"])
rows = st.lists(st.tuples(commits, numbers, numbers, st.sampled_from(STATUSES), texts), min_size=1, max_size=12)


@examples(40)
@given(drawn=rows)
def test_the_mirror_shows_what_the_table_says(mirror: Mirror, folder: Path, drawn: list[tuple[str, ...]]) -> None:
    table = "\n".join(map("\t".join, [("commit", "m", "mem", "status", "description"), *drawn])).encode()
    made = read(TableFile.of("results.tsv", table), ImportOptions("lower"))
    assert isinstance(made, Imported)
    path = write(folder, "imported", made.data)
    try:
        mirror.sync(path)
        found = mirror.rows("runs", path)
        assert [(row["commit"], row["metric"], row["status"], row["description"]) for row in found] == [
            (commit, float(metric), status, text) for commit, metric, _, status, text in drawn
        ]
        assert [row["value"] for row in mirror.rows("metrics", path)] == [float(mem) for _, _, mem, _, _ in drawn]
        exact = [
            json.loads(line, parse_float=Decimal, parse_int=Decimal)["metric"]
            for line in mirror.export(path).splitlines()[1:]
        ]
        assert exact == [Decimal(metric) for _, metric, *_ in drawn]
    finally:
        mirror.forget(path)


PIECES = [
    b"\t",
    b"\n",
    b'"',
    b",",
    b"\r",
    b"\0",
    b"\xff",
    b"#",
    b"status",
    b"commit",
    b"1e309",
    b"-",
    b"'=",
    b"\xe2\x80\xa8",
]
RUNS = (
    b"path,line,segment,run,status,metric,delta_pct,best_so_far,is_best,commit,description,at,confidence\n"
    b"/a,2,0,1,keep,1.5,0,1.5,true,abc1234,an idea,2026-05-06T12:00:00.000Z,\n"
)
LINES = b'path,line,kind,data\n/a,1,config,"{""type"":""config""}\n"\n'


@examples(400)
@given(
    table=st.sampled_from([RESULTS, ITERATIONS, RUNS, LINES]),
    edits=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), st.sampled_from(PIECES)), max_size=4),
)
def test_whatever_the_bytes_there_is_a_log_or_a_reason(table: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    for start, length, piece in edits:
        table = table[:start] + piece + table[start + length :]
    made = read(TableFile.of("t.tsv", table), ImportOptions("lower", "m"))
    if isinstance(made, list):
        most = len(re.split(rb"\r\n|\r|\n", table))
        assert made and all(0 < line <= most and reason for line, reason in made)
    else:
        assert made.data.endswith(b"\n") or made.data.startswith(b"{")


def as_csv(mirror: Mirror, view: str, path: Path) -> bytes:
    """Write a view's rows as `export --format csv` does."""
    stream = io.StringIO(newline="")
    FORMATS["csv"](view_by_name(view).columns, (list(row.values()) for row in mirror.rows(view, path)), stream)
    return stream.getvalue().encode()


@pytest.mark.parametrize("dialect", DIALECTS)
@examples(25)
@given(data=st.data())
def test_a_log_comes_back_from_its_lines(mirror: Mirror, folder: Path, dialect: str, data: st.DataObject) -> None:
    whole, run_json = data.draw(strategies.logs(dialect))
    path = write(folder, "whole", whole, run_json)
    try:
        mirror.sync(path)
        assert read(TableFile.of("-", as_csv(mirror, "lines", path)), ImportOptions()) == Imported(whole, [])
    finally:
        mirror.forget(path)


@examples(60)
@given(drawn=anything)
def test_a_damaged_log_comes_back_or_is_refused(
    mirror: Mirror, folder: Path, drawn: tuple[bytes, Record | None]
) -> None:
    path = write(folder, "damaged", *drawn)
    try:
        mirror.sync(path, quarantine=True)
        made = read(TableFile.of("-", as_csv(mirror, "lines", path)), ImportOptions())
        assert isinstance(made, list) or made.data == drawn[0]
    finally:
        mirror.forget(path)


@examples(40)
@given(drawn=rows)
def test_runs_come_back_from_their_export(mirror: Mirror, folder: Path, drawn: list[tuple[str, ...]]) -> None:
    runs = [
        run(count, float(metric), status, commit=commit, description=text, confidence=float(mem) or None)
        for count, (commit, metric, mem, status, text) in enumerate(drawn, 1)
    ]
    path = write(folder, "runs", lines(HEADER, *runs))
    try:
        mirror.sync(path)
        made = read(TableFile.of("-", as_csv(mirror, "runs", path)), ImportOptions("lower", "total_ms", "ms", "speed"))
        if any(text.startswith("'") for *_, text in drawn) or isinstance(made, list):
            assert any(text.lstrip("'").startswith(tuple("=+-@")) for *_, text in drawn), made
        else:
            header, *found = map(json.loads, made.data.split(b"\n")[:-1])
            assert header.pop("importedFrom") and header == HEADER
            assert [{"confidence": None, **one, "metrics": {}} for one in found] == [
                {**one, "metrics": {}} for one in runs
            ]
    finally:
        mirror.forget(path)
