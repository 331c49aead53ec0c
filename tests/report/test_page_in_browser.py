"""A report in a real browser: what a reader does with the pointer, the keyboard, a phone, paper."""

from pathlib import Path

import pytest

from tests.support.cli import HEADER, SAMPLES, SOUND, lines, log, run
from tests.support.opened import Opened
from tests.support.report_reading import written

REWRITE = SAMPLES / "parser-speed-rewrite" / ".auto" / "log.jsonl"


@pytest.fixture(scope="module")
def rewrite(folder: Path) -> Path:
    return written(folder, REWRITE, name="rewrite.html")


def test_sorting(page: Opened, rewrite: Path):
    page.open(rewrite)
    assert page.column("run") == [*map(str, range(1, 11)), "11★", *map(str, range(12, 16))]
    page.tab.click("th[data-key=metric] button")
    up = page.column("metric")
    assert page.tab.get_attribute("th[data-key=metric]", "aria-sort") == "ascending"
    assert up[-1] == "—" and up[:-1] == sorted(up[:-1], key=float) and len(up) == 15
    page.tab.click("th[data-key=metric] button")
    down = page.column("metric")
    assert page.tab.get_attribute("th[data-key=metric]", "aria-sort") == "descending"
    assert down[-1] == "—" and down[:-1] == sorted(down[:-1], key=float, reverse=True)
    page.tab.click("th[data-key=metric] button")
    assert page.column("run")[0] == "1" and page.tab.get_attribute("th[data-key=metric]", "aria-sort") is None


def test_filtering(page: Opened, rewrite: Path):
    page.open(rewrite)
    assert page.text("#shown") == "15 runs"
    page.tab.uncheck(".chip input[value=k]")
    assert page.text("#shown") == "8 of 15 runs" and "keep" not in page.column("status")
    page.tab.fill("#find", "TABLE")
    found = page.column("description")
    assert 0 < len(found) < 8 and all("table" in one for one in found)
    page.tab.fill("#find", "no such words")
    assert page.column("run") == [] and page.text("#shown") == "0 of 15 runs"
    page.tab.fill("#find", "")
    page.tab.check(".chip input[value=k]")
    page.tab.fill("#find", "aa671cb")
    assert page.column("run") == ["11★"]
    page.tab.fill("#find", "7")
    assert "7" in page.column("run")


def test_unfolding(page: Opened, rewrite: Path):
    page.open(rewrite)
    assert page.tab.get_attribute("#line-7 .fold", "aria-expanded") == "false"
    page.tab.locator("#line-7 .fold").click()
    page.tab.wait_for_selector("#more-7 dl.asi")
    assert page.texts("#more-7 dl.asi dt") == ["learned"]
    assert page.texts("#more-7 dl.asi dd") == ["two look-ups a character are too many"]
    assert page.texts("#more-7 dl.metrics dt") == ["peak_mb"]
    assert page.value("document.activeElement.getAttribute('aria-label')") == "Details of run 3"
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("#more-7").count() == 0


def test_the_chart_by_keyboard(page: Opened, rewrite: Path):
    page.open(rewrite)
    page.tab.focus(".plot")
    page.tab.keyboard.press("Home")
    assert page.texts(".tip > *") == ["Run 1: keep", "188.6 ms (0.0%)", "baseline"]
    for _ in range(4):
        page.tab.keyboard.press("ArrowRight")
    assert page.texts(".tip > *") == ["Run 5: crash", "—", "table as one flat bytes object"]
    page.tab.keyboard.press("End")
    for _ in range(4):
        page.tab.keyboard.press("ArrowLeft")
    assert page.texts(".tip > *") == ["Run 11: keep, best", "74.1 ms (-60.7%)", "one string slice a value"]
    page.tab.keyboard.press("Escape")
    assert page.tab.locator(".tip").is_hidden()
    page.tab.keyboard.press("Enter")
    assert page.value("document.activeElement.id") == page.value("location.hash.slice(1)") != ""


def test_the_chart_by_pointer(page: Opened, rewrite: Path):
    page.open(rewrite)
    page.tab.locator(".plot").scroll_into_view_if_needed()
    box = page.tab.locator(".plot").bounding_box()
    page.tab.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 80)
    assert page.texts(".tip > *")[0] == "Run 15: discard"
    page.tab.mouse.move(5, 5)
    assert page.tab.locator(".tip").is_hidden()
    shapes = page.value("[...document.querySelectorAll('.plot .point')].map((one) => one.getAttribute('class'))")
    assert shapes == ["point s-d", "point s-f", "point s-x", "point s-k"]


def test_segments_in_the_chart(page: Opened, folder: Path):
    records = [HEADER, run(1, 100), run(2, 90), HEADER, run(3, 95), run(4, 85), run(5, 0, "crash")]
    page.open(written(folder, log(folder, lines(*records)), name="segments.html"))
    assert page.texts(".plot text >> text=segment") == ["segment 0", "segment 1"]
    assert page.tab.locator(".plot .divider").count() == 1 and page.tab.locator(".plot .best").count() == 2
    page.tab.select_option(".chart select", "1")
    assert page.tab.locator(".plot .divider").count() == 0 and page.tab.locator(".plot .best").count() == 1
    page.tab.focus(".plot")
    page.tab.keyboard.press("Home")
    assert page.texts(".tip > *")[0] == "Run 3: keep"
    assert page.texts("#segment-list tbody tr td:nth-child(8)") == ["10.0%", "10.5%"]


def test_a_finding_leads_to_its_run(page: Opened, folder: Path):
    records = [run(n, 100 - n, metrics={"mem": n}) for n in range(1, 240)]
    records[149] = run(150, 50, metrics={})
    file = written(folder, log(folder, lines(HEADER, *records)), name="findings.html")
    page.open(file)
    assert page.column("run") == [str(n) for n in range(1, 101)]
    page.tab.fill("#find", "nothing like it")
    page.tab.click("#findings a[href='#line-151']")
    assert page.value("document.activeElement.id") == "line-151"
    assert page.tab.locator("#line-151.marked").is_visible() and page.tab.input_value("#find") == ""
    assert page.text("#page") == "Page 2 of 3"
    page.tab.click("#later")
    assert page.column("run")[-1] == "239★" and page.tab.is_disabled("#later")
    page.tab.reload()
    page.tab.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    assert page.text("#page") == "Page 2 of 3"
    assert page.value("document.activeElement.id") == "line-151"


def test_light_and_dark(page: Opened, rewrite: Path):
    page.open(rewrite)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.value(paper)
    page.tab.emulate_media(color_scheme="dark")
    dark = page.value(paper)
    assert light != dark
    page.tab.click("#theme")
    assert page.value(paper) == light and page.text("#theme") == "Theme: light"
    page.tab.reload()
    page.tab.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    assert page.value(paper) == light
    page.tab.click("#theme")
    page.tab.click("#theme")
    assert page.text("#theme") == "Theme: as the system" and page.value(paper) == dark


@pytest.mark.parametrize("sample", ["parser-speed-rewrite", "table-reader", "damaged"])
def test_on_a_phone(phone: Opened, folder: Path, sample: str):
    file = written(folder, SAMPLES / sample, code=sample == "damaged", name=f"{sample}.html")
    phone.open(file)
    assert phone.value("document.documentElement.scrollWidth") == 360
    phone.tab.locator(".runs .fold").nth(2).click()
    phone.tab.wait_for_selector(".unfolded dl")
    assert phone.value("document.documentElement.scrollWidth") == 360
    assert phone.value("document.querySelector('.unfolded dl').getBoundingClientRect().right") <= 360


def test_on_paper(page: Opened, folder: Path):
    file = written(folder, log(folder, lines(HEADER, *(run(n, 100 - n) for n in range(1, 251)))), name="paper.html")
    page.open(file)
    page.tab.emulate_media(media="print")
    assert not any(
        page.tab.locator(one).is_visible() for one in ("#theme", ".filters", ".pager", ".runs .fold >> nth=0")
    )
    page.tab.set_viewport_size({"width": 718, "height": 1000})  # A4 with its margins
    assert page.value("document.documentElement.scrollWidth") == 718
    page.value("dispatchEvent(new Event('beforeprint'))")
    assert len(page.column("run")) == 250
    page.value("dispatchEvent(new Event('afterprint'))")
    assert len(page.column("run")) == 100
    assert page.tab.pdf(format="A4").startswith(b"%PDF-")


def test_newer_data_leaves_the_reader_in_place(page: Opened, folder: Path):
    grown = SOUND + lines(run(4, 80, description="one more"))
    before, after = (
        written(folder, log(folder, data), name=name) for data, name in ((SOUND, "before.html"), (grown, "after.html"))
    )
    page.open(before)
    page.tab.click("th[data-key=metric] button")
    page.tab.uncheck(".chip input[value=d]")
    page.tab.locator("#line-4 .fold").click()
    page.value("scrollTo(0, 300)")
    newer = after.read_text("utf-8").partition('id="data">')[2].partition("</script>")[0]
    page.value(f"ledgerPage.update({newer})")
    assert page.column("run") == ["4★", "3", "1"]
    assert page.tab.locator("#more-4").count() == 1 and page.value("scrollY") == 300
    assert page.texts(".hero .value")[1] == "80 ms" and page.texts("#commits tbody tr td:nth-child(2)") == [
        "1",
        "3",
        "4",
    ]
    assert page.text(".facts div:first-child dd") == "4: 3 keep, 1 discard"
    assert not page.tab.is_checked(".chip input[value=d]")


def test_many_runs(page: Opened, folder: Path):
    words = "what was tried, in some more words than a short log would need"
    records = [
        run(n, 1000 - n % 700, "keep" if n % 3 else "discard", description=f"{words} {n}") for n in range(1, 5001)
    ]
    file = written(folder, log(folder, lines(HEADER, *records)), name="many.html")
    assert '"description":{"deflate":' in file.read_text("utf-8")
    page.open(file)
    assert page.text("#shown") == "5,000 runs" and page.text("#page") == "Page 1 of 50"
    page.tab.fill("#find", "need 4321")
    assert page.column("run") == ["4321"]
    page.tab.focus(".plot")
    page.tab.keyboard.press("End")
    assert page.texts(".tip > *")[2] == f"{words} 5000"


def test_without_script_the_page_says_as_much(browser, rewrite: Path):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(rewrite.as_uri())
    text = tab.inner_text("body")
    context.close()
    assert "config parser rewrite" in text and "60.7%" in text and "74.1 ms" in text.replace("\n", " ")
    assert "segment 0 starts at 188.6 and reaches 74.1 with run 11" in text
    assert "peak_mb: 14 values" in text and "aa671cb" in text
