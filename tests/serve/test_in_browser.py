"""The live pages in a real browser: they follow their logs, and the reader stays where he is."""

from pathlib import Path

import pytest

from tests.support.cli import HEADER, SOUND, lines, log, run
from tests.support.opened import Opened
from tests.support.serving import Server, served

WAIT = 15_000


def go(tab: Opened, server: Server, path: str = "") -> None:
    tab.tab.goto(server.url + path)
    tab.tab.wait_for_selector("html[data-drawn=yes]", timeout=WAIT)


def quiet(tab: Opened, server: Server) -> bool:
    """Tell whether the page said nothing and asked nobody but its server."""
    away = [url for url in tab.asked if not url.startswith((server.url, "data:"))]
    assert (tab.said, away) == ([], [])
    return True


def append(path: Path, *records: object) -> None:
    with path.open("ab") as file:
        file.write(lines(*records))


def test_the_index_leads_to_each_session(tab: Opened, server: Server):
    go(tab, server)
    assert tab.text("h1") == "5 sessions" and tab.text("#shown") == "5 sessions"
    tab.tab.fill("#find", "TABLE")
    assert tab.text("#shown") == "1 of 5 sessions"
    tab.tab.click("text=Read every table of the suite")
    tab.tab.wait_for_selector("h1 >> text=Read every table", timeout=WAIT)
    assert tab.text("h1") == "Read every table of the suite"
    tab.tab.click("nav >> text=Comparison")
    tab.tab.wait_for_selector("h1 >> text=Comparison of 4 sessions", timeout=WAIT)
    tab.tab.click("nav >> text=Sessions")
    tab.tab.wait_for_selector("#sessions tbody tr", timeout=WAIT)
    assert quiet(tab, server)


def test_every_session_opens(tab: Opened, server: Server):
    for one in server.sessions():
        go(tab, server, f"log/{one['id']}")
    assert quiet(tab, server)


def test_sorting_the_index(tab: Opened, server: Server):
    go(tab, server)
    names = "#sessions tbody th"
    tab.tab.click("th[data-key=session] button")
    up = tab.texts(names)
    assert up == sorted(up, key=str.casefold)
    assert tab.tab.get_attribute("th[data-key=session]", "aria-sort") == "ascending"
    tab.tab.click("th[data-key=better] button")
    tab.tab.click("th[data-key=better] button")
    assert tab.texts("#sessions tbody td:nth-child(5)")[:2] == ["100.0%", "10.0%"]
    assert tab.texts("#sessions tbody td:nth-child(5)")[-1] == "—"


def test_light_and_dark(tab: Opened, server: Server):
    go(tab, server)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = tab.value(paper)
    tab.tab.emulate_media(color_scheme="dark")
    assert tab.value(paper) != light
    tab.tab.click("#theme")
    assert tab.value(paper) == light
    go(tab, server, "compare")
    assert tab.value(paper) == light and tab.text("#theme") == "Theme: light"


@pytest.mark.parametrize("path", ["", "compare", "log/0123456789abcdef"])
def test_on_a_phone(tab: Opened, server: Server, path: str):
    tab.tab.set_viewport_size({"width": 360, "height": 740})
    tab.tab.goto(server.url + path)
    tab.tab.wait_for_selector("h1")
    assert tab.value("document.documentElement.scrollWidth") == 360


def test_a_page_follows_its_log(tab: Opened, tmp_path: Path):
    path = log(tmp_path)
    with served(tmp_path, ".") as server:
        go(tab, server, f"log/{server.id_of('speed')}")
        tab.tab.click("th[data-key=metric] button")
        tab.tab.uncheck(".chip input[value=d]")
        tab.tab.locator("#line-4 .fold").click()
        tab.value("scrollTo(0, 300)")
        tab.value("window.kept = true")
        append(path, run(4, 80, description="one more"), run(5, 99, "discard"))
        tab.tab.wait_for_selector("#line-5", timeout=WAIT)
        assert tab.column("run") == ["4★", "3", "1"] and tab.texts(".hero .value")[1] == "80 ms"
        assert tab.tab.locator("#more-4").count() == 1 and tab.value("scrollY") == 300
        assert not tab.tab.is_checked(".chip input[value=d]") and tab.value("window.kept") is True
        path.write_bytes(lines(HEADER | {"name": "again"}, run(1, 7)))
        tab.tab.wait_for_selector("h1:text-is('again')", timeout=WAIT)
        assert tab.column("run") == ["1★"]
        assert quiet(tab, server)
        path.unlink()
        tab.tab.wait_for_selector(".alert >> text=is gone", timeout=WAIT)
        assert tab.text("h1") == "again"
        path.write_bytes(SOUND)
        tab.tab.wait_for_selector("h1:text-is('speed')", timeout=WAIT)
        assert tab.tab.locator(".alert >> text=is gone").count() == 0
        assert quiet(tab, server)
        server.end()
        tab.tab.wait_for_selector("text=The server does not answer", timeout=WAIT)


def test_the_index_follows_its_logs(tab: Opened, tmp_path: Path):
    path = log(tmp_path / "a")
    with served(tmp_path, ".") as server:
        go(tab, server)
        tab.tab.click("th[data-key=best] button")
        tab.tab.fill("#find", "s")
        log(tmp_path / "b", lines(HEADER | {"name": "slow"}, run(1, 500)))
        append(path, run(4, 600, "discard"), run(5, 80))
        tab.tab.wait_for_selector("text=slow", timeout=WAIT)
        tab.tab.wait_for_selector("text=80 ms", timeout=WAIT)
        assert tab.texts("#sessions tbody th") == ["speed", "slow"] and tab.text("h1") == "2 sessions"
        assert tab.tab.input_value("#find") == "s"
        assert quiet(tab, server)


def test_the_comparison_follows_its_logs(tab: Opened, tmp_path: Path):
    path = log(tmp_path / "a")
    log(tmp_path / "b", lines(HEADER | {"name": "slow"}, run(1, 500)))
    with served(tmp_path, ".") as server:
        go(tab, server, "compare")
        assert tab.texts("[data-group='0'] table >> nth=0 >> td:nth-child(2)") == ["speed", "slow"]
        tab.value("window.kept = true")
        append(path, run(4, 50))
        tab.tab.wait_for_selector("td >> text=50.0%", timeout=WAIT)
        assert tab.value("window.kept") is True and tab.tab.locator("[data-part=lines] svg").count() > 0
        log(tmp_path / "c", lines(HEADER | {"name": "up", "metricName": "score"}, run(1, 5)))
        tab.tab.wait_for_selector("h2 >> text=score", timeout=WAIT)
        assert quiet(tab, server)
