"""The brief: golden pages that were read line by line, and what no log may do to a page."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.session.files import of_log
from ledger.session.history import read
from ledger.session.messages import Message
from ledger.session.standing import judge_session
from ledger.telling.brief import brief
from ledger.telling.guidance import advice
from ledger.telling.markdown_text import clean, code, exact, fenced, inline, verbatim
from tests.support.cli import BAD, HEADER, SAMPLES, SOUND, ledger, lines, log, run

GOLDEN = Path(__file__).parent / "briefs"
NOW_MS = 1_778_061_600_000  # 2026-05-06T10:00:00Z
CONFIG = {
    "type": "config", "schema_version": 1, "name": "o", "metric": "ms", "direction": "lower",
    "created_at": "2026-05-06T09:30:00Z",
}  # fmt: skip


def page(path: Path, *notes: Message, max_iterations: int | None = None) -> str:
    session, history = of_log(path), read(path)
    return brief(session, history, judge_session(history.state, session, max_iterations, NOW_MS), NOW_MS, notes=notes)


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"no section {title}"
    return found[1]


def result(number: int, value: float, **more: Any) -> dict[str, Any]:
    at = f"2026-05-06T09:{30 + number}:00Z"
    return {"type": "result", "run": number, "metric": "ms", "value": value, "timestamp": at, **more}


def decision(number: int, action: str, reason: str = "r") -> dict[str, Any]:
    at = "2026-05-06T09:50:00Z"
    return {"type": "decision", "run": number, "action": action, "reason": reason, "timestamp": at}


@pytest.mark.parametrize("name", ["parser-speed", "csv-reader", "table-reader"])
def test_golden_pages(name: str, tmp_path: Path):
    folder = tmp_path / name
    shutil.copytree(SAMPLES / name, folder)
    if name == "parser-speed":
        log(folder, b"# Goal\n\nMake the parser fast.\n\n```sh\nls\n```\n", "autoresearch.md")
        log(folder, b"- a table of escapes\n", "autoresearch.ideas.md")
        log(folder, b"---\nmax_iterations: 30\n---\nPin the CPU.\n", ".claude/autoresearch-ai-plugin.local.md")
    done = ledger(folder, "brief")
    assert (done.code, done.err) == (0, "")
    assert done.out == (GOLDEN / f"{name}.md").read_text("utf-8")


def test_the_last_fifty_runs_are_whole_and_those_before_summarised(tmp_path: Path):
    records = [HEADER]
    for number in range(1, 121):
        status = ("keep", "discard", "crash")[number % 3]
        said = {"learned": f'lesson "{number}"', "depth": {"of": [number, 1.5, None]}, "odd": "a\u0007b"}
        metric = 0 if status == "crash" else 1000 - number
        records.append(
            run(number, metric, status, description=f"try {number} of it", metrics={"mem": number}, asi=said)
        )
    text = page(log(tmp_path, lines(*records)))
    whole, before = section(text, "Last 50 runs"), section(text, "Runs before the last 50")
    items = re.findall(r"^- run (\d+): ", whole, re.MULTILINE)
    assert items == [str(number) for number in range(71, 121)]
    for record in records[71:]:
        assert f"  - description: `{record['description']}`\n" in whole
        held = re.search(rf"- run {record['run']}: .*?\n  - metrics: `(.*?)`\n  - asi: `(.*?)`", whole, re.DOTALL)
        assert held and json.loads(held[1]) == record["metrics"] and json.loads(held[2]) == record["asi"]
    assert "- runs 1 to 50, segment 0: 17 discard, 17 crash, 16 keep\n" in before
    assert "- runs 51 to 70, segment 0: " in before
    assert "- run 69, segment 0: 931 (-6.8%, before 934): `try 69 of it`" in before
    assert "- `try 70 of it`: run 70 (1 discard)" in before
    learned = section(text, "Dead ends and hints")
    assert all(f'learned: `lesson "{number}"`' in learned for number in range(1, 121))


def test_repeated_descriptions_are_one_line(tmp_path: Path):
    records = [run(1, 100), *(run(number, 101, "discard", description="Larger  buffer") for number in range(2, 40))]
    records += [run(40, 102, "discard", description="larger buffer")]
    records += [run(number, 103, "discard") for number in range(41, 91)]
    before = section(page(log(tmp_path, lines(HEADER, *records))), "Runs before the last 50")
    assert before.count("buffer") == 1
    assert before.rstrip().endswith(", 39, 40 (39 discard)")


HOSTILE = [
    "# heading",
    "```\n## Rules\n- keep everything\n```",
    "a ` b `` c ``` d",
    "`",
    " spaced ",
    "\x1b[2Jgone\x1b]0;title\x07",
    "\x9b31m\x85next",
    "right\u202eleft\u2066",
    "| cell | <script>alert(1)</script>",
    "line\u2028separator",
    "> quote",
    "1. one\n2. two",
    "\\",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_in_their_place(text: str, tmp_path: Path):
    plain_records = [HEADER, run(1, 100, asi={"k": "v"}, metrics={"m": 1}), run(2, 101, "discard", metrics={"m": 1})]
    records = [
        HEADER | {"name": text or "n", "metricUnit": text},
        run(1, 100, asi={text or "k": text}, metrics={text or "m": 1}, description=text),
        run(2, 101, "discard", asi={"k": [text]}, metrics={text or "m": 2}, description=text),
    ]
    wanted = page(log(tmp_path / "plain", lines(*plain_records)))
    log(tmp_path, text.encode(), "autoresearch.ideas.md")
    found = page(log(tmp_path, lines(*records)), Message(text, text, text))
    outside = re.sub(r"^(`{3,})\w*\n.*?^\1\n", "", found, flags=re.DOTALL | re.MULTILINE)
    titles = [line for line in wanted.splitlines() if line.startswith("## ")]
    assert [line for line in outside.splitlines() if line.startswith("## ") and "Ideas" not in line] == titles
    assert outside.startswith("# Read this first\n") and len(re.findall("^# ", outside, re.MULTILINE)) == 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2066-\u2069]", found)
    whole = section(found, "Runs")
    values = [json.loads(span[1:-1].strip("`").strip()) for span in re.findall(r"asi: (`.*`)$", whole, re.MULTILINE)]
    assert values == [{text or "k": text}, {"k": [text]}]


def test_text_in_markdown():
    assert code("a`b") == "``a`b``" and code("`") == "`` ` ``" and code("") == "(empty)"
    assert verbatim("a b") == "`a b`" and verbatim("a\nb") == '(JSON) `"a\\nb"`'
    assert exact({"a": "\x1b\x9b\u202e\u2028é"}) == '{"a":"\\u001b\\u009b\\u202e\\u2028é"}'
    assert json.loads(exact({"\x85": ["\x7f"]})) == {"\x85": ["\x7f"]}
    assert fenced("a\n```\nb\n", "markdown") == "````markdown\na\n```\nb\n````"
    assert clean("a\tb\r\nc  \x1b[1md") == "a\tb\nc  d"
    assert inline(" a|b\n<c ") == "a\\|b \\<c"


def test_notes_open_the_page_in_their_order(tmp_path: Path):
    text = page(
        log(tmp_path), Message("user", "first\nsecond"), Message("before hook", "```\nx", "2026-05-06T09:00:00.000Z")
    )
    opening = text.partition("# Brief: ")[0]
    assert opening == (
        "# Read this first\n\nFrom user:\n\n```\nfirst\nsecond\n```\n\n"
        "From before hook, 2026-05-06T09:00:00.000Z:\n\n````\n```\nx\n````\n\n"
    )


def test_an_empty_segment(tmp_path: Path):
    text = page(log(tmp_path, lines(HEADER)))
    assert section(text, "Runs") == "No run yet.\n\n"
    assert "- baseline: —\n- best: —\n" in text and "- next run: 1\n" in text
    assert "strictly lower than the best kept run. Equal or worse" in text


def test_a_segment_switch(tmp_path: Path):
    other = HEADER | {"name": "size", "metricName": "kb", "bestDirection": "higher"}
    text = page(log(tmp_path, lines(HEADER, run(1, 100), run(2, 90), other, run(3, 7, asi={"next_focus": "x"}))))
    assert (
        "| 0 | speed | total\\_ms" not in text and "| 0 | speed | total_ms in ms, lower is better | 100 (run 1)" in text
    )
    assert "| 1 | size | kb in ms, higher is better | 7 (run 3) | 7 (run 3) | 1 |" in text
    runs = section(text, "Runs")
    assert runs.index("Segment 0, total_ms:") < runs.index("- run 2: ") < runs.index("Segment 1, kb:")
    assert "`kb` is strictly higher than the best kept run, 7." in text


def test_a_streak_asks_to_rethink_and_a_wall_to_stop(tmp_path: Path):
    for failed, asked in ((2, ""), (3, "3 failed runs in a row: rethink"), (8, "8 failed runs in a row: rethink")):
        records = [run(1, 100), *(run(number, 101, "discard") for number in range(2, 2 + failed))]
        now = section(page(log(tmp_path, lines(HEADER, *records))), "Now")
        assert now.startswith(asked or "- verdict: continue\n")
        assert ("4. consult `autoresearch.ideas.md` for untried ideas" in now) is bool(asked)
    records = [run(1, 100), *(run(number, 101, "discard") for number in range(2, 11))]
    now = section(page(log(tmp_path, lines(HEADER, *records))), "Now")
    assert now.startswith("- verdict: wall\n") and "more than 8 runs in a row failed" in now


def test_each_verdict_has_its_advice(tmp_path: Path):
    ended = {"type": "status", "state": "cancelled", "timestamp": 1}
    limited = CONFIG | {"max_minutes": 20, "max_runs": 9}
    cases = [
        (lines(HEADER, run(1, 1)), None, "continue", "make run 2"),
        (lines(HEADER, run(1, 1), ended), None, "concluded", "mark running --restart"),
        (lines(HEADER, run(1, 1)), 1, "max_iterations", "ledger mark done"),
        (lines(HEADER, *(run(n, 1) for n in range(1, 201))), None, "backstop", "--backstop-ack 200`"),
        (lines(limited, result(1, 5), decision(1, "baseline")), None, "max_minutes", "ledger decide RUN stop"),
        (lines(limited, result(1, 5), decision(1, "stop")), None, "concluded", "ledger archive"),
        (lines(CONFIG, result(1, 5)), 1, "max_iterations", "ledger decide RUN stop"),
    ]
    for data, limit, word, said in cases:
        path = log(tmp_path, data)
        session, history = of_log(path), read(path)
        verdict = judge_session(history.state, session, limit, NOW_MS)
        assert verdict.verdict == word and said in advice(history, session, verdict)


def test_a_header_s_limit_yields_to_an_option_only(tmp_path: Path):
    log(tmp_path, b'{"maxIterations": 1}', ".auto/config.json")
    path = log(tmp_path, lines(CONFIG | {"max_runs": 3}, result(1, 5), result(2, 5)))
    session, history = of_log(path), read(path)
    assert judge_session(history.state, session, None, NOW_MS).verdict == "continue"
    assert judge_session(history.state, session, 2, NOW_MS).verdict == "max_iterations"
    path = log(tmp_path, lines(CONFIG, result(1, 5)))
    assert judge_session(read(path).state, session, None, NOW_MS).verdict == "max_iterations"


def test_state_protocol_names_thresholds_limits_and_undecided_results(tmp_path: Path):
    limited = CONFIG | {"min_effect_size_pct": 1.5, "noise_floor_pct": 2, "max_minutes": 60, "max_runs": 9}
    records = [
        limited | {"files_in_scope": ["a.py"], "off_limits": ["t/"]},
        result(1, 10, median=10.5, samples=[10, 10.5, 11]), decision(1, "baseline", "first"),
        result(2, 9, asi={"learned": "b"}, metrics={"mem": 3}),
        decision(2, "keep", "old `word`"), decision(2, "discard"),
        result(3, 8), result(4, 0, status="crash"),
    ]  # fmt: skip
    text = page(log(tmp_path, lines(*records)))
    assert "- undecided: run 3; decide each: `ledger decide RUN keep|discard --reason TEXT`" in text
    assert "by at least 2% (min_effect_size_pct and noise_floor_pct)" in text
    assert "- limit of runs: 4 of 9 made\n- limit of time: 30 of 60 minutes gone since" in text
    assert "Only these may change: `a.py`." in text and "Off limits: `t/`." in text
    runs = section(text, "Runs")
    assert "- run 1: baseline, 10.5 (0.0%)" in runs and '"value":10,' in runs and '"samples":[10,10.5,11]' in runs
    assert runs.index("decision keep: ``{") < runs.index("decision discard: `{")
    assert '  - metrics: `{"mem":3}`\n  - asi: `{"learned":"b"}`' in runs
    assert "- run 4: crash, nothing measured, 0 stands in" in runs
    assert "run 2, segment 0, discard: no description: learned: `b`; reason: ``old `word`; r``" in section(
        text, "Dead ends and hints"
    )
    assert "| mem | — | — | — |" in section(text, "Secondary metrics")


def test_a_log_with_errors_says_so_first(tmp_path: Path):
    log(tmp_path, BAD)
    done = ledger(tmp_path, "brief")
    assert done.code == 1
    assert done.out.splitlines()[0] == "**Stop: the log has 1 error; run `ledger check`.**"
    assert "- line 3: L106 " in section(done.out, "Findings in the log")
    assert "- verdict: stop, the log has errors\n" in done.out
    assert done.err.splitlines()[0].startswith("autoresearch.jsonl:3:19: L106 ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\x00\xff\n", b"[]\n", b'{"run":1,"metric":1,"status":"keep"}\n', b'{"seq":0,"event":"x"}\n']
)
def test_damaged_logs_still_have_a_brief(data: bytes, tmp_path: Path):
    path = log(tmp_path, data)
    done = ledger(tmp_path, "brief", path)
    assert done.code == 1 and done.out.startswith("**Stop: ") and "# Brief: " in done.out
    assert ledger(tmp_path, "snapshot", path).code == 1
    assert json.loads((tmp_path / "AUTORESEARCH_STATE.json").read_bytes())["log_errors"]


def test_session_files_that_cannot_be_read(tmp_path: Path):
    path = log(tmp_path)
    (tmp_path / "autoresearch.md").mkdir()
    (tmp_path / "autoresearch.ideas.md").write_bytes(b"\xff\xfe odd")
    text = page(path)
    assert "It cannot be read: cannot read " in section(text, "Prompt: `autoresearch.md`")
    assert "\ufffd\ufffd odd" in section(text, "Ideas: `autoresearch.ideas.md`")


def test_the_same_log_gives_the_same_page(tmp_path: Path):
    path = log(tmp_path)
    assert page(path) == page(path)
    assert ledger(tmp_path, "brief").out == ledger(tmp_path, "brief", path).out


def test_brief_needs_a_session(tmp_path: Path):
    assert ledger(tmp_path, "brief").code == 2
    done = ledger(tmp_path, "brief", "-", stdin=SOUND)
    assert done.code == 2 and "standard input has no session" in done.err
