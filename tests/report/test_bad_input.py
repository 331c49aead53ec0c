"""Logs that are hard to draw: each page is written, opened in a real browser, and says what is so."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import BAD, HEADER, lines, log, run
from tests.support.opened import Opened
from tests.support.report_reading import data_of, written

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    "\"quoted\" & 'quoted' &lt;b&gt; {{ 7 * 7 }} {% raw %}",
    "${alert(1)} `tick` \\u003cscript\\u003e",
)
TURNED = "abc\u202edef\u2066ghi\u200fאבג"
ESCAPED = "red \x1b[31mtext\x1b[0m\x07 \x00 end"


def shown(folder: Path, page: Opened, *records: Any, code: int = 0) -> Opened:
    return page.open(written(folder, log(folder, lines(*records)), code=code))


def value(page: Opened, place: int) -> str:
    return page.texts(".hero .value")[place]


def test_an_empty_session(page: Opened, folder: Path):
    shown(folder, page, HEADER)
    assert value(page, 0) == value(page, 1) == "—"
    assert page.tab.locator("#runs .empty").is_visible() and page.tab.locator("#trajectory").is_hidden()
    assert page.text("h1") == "speed"


def test_an_empty_file(page: Opened, folder: Path):
    page.open(written(folder, log(folder, b""), code=1))
    assert page.tab.locator(".alert").is_visible() and page.text("h1") == "—"
    assert page.texts("#findings tbody td:first-child") == ["file"]


def test_one_run(page: Opened, folder: Path):
    shown(folder, page, HEADER, run(1, 100))
    assert value(page, 0) == value(page, 1) == "100 ms"
    assert page.texts(".hero .note")[2] == "no better than the baseline"
    assert page.tab.locator(".plot .s-k").count() == 1


def test_only_crashes(page: Opened, folder: Path):
    shown(folder, page, HEADER, *(run(n, 0, "crash") for n in range(1, 6)))
    assert value(page, 0) == value(page, 1) == "—" and page.column("metric") == ["—"] * 5
    assert page.tab.locator(".plot .s-x").count() == 1 and page.tab.locator(".plot .best").count() == 0
    assert page.texts("#streaks tbody tr td:last-child") == ["still going on"]
    page.tab.focus(".plot")
    page.tab.keyboard.press("End")
    assert page.texts(".tip > *")[:2] == ["Run 5: crash", "—"]


@pytest.mark.parametrize(
    ("metrics", "best", "change"),
    [
        ((1e300, 9e299, 1e308, 8e299), "8e+299 ms", "20.0%"),
        ((-1.7e308, 1.7e308, -1.7e308), "-1.7e+308 ms", "0.0%"),
        ((0, 0, 0), "0 ms", "—"),
        ((0, -1, 2), "-1 ms", "—"),
        ((5, 5, 5, 5), "5 ms", "0.0%"),
        ((-5, -6.5, -2), "-6.5 ms", "30.0%"),
        ((1e-300, 5e-301, 2e-300), "5e-301 ms", "50.0%"),
        ((9223372036854775807, 9223372036854775806), "9223372036854775806 ms", "0.0%"),
    ],
    ids=str,
)
def test_odd_metrics(page: Opened, folder: Path, metrics: tuple[float, ...], best: str, change: str):
    shown(folder, page, HEADER, *(run(n, metric) for n, metric in enumerate(metrics, 1)))
    assert (value(page, 1), value(page, 2)) == (best, change)
    assert len(page.column("metric")) == len(metrics)
    drawn = page.value("[...document.querySelectorAll('#charts path')].map((one) => one.getAttribute('d')).join(' ')")
    assert drawn and "NaN" not in drawn and "Infinity" not in drawn
    page.tab.focus(".plot")
    page.tab.keyboard.press("End")
    assert page.texts(".tip > *")[0].startswith(f"Run {len(metrics)}: keep")


def test_exact_digits_are_kept(page: Opened, folder: Path):
    shown(folder, page, HEADER, run(1, 9223372036854775807), run(2, 9223372036854775806))
    assert page.column("metric") == ["9223372036854775807", "9223372036854775806"]


def test_hundreds_of_secondary_metrics(page: Opened, folder: Path):
    records = [run(n, 100 - n, metrics={f"metric {m}": m * n for m in range(422)}) for n in (1, 2, 3)]
    shown(folder, page, HEADER, *records)
    assert page.tab.locator(".multiples li").count() == 24
    page.tab.click("#multiples button")
    assert page.tab.locator(".multiples li").count() == 422
    page.tab.locator("#line-2 .fold").click()
    page.tab.wait_for_selector("#more-2 dl.metrics")
    assert len(page.texts("#more-2 dl.metrics dt")) == 422
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_a_name_for_every_run_is_bounded(folder: Path):
    records = [run(n, n, metrics={f"m{n}-{k}": 1 for k in range(20)}, asi={}) for n in range(1, 60)]
    secondary = data_of(written(folder, log(folder, lines(HEADER, *records))))["secondary"]
    assert len(secondary["series"]) == 500 and secondary["untold"] == 500


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_names_is_text(page: Opened, folder: Path, text: str):
    header = HEADER | {"name": text, "metricName": text, "metricUnit": text}
    first = run(1, 100, description=text, metrics={text: 1}, asi={text: text, "deep": {text: [text]}}, commit=text)
    file = written(
        folder, log(folder, lines(header, first, run(2, 90, "discard", description=text, metrics={text: 2})))
    )
    assert text not in file.read_text("utf-8") or "<" not in text
    page.open(file)
    assert page.text("h1") == " ".join(text.split())
    assert page.column("description") == [" ".join(text.split())] * 2
    page.tab.locator("#line-2 .fold").click()
    page.tab.wait_for_selector("#more-2 dl.asi")
    assert page.texts("#more-2 dl.asi dt")[0] == " ".join(text.split())
    plain, deep = page.tab.locator("#more-2 dl.asi dd").all_text_contents()
    assert plain == text and json.loads(deep) == {text: [text]}
    assert page.text(".multiples h3") == " ".join(text.split())
    page.tab.focus(".plot")
    page.tab.keyboard.press("Home")
    assert page.texts(".tip > *")[2] == " ".join(text.split())
    assert page.value("document.scripts.length") == 2 and page.value("document.querySelectorAll('img').length") == 0


def test_nothing_turns_the_writing_or_steers(page: Opened, folder: Path):
    header = HEADER | {"name": TURNED}
    shown(folder, page, header, run(1, 100, description=ESCAPED, asi={"note": TURNED + ESCAPED}))
    assert page.text("h1") == "abcdefghiאבג"
    assert page.column("description") == ["red text end"]
    page.tab.locator("#line-2 .fold").click()
    page.tab.wait_for_selector("#more-2 dl.asi")
    text = page.value("document.documentElement.outerHTML")
    assert "\x1b" not in text and "\u202e" not in text and "\u2066" not in text
    assert page.text("#more-2 dl.asi dd").startswith("abcdefghiאבגred [31mtext")


def test_a_log_with_errors(page: Opened, folder: Path):
    page.open(written(folder, log(folder, BAD + lines(run(3, 80))), code=1))
    assert page.tab.locator(".alert").is_visible() and page.text(".verdict strong") == "stop"
    assert page.column("run") == ["1", "3★"]
    first = page.tab.locator("#findings tbody tr").first.locator("td").all_text_contents()
    assert first[:3] == ["3", "error", "L106"]


def test_a_log_of_no_protocol(page: Opened, folder: Path):
    page.open(written(folder, log(folder, b'{"hello": 1}\nnot json\n\xff\xfe\n'), code=1))
    assert page.tab.locator(".alert").is_visible() and page.text("#runs .empty") == "No run yet."
    assert len(page.texts("#findings tbody tr")) >= 3


def test_runs_before_any_header(page: Opened, folder: Path):
    page.open(written(folder, log(folder, lines(run(1, 100), run(2, 90))), code=1))
    assert page.column("run") == ["1", "2"] and value(page, 1) == "—"


def test_many_metrics_one_after_the_other(page: Opened, folder: Path):
    records: list[Any] = []
    for n in range(1, 31):
        records += [HEADER | {"metricName": f"metric {n}"}, run(n, n)]
    shown(folder, page, *records)
    assert page.tab.locator("#charts figure").count() == 6
    page.tab.click("#charts > button")
    assert page.tab.locator("#charts figure").count() == 30
    assert page.texts("#charts h3")[0] == "metric 30 in ms"
    page.tab.select_option("#segments select", "3")
    assert page.column("run") == ["4★"]
