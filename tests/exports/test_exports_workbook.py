"""`export --format xlsx`: each sheet opened again, its types, formats and charts, filters, and what is bounded."""

import datetime
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ledger.exports.workbook import book, charts, sheet
from ledger.mirror.queries import Filters
from tests.support.cli import COMMAND, HEADER, SAMPLES, environment, ledger, lines, log, run
from tests.support.mirroring import mirror_at
from tests.support.workbooks import cells, chart_xml, converted, export, heads, needs_office, opened, rows

SHEETS = ["Sessions", "Segments", "Best", "Runs", "Metrics", "Compare", "Findings", "Charts", "About"]
TABLES = SHEETS[:7]
OTHER = HEADER | {"metricName": "size", "metricUnit": "kB", "bestDirection": "higher"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder whose mirror holds all samples, the damaged one too."""
    folder = tmp_path_factory.mktemp("samples").resolve()
    assert ledger(folder, "sync", "--quarantine", SAMPLES).code == 0
    return folder


@pytest.fixture(scope="module")
def path(samples: Path) -> Path:
    return export(samples)


@pytest.fixture(scope="module")
def workbook(path: Path) -> Any:
    return opened(path)


def asked(folder: Path, view: str, *filters: object) -> list[dict[str, Any]]:
    """Give a view's rows as its query does."""
    return list(json.loads(ledger(folder, "export", "--view", view, "--format", "json", *filters).out))


def as_cell(name: str, value: Any) -> Any:
    """Give what a view's value is in a workbook."""
    if value is None or value == "":
        return None
    if name.removesuffix(" (UTC)") in ("at", "first_at", "last_at"):
        return datetime.datetime.fromisoformat(value).replace(tzinfo=None)
    return value / 100 if name in ("improvement_pct", "delta_pct") else value


@pytest.mark.parametrize("title", TABLES)
def test_a_sheet_is_the_query_of_its_name(title: str, samples: Path, workbook: Any):
    expected = asked(samples, title.lower())
    found = rows(workbook[title])
    assert len(found) == len(expected) > 3
    for row, wanted in zip(found, expected, strict=True):
        shown = {name.removesuffix(" (UTC)"): value for name, value in row.items()}
        assert {name: shown[name] for name in wanted} == {name: as_cell(name, wanted[name]) for name in wanted}


def test_the_sheets_and_their_order(workbook: Any):
    assert workbook.sheetnames == SHEETS
    for title in ("Sessions", "Segments", "Best", "Runs", "Compare"):
        assert "unit" in heads(workbook[title]), title
    assert {"ms", "MB/s"} <= {row["unit"] for row in rows(workbook["Runs"])}
    assert workbook.properties.created == workbook.properties.modified


@pytest.mark.parametrize("title", TABLES)
def test_header_filter_and_widths(title: str, workbook: Any):
    page = workbook[title]
    assert page.freeze_panes == "A2" and page.auto_filter.ref == page.dimensions
    widths = [page.column_dimensions[key] for key in page.column_dimensions]
    assert all(6 <= one.width <= 61 for one in widths) and len({one.width for one in widths}) > 2
    assert page["A1"].font.b


def test_types_and_number_formats(workbook: Any):
    page = workbook["Runs"]
    for head, kind, style in (
        ("at (UTC)", "d", "yyyy-mm-dd hh:mm:ss.000"),
        ("delta_pct", "n", "0.0%"),
        ("metric", "n", "General"),
        ("run", "n", "General"),
        ("commit", "s", "General"),
        ("status", "s", "General"),
        ("is_best", "b", "General"),
    ):
        found = [cell for cell in cells(page, head) if cell.value is not None]
        assert found and {(cell.data_type, cell.number_format) for cell in found} == {(kind, style)}, head
    for title, head in (("Best", "improvement_pct"), ("Compare", "keep_rate"), ("Segments", "improvement_pct")):
        assert {cell.number_format for cell in cells(workbook[title], head) if cell.value is not None} == {"0.0%"}
    assert "UTC" in str([cell.value for cell in workbook["About"]["B"]])


def test_words_are_coloured(workbook: Any):
    def rules(title: str) -> dict[str, list[str]]:
        found = workbook[title].conditional_formatting
        return {str(area.sqref): [rule.formula[0] for rule in area.rules if rule.formula] for area in found}

    count = workbook["Runs"].max_row
    assert rules("Runs")[f"E2:E{count}"] == ['"keep"', '"baseline"', '"discard"', '"crash"', '"checks_failed"']
    assert ['"error"', '"warning"', '"info"'] in rules("Findings").values()
    assert any('"wall"' in found for found in rules("Sessions").values())
    assert any(found[-3:] == ["2", "1", "1"] for found in rules("Segments").values())
    for area in workbook["Runs"].conditional_formatting:
        assert all(rule.dxf.fill.bgColor.rgb for rule in area.rules if rule.formula and rule.formula[0].startswith('"'))


def test_a_chart_a_session(path: Path, workbook: Any):
    """Each refers to cells of Runs: the kept and the other metrics as points, the best as a line a segment."""
    page = workbook["Runs"]
    drawn, sessions = workbook["Charts"]._charts, rows(workbook["Sessions"])
    assert len(drawn) == len(chart_xml(path)) == len(sessions)
    columns = {name: openpyxl.utils.get_column_letter(place) for place, name in enumerate(heads(page), 1)}
    for chart, session in zip(drawn, sessions, strict=True):
        mine = [number for number, row in enumerate(rows(page), 2) if row["path"] == session["path"]]
        names = [one.tx.v for one in chart.series]
        assert names[:2] == ["not kept", "kept"] and set(names[2:]) == {"running best"}
        for one, name in zip(chart.series, names, strict=True):
            column = columns[{"not kept": "not_kept", "kept": "kept"}.get(name, "best_so_far")]
            first, last = (int(part.split("$")[2]) for part in one.yVal.numRef.f.split("!")[1].split(":"))
            assert one.yVal.numRef.f == f"Runs!${column}${first}:${column}${last}"
            assert mine[0] <= first <= last == mine[-1]
            assert one.xVal.numRef.f in {f"Runs!${columns[x]}${first}:${columns[x]}${last}" for x in ("run", "line")}
        assert chart.title.tx.rich.p[0].r[0].t.split()[0] == session["session"]


def test_the_kept_and_the_others_are_parted(workbook: Any):
    for row in rows(workbook["Runs"]):
        kept = row["status"] in ("keep", "baseline")
        assert row["kept"] == (row["metric"] if kept else None)
        assert row["not_kept"] == (None if kept or row["status"] == "crash" else row["metric"])


def test_filters_are_those_of_the_queries(samples: Path):
    session = next(row["session"] for row in asked(samples, "sessions") if row["metric_name"] == "throughput")
    found = opened(export(samples, "--session", session, "--metric", "throughput", "--status", "keep", name="few.xlsx"))
    filters = ("--session", session, "--metric", "throughput")
    for title, more in (("Segments", ()), ("Best", ()), ("Runs", ("--status", "keep")), ("Compare", ())):
        expected = asked(samples, title.lower(), *filters, *more)
        assert [row["path"] for row in rows(found[title])] == [row["path"] for row in expected] != [], title
    kept = {(row["path"], row["run"]) for row in rows(found["Runs"])}
    metrics = [row for row in asked(samples, "metrics", "--session", session) if (row["path"], row["run"]) in kept]
    assert [(row["name"], row["value"]) for row in rows(found["Metrics"])] == [(m["name"], m["value"]) for m in metrics]
    assert "status of runs keep" in str([cell.value for cell in found["About"]["B"]])


@pytest.mark.parametrize("narrow", [("--metric", "no such"), ("--since", "2099-01-01"), ("--until", "1999-01-01")])
def test_a_filter_that_leaves_nothing(narrow: tuple[str, str], samples: Path):
    found = opened(export(samples, *narrow, name="none.xlsx"))
    assert {title: len(rows(found[title])) for title in TABLES} == dict.fromkeys(TABLES, 0)


def test_times_narrow_findings_to_the_sessions_shown(samples: Path):
    found = opened(export(samples, "--since", "2026-05-07", name="late.xlsx"))
    shown = {row["path"] for row in rows(found["Sessions"])}
    for title in ("Findings", "Compare"):
        assert {row["path"] for row in rows(found[title])} <= shown
    expected = [row for row in asked(samples, "compare") if row["path"] in shown]
    assert len(rows(found["Compare"])) == len(expected) > 0


def test_one_log(samples: Path):
    name = SAMPLES / "csv-reader" / "autoresearch.jsonl"
    found = opened(export(samples, name, name="one.xlsx"))
    assert {row["path"] for row in rows(found["Runs"])} == {str(name)} and found["Sessions"].max_row == 2


def test_the_same_mirror_gives_the_same_bytes(path: Path, samples: Path):
    assert export(samples, name="again.xlsx").read_bytes() == path.read_bytes()


def test_no_mirror_gives_headers(tmp_path: Path):
    code, out, err = ledger(tmp_path, "export", "--format", "xlsx", "-o", "s.xlsx")
    assert (code, out) == (0, "") and err.startswith("note: there is no mirror at")
    found = opened(tmp_path / "s.xlsx")
    assert found.sheetnames == SHEETS and all(found[title].max_row == 1 for title in TABLES)
    assert not (tmp_path / "mirror.db").exists()


def test_standard_output(path: Path, samples: Path):
    """A workbook goes down a pipe, but not onto a terminal."""
    words = [*COMMAND, "export", "--format", "xlsx"]
    done = subprocess.run(words, cwd=samples, env=environment(samples), capture_output=True, check=True)
    assert done.stdout == path.read_bytes()
    reader, writer = os.openpty()
    told = subprocess.run(words, cwd=samples, env=environment(samples), stdout=writer, stderr=-1, check=False)
    os.close(writer)
    os.close(reader)
    assert told.returncode == 2 and told.stderr.decode().startswith(
        "ledger: a workbook is nothing to read here; name a"
    )


def test_a_full_sheet_has_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sheet, "MAX_ROWS", 5)
    path = log(tmp_path, lines(HEADER, *(run(n, 100 - n, metrics={"mem": n}) for n in range(1, 12))))
    held = io.BytesIO()
    with mirror_at(tmp_path / "mirror.db") as mirror:
        mirror.sync(path)
        steps = list(book.write(mirror.raw, Filters(), held))
    found = openpyxl.load_workbook(held)
    titles = ["Runs", "Runs 2", "Runs 3"]
    assert found.sheetnames[3:9] == [*titles, "Metrics", "Metrics 2", "Metrics 3"] and len(steps) == book.STEPS
    assert [found[title].max_row for title in titles] == [5, 5, 4]
    assert [row["run"] for title in titles for row in rows(found[title])] == list(range(1, 12))
    for title in titles:
        assert heads(found[title]) == heads(found["Runs"]) and found[title].freeze_panes == "A2"
        assert found[title].auto_filter.ref == found[title].dimensions
    series = found["Charts"]._charts[0].series
    assert [one.yVal.numRef.f.split("!")[0].strip("'") for one in series] == titles * 3


def test_charts_are_bounded_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(charts, "MAX_CHARTS", 2)
    monkeypatch.setattr(charts, "MAX_POINTS", 7)
    monkeypatch.setattr(charts, "MAX_SEGMENTS", 2)
    held = io.BytesIO()
    with mirror_at(tmp_path / "mirror.db") as mirror:
        for place in range(4):
            parts = [[HEADER, *(run(n + 5 * s, 9 - n + place) for n in range(1, 6))] for s in range(3)]
            if place == 3:
                parts = [[HEADER, run(1, 0, "crash")]]
            later = [one | {"timestamp": one["timestamp"] + place} if "run" in one else one for p in parts for one in p]
            mirror.sync(log(tmp_path, lines(*later), f"log{place}.jsonl"))
        list(book.write(mirror.raw, Filters(), held))
    page = openpyxl.load_workbook(held)["Charts"]
    told = [cell.value for cell in page["A"] if cell.value]
    assert told[1:3] == [
        "Shown are the 2 sessions with the latest runs; 1 others are left out.",
        "1 of 4 sessions have no measured run to show.",
    ]
    assert "log1.jsonl" in told[3] and "log2.jsonl" in told[4] and len(page._charts) == 2
    assert told[4].endswith("the last 7 runs of this metric; 8 earlier ones are left out")
    best = [one.yVal.numRef.f.split("!")[1].replace("$", "") for one in page._charts[1].series][2:]
    assert best == ["J40:J41", "J42:J46"]


def test_a_chart_shows_one_metric_and_tells_equal_run_numbers_apart(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 1), run(2, 2), OTHER, run(1, 5), run(2, 6), OTHER, run(1, 7), run(2, 8)))
    assert ledger(tmp_path, "sync", path).code == 0
    chart = opened(export(tmp_path))["Charts"]._charts[0]
    assert chart.y_axis.title.tx.rich.p[0].r[0].t == "size in kB"
    assert chart.x_axis.title.tx.rich.p[0].r[0].t == "line of the log"
    assert [one.xVal.numRef.f for one in chart.series][:2] == ["Runs!$B$4:$B$7"] * 2


@needs_office
def test_libreoffice_takes_it(path: Path, tmp_path: Path):
    converted(path, tmp_path, "pdf")
    assert (tmp_path / "summary.pdf").read_bytes().startswith(b"%PDF")
