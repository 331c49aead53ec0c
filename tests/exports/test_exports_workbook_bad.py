"""One workbook of logs that break spreadsheets: hostile text, odd numbers, sessions with nothing in them."""

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import HEADER, ledger, lines, log, run
from tests.support.workbooks import cells, chart_xml, converted, export, needs_office, opened, rows

TEXTS = [
    "=1+1",
    "+x",
    "-x",
    "@SUM(A1)",
    "\t=1",
    'a "quoted" name, and a comma',
    "it's",
    "</script><!--<script>",
    "<r>bold</r>",
    "<r><t>&amp;</t></r>",
    "\u202eevil\u2066 \u05e9\u05dc\u05d5\u05dd",
    "https://example.org/",
    "12e4567",
    "0012",
    "_x0041_",
    "two\nlines",
    "'quoted already",
    "Sheet1!A1",
    " spaces ",
    "日本 µs 😀",
]
CONTROLS = {"\x1b[31mred\x00\x07\x0b\x7f": "␛[31mred␀␇␋␡", "a\r\nb\rc": "a\nb␍c", "\ufffe\uffff": "\ufffd\ufffd"}
LONG = {"x" * 40_000: 32_767, "😀" * 20_000: 32_767, "y" * 32_767: None}
BIG = "9223372036854775807"
PRECISE = "0.12345678901234567890123"
NUMBERS = ["1e300", "-1e300", "5e-324", "0", "-0.5", "0.30000000000000004", "123456789.12345679", BIG, PRECISE]


def hostile(text: str) -> dict[str, Any]:
    return HEADER | {"name": text, "metricName": text, "metricUnit": text}


def raw(number: int, metric: str, **more: Any) -> bytes:
    """Write a run with a metric that is spelled as it stands here."""
    return lines(run(number, 0.125, **more)).replace(b"0.125", metric.encode()).rstrip(b"\n")


LOGS: dict[str, bytes] = {
    "empty": lines(HEADER),
    "one": lines(HEADER, run(1, 5)),
    "crashes": lines(HEADER, *(run(n, 0, "crash") for n in range(1, 5))),
    "equal": lines(HEADER, *(run(n, 7) for n in range(1, 6))),
    "negative": lines(HEADER, *(run(n, -n) for n in range(1, 6))),
    "numbers": lines(HEADER, *(raw(n, number) for n, number in enumerate(NUMBERS, 1))),
    "wide": lines(HEADER, run(1, 1, metrics={f"name {n}": n / 7 for n in range(422)})),
    "early": lines(HEADER, run(1, 1, timestamp=-3_000_000_000), run(2, 1, timestamp=253_402_300_799_999)),
    "far": lines(HEADER, raw(1, "1").replace(b'"run":1', b'"run":' + BIG.encode()), run(2, 3)),
    "text": lines(HEADER, *(run(n, 1, description=t, commit=t[:40]) for n, t in enumerate([*TEXTS, *CONTROLS], 1))),
    "long": lines(HEADER, *(run(n, 1, description=text) for n, text in enumerate(LONG, 1))),
    "names": lines(
        *(part for text in [*TEXTS, *CONTROLS, "z" * 300] for part in (hostile(text), run(1, 1), run(2, 2)))
    ),
    **{f"named {place}": lines(hostile(text), run(1, 2)) for place, text in enumerate([*TEXTS, *CONTROLS])},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad").resolve()
    for name, data in LOGS.items():
        log(folder, data, f"{name}.jsonl")
    done = ledger(folder, "sync", "--quarantine", *sorted(folder.glob("*.jsonl")))
    assert done.code == 0, done.err
    export(folder)
    return folder


@pytest.fixture(scope="module")
def workbook(folder: Path) -> Any:
    return opened(folder / "summary.xlsx")


def of(workbook: Any, title: str, name: str) -> list[dict[str, Any]]:
    return [row for row in rows(workbook[title]) if row["path"].endswith(f"/{name}.jsonl")]


def test_every_session_is_there(workbook: Any):
    assert len(rows(workbook["Sessions"])) == len(LOGS)
    counts = {name: len(of(workbook, "Runs", name)) for name in ("empty", "one", "crashes", "equal", "wide")}
    assert counts == {"empty": 0, "one": 1, "crashes": 4, "equal": 5, "wide": 1}


def test_text_is_text_and_whole(workbook: Any):
    found = of(workbook, "Runs", "text")
    assert [row["description"] for row in found] == [*TEXTS, *CONTROLS.values()]
    assert [row["commit"] for row in found] == [row["description"] for row in found]
    for page in workbook.worksheets:
        for row in page.iter_rows():
            assert {cell.data_type for cell in row} <= {"s", "n", "b", "d"} and not any(cell.hyperlink for cell in row)
    led = [cell for cell in cells(workbook["Runs"], "description") if str(cell.value).startswith(("=", "+", "-", "@"))]
    assert len(led) == 4 and all(cell.quotePrefix for cell in led)


def test_long_text_is_cut_with_a_mark(workbook: Any):
    for row, (text, length) in zip(of(workbook, "Runs", "long"), LONG.items(), strict=True):
        found = row["description"]
        assert len(found.encode("utf-16-le")) // 2 <= 32_767
        if length is None:
            assert found == text
        else:
            assert found.endswith(" … [cut]") and text.startswith(found.removesuffix(" … [cut]"))
            assert len(found.encode("utf-16-le")) // 2 >= length - 1


def test_names_of_all_kinds(workbook: Any):
    shown = [*TEXTS, *CONTROLS.values()]
    found = of(workbook, "Segments", "names")
    assert [row["name"] for row in found] == [row["metric_name"] for row in found] == [*shown, "z" * 300]
    assert {row["name"] for row in rows(workbook["Compare"])} >= set(shown)


def test_numbers(workbook: Any):
    found = of(workbook, "Runs", "numbers")
    assert [row["metric"] for row in found] == [float(number) for number in NUMBERS]
    assert [row["metric_exact"] for row in found] == [*[None] * (len(NUMBERS) - 2), BIG, PRECISE]
    assert found[0]["best_so_far"] == 1e300


def test_all_equal_all_crashed_and_negative(workbook: Any):
    (equal,), (crashed,), (negative,), (empty,) = (
        of(workbook, "Segments", name) for name in ("equal", "crashes", "negative", "empty")
    )
    assert (equal["improvement_pct"], equal["confidence"]) == (0, None)
    assert (crashed["best"], crashed["baseline"], crashed["crash"]) == (None, None, 4)
    assert (negative["best"], negative["improvement_pct"]) == (-5, 4)
    assert (empty["runs"], empty["best"], empty["first_at (UTC)"]) == (0, None, None)
    assert [row["kept"] for row in of(workbook, "Runs", "crashes")] == [None] * 4


def test_a_run_of_422_metrics(workbook: Any):
    found = of(workbook, "Metrics", "wide")
    assert {row["name"]: row["value"] for row in found} == {f"name {n}": n / 7 for n in range(422)}


def test_what_no_cell_can_hold_is_text(workbook: Any):
    early, late = of(workbook, "Runs", "early")
    assert early["at (UTC)"] == "1874-12-07T18:40:00.000Z" and late["at (UTC)"].year == 9999
    assert of(workbook, "Runs", "far")[0]["run"] == BIG


def test_charts(folder: Path, workbook: Any):
    """Sessions without a measured run have none, and no title or axis is taken for a reference to a cell."""
    drawn = workbook["Charts"]._charts
    assert len(drawn) == len(LOGS) - 2
    assert all(one.title.tx.rich and one.y_axis.title.tx.rich for one in drawn)
    references = {
        part.split("</c:f>")[0] for xml in chart_xml(folder / "summary.xlsx") for part in xml.split("<c:f>")[1:]
    }
    assert references and all(one.startswith("Runs!$") for one in references)


@needs_office
def test_libreoffice_shows_the_same(folder: Path, tmp_path: Path):
    converted(folder / "summary.xlsx", tmp_path)
    with (tmp_path / "summary-Runs.csv").open(newline="", encoding="utf-8") as file:
        found = [row for row in csv.DictReader(file) if row["path"].endswith("/text.jsonl")]
    assert [row["description"] for row in found] == [*TEXTS, *CONTROLS.values()]
    assert len(list(tmp_path.glob("summary-*.csv"))) == 9
