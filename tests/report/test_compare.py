"""The comparison of sessions: its figures against the view's and the log's, and its page in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import HEADER, SAMPLES, ledger, lines, log, run
from tests.support.opened import Opened
from tests.support.report_reading import Markup, data_of, written

HOUR = 3_600_000


def session(folder: Path, name: str, *runs: tuple[float, str], **header: Any) -> Path:
    records = [
        run(n, metric, status, timestamp=1_700_000_000_000 + (n - 1) * HOUR)
        for n, (metric, status) in enumerate(runs, 1)
    ]
    return log(folder / name, lines(HEADER | {"name": name} | header, *records))


@pytest.fixture(scope="module")
def mirrored(folder: Path) -> Path:
    session(folder, "slow", (200, "keep"), (210, "discard"), (190, "keep"))
    session(folder, "fast", (100, "keep"), (80, "keep"), (0, "crash"), (90, "discard"), (60, "keep"))
    session(folder, "none", (100, "discard"), (120, "discard"))
    session(folder, "up", (10, "keep"), (15, "keep"), metricName="score", metricUnit="", bestDirection="higher")
    session(folder, "<b>bold</b>", (7, "keep"), metricName="</script>")
    assert ledger(folder, "sync", ".").code == 0
    return folder


@pytest.fixture(scope="module")
def compared(mirrored: Path) -> Path:
    return written(mirrored, "--compare", name="compare.html")


def test_groups_are_those_of_the_view(mirrored: Path, compared: Path):
    groups = data_of(compared)["groups"]
    rows = json.loads(ledger(mirrored, "compare", "--format", "json").out)
    assert [(group["heading"], [one["name"] for one in group["sessions"]]) for group in groups] == [
        ("total_ms in ms, lower is better", ["fast", "slow", "none"]),
        ("</script> in ms, lower is better", ["<b>bold</b>"]),
        ("score, higher is better", ["up"]),
    ]
    shown = {one["name"]: one["rank"] for group in groups for one in group["sessions"]}
    assert shown == {row["name"]: row["rank"] for row in rows}


def test_how_a_session_went(compared: Path):
    fast, slow, none = data_of(compared)["groups"][0]["sessions"]
    assert fast["legs"] == [{"runs": [1, 2, 5], "hours": [0.0, 1.0, 4.0], "percent": [0.0, 20.0, 40.0]}]
    assert fast["gains"] == [20.0, 20.0] and none["legs"] == [] and none["gains"] == []
    assert slow["legs"] == [{"runs": [1, 3], "hours": [0.0, 2.0], "percent": [0.0, 5.0]}]
    (up,) = data_of(compared)["groups"][2]["sessions"]
    assert up["legs"][0]["percent"] == [0.0, 50.0]


def test_the_tables(compared: Path):
    group = data_of(compared)["groups"][0]
    assert group["ranking"]["rows"][0][:2] == ["1", "fast"] and group["ranking"]["rows"][2][0] == "—"
    assert [cell if isinstance(cell, str) else cell["text"] for cell in group["pace"]["rows"][0]] == [
        "fast", "60%", "5", "2", "2", "20.0%", "20.0%",
    ]  # fmt: skip
    assert group["text"] == "3 sessions; improvements from 5.0% to 40.0%, median 22.5%."


def test_filters(mirrored: Path):
    def names(*arguments: str) -> list[str]:
        made = data_of(written(mirrored, "--compare", *arguments, name="filtered.html"))
        return [one["name"] for group in made["groups"] for one in group["sessions"]]

    assert names("--metric", "score") == ["up"]
    assert names("--session", "slow", "--session", "up") == ["up", "slow"]
    assert names("--since", "2023-11-14T23:30Z") == ["fast", "slow"]
    assert names("--until", "2023-11-13") == [] and len(names("--until", "2023-11-14")) == 5
    assert names("--metric", "nothing") == []


def test_segments_start_again_at_their_baselines(folder: Path, tmp_path: Path):
    header = HEADER | {"name": "again"}
    log(tmp_path, lines(header, run(1, 100), run(2, 50), header, run(3, 50), run(4, 40)))
    assert ledger(tmp_path, "sync", ".").code == 0
    (one,) = data_of(written(tmp_path, "--compare"))["groups"][0]["sessions"]
    assert [(leg["runs"], leg["percent"]) for leg in one["legs"]] == [([1, 2], [0.0, 50.0]), ([3, 4], [0.0, 20.0])]


def test_codex_and_lost_sessions(tmp_path: Path):
    assert ledger(tmp_path, "sync", SAMPLES / "table-reader").code == 0
    (group,) = data_of(written(tmp_path, "--compare"))["groups"]
    (one,) = group["sessions"]
    assert one["legs"][0]["runs"][0] == 0 and one["legs"][0]["percent"][-1] == 100.0
    (row,) = json.loads(ledger(tmp_path, "compare", "--format", "json").out)
    assert one["legs"][0]["runs"][-1] == row["runs_to_best"] == 14


def test_no_mirror_yet(tmp_path: Path):
    done = ledger(tmp_path, "report", "--compare", "-o", "page.html")
    assert done.code == 0 and "there is no mirror" in done.err
    assert data_of(tmp_path / "page.html")["title"] == "Nothing to compare"


def test_the_page_in_a_browser(page: Opened, compared: Path):
    page.open(compared)
    assert page.text("h1") == "Comparison of 5 sessions"
    assert page.texts("h2") == [
        "total_ms in ms, lower is better",
        "</script> in ms, lower is better",
        "score, higher is better",
    ]
    first = page.tab.locator("[data-group='0'] .plot").first
    first.focus()
    page.tab.keyboard.press("ArrowDown")
    page.tab.keyboard.press("End")
    tip = page.tab.locator("[data-group='0'] .tip >> nth=0")
    assert tip.locator("> *").all_text_contents() == ["fast", "+40.0% at run 5, after 4.0 h"]
    page.tab.keyboard.press("ArrowDown")
    assert tip.locator("> *").all_text_contents()[0] == "slow"
    key = page.tab.locator("[data-group='0'] .key >> nth=0")
    key.click()
    assert key.get_attribute("aria-pressed") == "true"
    assert page.value("document.querySelectorAll('[data-group=\"0\"] .line.dim').length") == 2
    assert page.tab.locator("[data-group='0'] .stroke").count() == 2
    assert page.texts("[data-group='1'] td:nth-child(2) bdi")[0] == "<b>bold</b>"
    drawn = page.value("[...document.querySelectorAll('svg [d]')].map((one) => one.getAttribute('d')).join(' ')")
    assert drawn and "NaN" not in drawn and "Infinity" not in drawn


def test_the_page_on_a_phone(phone: Opened, compared: Path):
    phone.open(compared)
    assert phone.value("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("metrics", [(1e300, 1e-300), (1e-300, 1e300), (0, 5), (-5, -1.7e308), (3, 3)], ids=str)
def test_odd_metrics(page: Opened, tmp_path: Path, metrics: tuple[float, ...]):
    session(tmp_path, "odd", *((metric, "keep") for metric in metrics))
    assert ledger(tmp_path, "sync", ".").code == 0
    page.open(written(tmp_path, "--compare"))
    drawn = page.value("[...document.querySelectorAll('svg [d]')].map((one) => one.getAttribute('d')).join(' ')")
    assert "NaN" not in drawn and "Infinity" not in drawn
    assert page.texts("[data-group='0'] td:nth-child(2) bdi")[0] == "odd"


def test_markup_is_sound(compared: Path):
    markup = Markup(compared.read_text("utf-8"))
    assert len(markup.raw["script"]) == 2 and "<" not in markup.raw["script"][0]
