"""Every format on the cells that break formats: formulas, control characters, nulls, odd numbers, other scripts."""

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import exports
from ledger.base.text import columns as columns_of
from ledger.base.text import cut, cut_start, plain
from ledger.exports import FORMATS, Value

COLUMNS = ["run", "metric", "is_best", "description"]
ROWS: list[list[Value]] = [
    [1, 14600.0, True, "=1+1"],
    [2, -0.5, False, 'a,"b"\n|c|'],
    [3, None, None, None],
    [4, 12345678.5, False, "日本 µs"],
]


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


class Terminal(io.StringIO):
    """Pretend to be a terminal."""

    def isatty(self) -> bool:
        return True


def write(name: str, rows: Sequence[Sequence[Value]], columns: Sequence[str] = COLUMNS, *, tty: bool = False) -> str:
    stream = Terminal() if tty else io.StringIO()
    FORMATS[name](columns, iter(rows), stream)
    return stream.getvalue()


def cell(name: str, value: Value) -> str:
    """Write one cell under a header and give its line."""
    return write(name, [[value]], ["x"]).removesuffix("\n").split("\n", 1)[1]


def test_the_mapping_is_the_registry_one_file_a_format():
    files = {path.stem for path in Path(exports.__file__).parent.glob("*.py")} - {"__init__", "cell_text"}
    assert list(FORMATS) == ["table", "json", "jsonl", "csv", "tsv", "markdown"]
    assert files == set(FORMATS)


def test_json():
    assert write("json", ROWS) == (
        "[\n"
        '{"run":1,"metric":14600,"is_best":true,"description":"=1+1"},\n'
        '{"run":2,"metric":-0.5,"is_best":false,"description":"a,\\"b\\"\\n|c|"},\n'
        '{"run":3,"metric":null,"is_best":null,"description":null},\n'
        '{"run":4,"metric":12345678.5,"is_best":false,"description":"日本 µs"}\n'
        "]\n"
    )


def test_jsonl():
    assert write("jsonl", ROWS[:2]) == (
        '{"run":1,"metric":14600,"is_best":true,"description":"=1+1"}\n'
        '{"run":2,"metric":-0.5,"is_best":false,"description":"a,\\"b\\"\\n|c|"}\n'
    )


def test_csv():
    assert write("csv", ROWS) == (
        "run,metric,is_best,description\n"
        "1,14600,true,'=1+1\n"
        '2,-0.5,false,"a,""b""\n|c|"\n'
        "3,,,\n"
        "4,12345678.5,false,日本 µs\n"
    )


def test_tsv():
    assert write("tsv", ROWS) == (
        "run\tmetric\tis_best\tdescription\n"
        "1\t14600\ttrue\t'=1+1\n"
        '2\t-0.5\tfalse\ta,"b"\\n|c|\n'
        "3\t\t\t\n"
        "4\t12345678.5\tfalse\t日本 µs\n"
    )


def test_markdown():
    assert write("markdown", ROWS) == (
        "| run |     metric | is_best | description    |\n"
        "|-----|------------|---------|----------------|\n"
        "|   1 |      14600 | true    | =1+1           |\n"
        '|   2 |       -0.5 | false   | a,"b"<br>\\|c\\| |\n'
        "|   3 |            |         |                |\n"
        "|   4 | 12345678.5 | false   | 日本 µs        |\n"
    )


def test_table():
    assert write("table", ROWS) == (
        "run    metric  is_best  description\n"
        "---  --------  -------  -----------\n"
        "  1     14600  true     =1+1\n"
        '  2      -0.5  false    a,"b" |c|\n'
        "  3\n"
        "  4  12345678  false    日本 µs\n"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table", "run  name\n---  ----\n"),
        ("json", "[]\n"),
        ("jsonl", ""),
        ("csv", "run,name\n"),
        ("tsv", "run\tname\n"),
        ("markdown", "| run | name |\n|-----|------|\n"),
    ],
)
def test_no_rows(name: str, text: str, capsys: pytest.CaptureFixture[str]):
    assert write(name, [], ["run", "name"]) == text
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("a=1", "a=1"),
        (" =1", " =1"),
        ("'=1", "'=1"),
        (-0.5, "-0.5"),
        (-3, "-3"),
        ("12e4567", "12e4567"),
        (True, "true"),
        (math.inf, ""),
        (math.nan, ""),
    ],
)
def test_spreadsheets_run_no_text_and_keep_numbers(value: Value, text: str):
    assert cell("csv", value) == (text or '""')  # the one cell of a line may not be nothing
    assert cell("tsv", value) == text


def test_a_header_from_a_log_is_inert_too():
    assert write("csv", [[1]], ["=1+1"]) == "'=1+1\n1\n"
    assert write("tsv", [[1]], ["=1+1"]) == "'=1+1\n1\n"


def test_tab_and_line_ends():
    assert cell("tsv", "\tx\ny\r\\n") == "'\\tx\\ny\\r\\\\n"
    assert cell("csv", "\tx") == "'\tx"
    assert cell("csv", "\rx") == '"\'\rx"'
    assert cell("csv", "a\rb") == '"a\rb"'
    assert cell("csv", "ends\r\n") == '"ends\r\n"'


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2)))
def test_csv_reads_back(rows: list[list[str]]):
    stream = io.StringIO(write("csv", rows, ["a", "b"]), newline="")
    back = list(csv.reader(stream))[1:]
    assert [[text.removeprefix("'") for text in row] for row in back] == [
        [text.removeprefix("'") for text in row] for row in rows
    ]


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_tsv_keeps_its_lines_and_columns(row: list[str]):
    names = [str(place) for place in range(len(row))]
    lines = write("tsv", [row], names).split("\n")
    assert len(lines) == 3
    assert lines[1].count("\t") == len(row) - 1


json_cells = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(st.characters(codec="utf-8"))
)


@given(st.lists(st.tuples(json_cells, json_cells)))
def test_json_and_jsonl_agree_and_read_back(rows: list[tuple[Value, Value]]):
    array, lines = write("json", rows, ["a", "b"]), write("jsonl", rows, ["a", "b"])
    read = json.loads(array)
    assert read == [json.loads(line) for line in lines.split("\n")[:-1]]
    for row, found in zip(rows, read, strict=True):
        for value, back in zip(row, found.values(), strict=True):
            assert back is None if isinstance(value, float) and not math.isfinite(value) else back == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (90.0, "90"),
        (-0.0, "0"),
        (2.0**53, "9007199254740992.0"),
        (0.1, "0.1"),
        (2**63 - 1, "9223372036854775807"),
        (math.inf, "null"),
    ],
)
def test_json_numbers(value: Value, text: str):
    assert write("jsonl", [[value]], ["x"]) == f'{{"x":{text}}}\n'


def test_columns_of_one_name_are_told_apart():
    assert write("jsonl", [[1, 2, 3]], ["a", "a", "a:1"]) == '{"a":1,"a:1":2,"a:1:1":3}\n'


@pytest.mark.parametrize("name", ["json", "jsonl", "csv", "tsv"])
def test_rows_are_written_as_they_come(name: str):
    stream = io.StringIO()
    seen = []

    def rows() -> Iterator[list[Value]]:
        for number in range(3):
            seen.append(stream.getvalue().count("row"))
            yield [f"row {number}"]

    FORMATS[name](["x"], rows(), stream)
    assert seen == [0, 1, 2]


def test_a_query_that_fails_at_once_leaves_no_half_array():
    stream = io.StringIO()

    def rows() -> Iterator[list[Value]]:
        raise RuntimeError
        yield []

    with pytest.raises(RuntimeError):
        FORMATS["json"](["x"], rows(), stream)
    assert stream.getvalue() == ""


HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07\u202eevil\u2066 \x9b1mbell\x07 nul\x00 é\u0085z\u2028\ttab"


@pytest.mark.parametrize("name", ["table", "markdown"])
def test_no_control_character_reaches_a_person(name: str):
    text = write(name, [[HOSTILE]], [HOSTILE])
    assert text.count("red evil bell nul é z tab") == 2
    assert all(char.isprintable() or char == "\n" for char in text)


@given(st.text())
def test_plain_text_is_printable_and_plain_already(text: str):
    shown = plain(text)
    assert plain(shown) == shown
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)


@given(st.text(st.characters(codec="utf-8")).map(plain), st.integers(1, 30))
def test_cut_fits(text: str, width: int):
    for short in (cut(text, width), cut_start(text, width)):
        assert columns_of(short) <= width
        assert (short == text) == (columns_of(text) <= width)


def test_markdown_escapes_what_it_would_read():
    assert cell("markdown", "a|b\\|c <i>\r\nd").split("\n")[-1] == "| a\\|b\\\\\\|c \\<i><br>d |"


def test_a_hash_is_no_number():
    assert cell("table", "7e12345").split("\n")[-1] == "7e12345"
    assert cell("markdown", "0012").split("\n")[-1] == "| 0012 |"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (27.25527831094, "27.2553"),
        (12345678.123, "12345678"),
        (123456789, "123456789"),
        (0.1 + 0.2, "0.3"),
        (4.44089e-16, "4.44089e-16"),
        (1e300, "1e+300"),
    ],
)
def test_table_shortens_floats_only(value: Value, text: str):
    assert cell("table", value).split("\n")[-1].strip() == text


def test_a_path_is_shown_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    path = str(Path.cwd() / "a" / "autoresearch.jsonl")
    assert write("table", [[path], ["/elsewhere/x"]], ["path"]).split("\n")[2:4] == [
        "a/autoresearch.jsonl",
        "/elsewhere/x",
    ]
    assert path in write("csv", [[path]], ["path"]) and path in write("markdown", [[path]], ["path"])


def test_without_a_terminal_texts_are_cut_to_forty_and_nothing_else_goes(capsys: pytest.CaptureFixture[str]):
    lines = write(
        "table", [["x" * 60, "/" + "p" * 60 + "/log.jsonl", *range(20)]], ["text", "path", *map(str, range(20))]
    )
    text, path = lines.split("\n")[2].split()[:2]
    assert text == "x" * 39 + "…" and len(path) == 40 and path.startswith("…p") and path.endswith("/log.jsonl")
    assert len(lines.split("\n")[0].split()) == 22
    assert capsys.readouterr().err == ""


def test_empty_columns_go_and_are_named(capsys: pytest.CaptureFixture[str]):
    assert write("table", [[1, None, ""], [2, None, None]], ["run", "unit", "commit"]).split("\n")[0] == "run"
    assert capsys.readouterr().err == "(columns not shown: unit, commit; use --format csv or json for all)\n"


SESSIONS = ["session", "path", "dialect", "name", "runs", "keep", "best", "improvement_pct", "first_at"]
SESSION: list[Value] = [
    "a1",
    "/srv/" + "long/" * 20 + "log.jsonl",
    "autoresearch",
    "n" * 50,
    25,
    10,
    37.9,
    27.25,
    "2026-05-04T11:36:00.000Z",
]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_a_terminal_is_never_outgrown(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = write("table", [SESSION, SESSION], SESSIONS, tty=True).splitlines()
    assert max(map(len, lines)) <= width
    shown = lines[0].split()
    missing = capsys.readouterr().err
    assert {name for name in SESSIONS if name not in shown} == {
        name for name in SESSIONS if name in missing.split(";")[0]
    }
    assert {"path"} <= set(shown)
    assert width < 80 or {"best", "improvement_pct"} <= set(shown)


def test_wide_characters_count_twice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "30")
    line = write("table", [["日" * 40]], ["description"], tty=True).splitlines()[2]
    assert columns_of(line) <= 30 and line.endswith("…")


def test_tabulate_is_loaded_for_a_table_only():
    used = "ledger.exports, ledger.telling.findings, ledger.telling.status, ledger.session.settings"
    code = f"import sys, {used}; print(*sys.modules)"
    root = Path(exports.__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True, text=True)
    assert not {"tabulate", "sqlalchemy", "alembic", "yaml", "click"} & set(run.stdout.split())
