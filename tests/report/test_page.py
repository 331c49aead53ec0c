"""A report as a file: its data, its policy, its markup, read without a browser."""

import hashlib
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any
from zlib import decompress

import pytest

from ledger.log.source import open_log
from ledger.report.account import read, verdict_on
from ledger.report.data import report
from ledger.report.packing import ROOM, Details, pack
from ledger.report.page import TEMPLATES, joined, render
from ledger.report.run_columns import Columns
from ledger.report.secondary_metrics import BUCKETS, Series
from tests.support.cli import HEADER, ROOT, SAMPLES, SOUND, ledger, lines, log, run
from tests.support.report_reading import Markup, data_of, written

NOW = 1_800_000_000_000
EVERY = [
    *sorted((ROOT / "tests" / "logs").glob("*.jsonl")),
    SAMPLES / "csv-reader/autoresearch.jsonl", SAMPLES / "table-reader/autoresearch-results/events.jsonl",
    SAMPLES / "parser-speed/autoresearch.jsonl", SAMPLES / "damaged/autoresearch.jsonl",
]  # fmt: skip


def data(path: Path) -> dict[str, Any]:
    with open_log(path) as file:
        account = read(file, path)
    return report(account, verdict_on(account, path, NOW))


@pytest.fixture(scope="module")
def markup() -> Markup:
    return Markup(b"".join(render(data(SAMPLES / "parser-speed-rewrite/.auto/log.jsonl"))).decode())


def test_what_a_report_says(tmp_path: Path):
    made = data(log(tmp_path))
    assert made["title"] == "speed" and made["log"] == {
        "name": f"{tmp_path.name}/autoresearch.jsonl", "dialect": "autoresearch", "lines": 4, "records": 4, "ok": True,
    }  # fmt: skip
    head = made["summary"]
    assert head["metric"] == "total_ms in ms, lower is better" and head["verdict"]["word"] == "continue"
    assert head["baseline"] == {"value": "100", "unit": "ms", "note": "run 1"}
    assert head["best"] == {"value": "90", "unit": "ms", "note": "run 3"}
    assert (head["change"]["value"], head["change"]["note"]) == ("10.0%", "better")
    assert (head["confidence"]["value"], head["confidence"]["note"][:11]) == ("2.2×", "likely real")
    assert dict(head["facts"])["Findings"] == "1 warning"
    (segment,) = made["segments"]
    assert (segment["baseline_row"], segment["best_row"], segment["centre"], segment["mad"]) == (0, 2, 100, 4.5)
    runs = made["runs"]
    assert (runs["count"], runs["run"], runs["line"], runs["status"]) == (3, [1, 2, 3], [2, 3, 4], "kdk")
    assert (runs["metric"], runs["commit"]) == ([100, 104.5, 90], ["abc1234", "", "abc1234"])
    assert made["secondary"]["series"][0]["text"] == "mem: 2 values, first 5, last 6, lowest 5, highest 6"
    assert made["tables"]["findings"]["rows"][0][0] == {"text": "4", "line": 4}
    assert [row[0] for row in made["tables"]["commits"]["rows"]] == ["abc1234", "abc1234"]


def test_a_decision_gives_the_status_and_its_reason(tmp_path: Path):
    config = {"type": "config", "schema_version": 1, "name": "s", "metric": "ms", "direction": "lower",
              "created_at": "2026-05-01T10:00:00Z", "max_minutes": 5}  # fmt: skip
    common = {"metric": "ms", "timestamp": "2026-05-01T10:01:00Z"}
    made = data(log(tmp_path, lines(
        config,
        {"type": "result", "run": 1, "value": 10, **common},
        {"type": "decision", "run": 1, "action": "baseline", "reason": "the start", "timestamp": common["timestamp"]},
        {"type": "result", "run": 2, "median": 8, "samples": [7, 8, 9], **common},
        {"type": "decision", "run": 2, "action": "keep", "reason": "faster", "timestamp": common["timestamp"]},
        {"type": "result", "run": 3, "value": 9, **common},
    )))  # fmt: skip
    assert made["runs"]["status"] == "bkm" and made["decisions"] == {"0": "baseline: the start", "1": "keep: faster"}
    assert made["summary"]["verdict"]["word"] == "max_minutes"
    assert '"samples":[7,8,9]' in made["details"][0]


def test_rows_of_a_codex_log(tmp_path: Path):
    made = data(SAMPLES / "table-reader/autoresearch-results/events.jsonl")
    (segment,) = made["segments"]
    assert made["runs"]["run"] == list(range(15)) and segment["target"] == 0
    assert (segment["baseline_row"], segment["best_row"]) == (0, 14)
    assert made["summary"]["ending"] == "complete: target met: errors 0 <= 0"


def test_streaks(tmp_path: Path):
    words = ("keep", "discard", "crash", "checks_failed", "discard", "keep", "discard", "discard", "discard")
    made = data(log(tmp_path, lines(HEADER, *(run(n, 100 - n, word) for n, word in enumerate(words, 1)))))
    assert [(row[1]["text"], row[2]["text"], *row[3:]) for row in made["tables"]["streaks"]["rows"]] == [
        ("2", "3", "2", ""), ("7", "9", "3", "still going on"),
    ]  # fmt: skip


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_rows_are_those_of_the_fold(path: Path):
    """The best, the baseline and the streaks that a page shows are what the fold has of each segment."""
    with open_log(path) as file:
        account = read(file, path)
    made = report(account, verdict_on(account, path, NOW))
    columns = account.columns
    assert len(account.segments()) == len(made["segments"])
    for segment, shown in zip(account.segments(), made["segments"], strict=True):
        if segment.best is not None:
            assert columns.run[shown["best_row"]] == segment.best_run
            assert columns.metric[shown["best_row"]] == float(segment.best)
        if segment.baseline is not None:
            assert columns.run[shown["baseline_row"]] == segment.baseline_run
            assert columns.metric[shown["baseline_row"]] == float(segment.baseline)
        if segment.confidence is not None:
            assert segment.best is not None and segment.baseline is not None
            distance = abs(float(segment.best) - float(segment.baseline))
            assert distance / shown["mad"] == pytest.approx(segment.confidence)
    lengths = [int(row[3]) for row in made["tables"]["streaks"]["rows"]]
    longest = max(segment.streak.longest for segment in account.segments())
    assert max(lengths, default=0) == (longest if longest > 1 else 0)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_the_same_log_gives_the_same_page(path: Path):
    first, second = (b"".join(render(data(path))) for _ in range(2))
    assert first == second and first.endswith(b"</html>")
    Markup(first.decode())


def test_the_policy_names_the_script_and_the_style_alone(markup: Markup):
    (meta,) = [one for one in markup.named("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    held, run_by = markup.raw["script"]
    script, style = (
        b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (run_by, markup.raw["style"][0])
    )
    assert meta["content"] == (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:;"
        " connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    assert len(markup.raw["style"]) == 1 and "<" not in held
    assert not [
        name for _, attributes in markup.elements for name in attributes if name.startswith("on") or name == "style"
    ]


def test_nothing_points_out_of_the_page(markup: Markup):
    places = [
        value for _, attributes in markup.elements for name, value in attributes.items() if name in ("href", "src")
    ]
    assert places and all((place or "").startswith("#") or place == "data:," for place in places)
    ids = {attributes["id"] for _, attributes in markup.elements if "id" in attributes}
    assert {place[1:] for place in places if place and place.startswith("#") and "line-" not in place} <= ids
    for text in (*markup.raw["script"][1:], *markup.raw["style"]):
        assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in text and "url(" not in text


def test_our_own_files_cannot_end_their_elements():
    for path in TEMPLATES.iterdir():
        if path.suffix in (".js", ".css"):
            text = path.read_text("utf-8")
            assert not re.search(r"</|<!--|innerHTML|insertAdjacentHTML|document\.write|\beval\b", text), path.name
            assert text.count("\n") <= 300, path.name
    assert joined(("dom.js",)).startswith("\n(() => {\n'use strict';\n")


def test_the_page_has_a_structure(markup: Markup):
    assert markup.declared == ["doctype html"] and markup.named("html") == [{"lang": "en"}]
    order = [name for name, _ in markup.elements if re.fullmatch(r"h[1-6]", name)]
    assert order.count("h1") == 1 and order[0] == "h1" and set(order) <= {"h1", "h2", "h3"}
    heads = markup.named("th")
    assert heads and all(one.get("scope") == "col" for one in heads)
    assert len(markup.named("caption")) == len(markup.named("table"))
    labelled = [one for one in markup.named("div") if one.get("role") == "region"]
    assert labelled and all(one["aria-label"] and one["tabindex"] == "0" for one in labelled)
    assert len(markup.named("noscript")) == 2


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast():
    """Text has the contrast of WCAG's AA, 4.5 to 1, and what is drawn 3 to 1, in both themes."""
    css = (TEMPLATES / "page.css").read_text("utf-8")
    named = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\);", css)
    for theme in (1, 2):
        colours = {one[0]: one[theme] for one in named}
        for ground in ("paper", "raised"):
            for name in ("ink", "soft", "link", "good", "fair", "poor", "calm", "goal", "plain"):
                pair = sorted((luminance(colours[name]), luminance(colours[ground])))
                contrast = (pair[1] + 0.05) / (pair[0] + 0.05)
                assert contrast >= (3 if name == "plain" else 4.5), (name, ground, theme, contrast)


def test_large_columns_are_packed():
    small, large = list(range(1000)), list(range(100_000))
    assert pack(small) is small
    packed = pack(large)
    assert decompress(b64decode(packed["deflate"])).decode() == str(large).replace(" ", "")


def columns_of(path: Path) -> Columns:
    with open_log(path) as file:
        return read(file, path).columns


def test_a_page_without_room_says_what_it_leaves_out(tmp_path: Path):
    words = " ".join(f"word{n * n}" for n in range(60))
    records = (run(n, n, asi={"note": f"{n} {words}"}, description=f"{n} {words}") for n in range(1, 3001))
    columns = columns_of(log(tmp_path, lines(HEADER, *records)))
    whole = columns.details.chunks(ROOM)
    assert len(whole) == 3 and all(set(chunk) == {"deflate"} for chunk in whole)
    assert columns.details.chunks(len(whole[2]["deflate"]) + 100) == [None, None, whole[2]]
    assert columns.data()["cut"] is None
    narrow = columns.data(room=1)
    assert narrow["cut"] == 30 and narrow["description"][6] == "7 word0 word1 word4 word9 wor…"


def test_details_come_in_chunks():
    details = Details()
    assert details.chunks(ROOM) == []


def test_a_series_has_a_bounded_number_of_buckets():
    series = Series()
    values = [float(n * 7919 % 10_007) for n in range(10_000)]
    for row, value in enumerate(values):
        series.add(row, value)
    assert series.count == 10_000 and BUCKETS // 2 <= len(series.places) <= BUCKETS and series.width == 64
    for place, low, high in zip(series.places, series.low, series.high, strict=True):
        part = values[place * series.width : (place + 1) * series.width]
        assert (low, high) == (min(part), max(part))


def test_the_written_page_holds_the_same_data(tmp_path: Path):
    path = log(tmp_path, SOUND)
    assert data_of(written(tmp_path, path)) == data(path)


def test_standard_output(tmp_path: Path):
    path = written(tmp_path, log(tmp_path))
    done = ledger(tmp_path, "report")
    assert (done.code, done.err) == (0, "") and done.out == path.read_text("utf-8")
    piped = ledger(tmp_path, "report", "-", "-o", "-", stdin=SOUND)
    assert piped.code == 0 and Markup(piped.out).raw["script"][0].count('"name":"standard input"') == 1
