"""Findings as text, as JSON and as GitHub commands, and the documentation of a rule."""

import io
import json
import os
from pathlib import Path

import pytest

from ledger.base.text import counted
from ledger.fold.state import Folding, State
from ledger.log.diagnostics import Diagnostic, Severity
from ledger.reading.whole_log import Log, read_log
from ledger.rules import RULES
from ledger.telling import findings

ERROR = Diagnostic(6, 31, "L106", "nan-or-infinity", Severity.ERROR, "NaN is no JSON number")
WARNING = Diagnostic(9, 2, "S403", "run-gap", Severity.WARNING, "50%\r\n, done: \x1b[31mred")
INFO = Diagnostic(12, 1, "L116", "wide-integer", Severity.INFO, "kept")
WHOLE = Diagnostic(0, 1, "S400", "unknown-protocol", Severity.ERROR, "the file is empty")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)


def log(name: str | None, *found: Diagnostic, dialect: str | None = "autoresearch") -> Log:
    return Log(Path.cwd() / name if name else None, dialect, 14, 12, State(Folding(dialect)), list(found))


class Terminal(io.StringIO):
    """Pretend to be a terminal."""

    def isatty(self) -> bool:
        return True


def text(*logs: Log, stream: io.StringIO | None = None) -> str:
    stream = stream or io.StringIO()
    findings.diagnostics_text(logs, stream)
    return stream.getvalue()


def github(*logs: Log) -> str:
    stream = io.StringIO()
    findings.diagnostics_github(logs, stream)
    return stream.getvalue()


def objects(*logs: Log) -> list[dict[str, object]]:
    stream = io.StringIO()
    findings.diagnostics_json(logs, stream)
    found = json.loads(stream.getvalue())
    assert list(found) == ["logs"]
    return list(found["logs"])


def test_text():
    assert text(log("a.jsonl", ERROR, WARNING), log("b.jsonl", INFO), log(None, WHOLE, dialect=None)) == (
        "a.jsonl:6:31: L106 NaN is no JSON number\n"
        "a.jsonl:9:2: S403 50% , done: red\n"
        "b.jsonl:12:1: L116 kept\n"
        "-:0:1: S400 the file is empty\n"
        "3 logs, 1 sound; 2 errors, 1 warning, 1 info\n"
    )


def test_text_of_sound_logs_is_the_summary():
    assert text(log("a.jsonl")) == "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n"


def test_a_log_elsewhere_keeps_its_whole_path():
    elsewhere = log("a.jsonl", ERROR)._replace(path=Path("/no/such/log.jsonl"))
    assert text(elsewhere).startswith("/no/such/log.jsonl:6:31: L106 ")


@pytest.mark.skipif(os.name == "nt", reason="such a name is no file name there")
def test_a_path_fools_no_terminal_and_no_encoder():
    name = os.fsdecode(b"a\x1b[2J\xff\n.jsonl")
    found = log(name, ERROR)
    assert text(found).startswith("a\\x1b[2J\\xff\\n.jsonl:6:31: ")
    path = str(objects(found)[0]["path"])
    assert path.endswith("a\x1b[2J\ufffd\n.jsonl")
    assert github(found).count("\n") == 1


def test_colour_on_a_terminal_only_and_not_against_the_readers_will(monkeypatch: pytest.MonkeyPatch):
    coloured = text(log("a.jsonl", ERROR, WARNING, INFO), stream=Terminal())
    assert "\x1b[31mL106\x1b[0m" in coloured
    assert "\x1b[33mS403\x1b[0m" in coloured
    assert "\x1b[36mL116\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in text(log("a.jsonl", ERROR), stream=Terminal())


def test_json_shape():
    path = str(Path.cwd() / "a.jsonl")
    assert objects(log("a.jsonl", ERROR)) == [
        {
            "path": path,
            "dialect": "autoresearch",
            "lines": 14,
            "records": 12,
            "ok": False,
            "diagnostics": [
                {
                    "path": path,
                    "code": "L106",
                    "name": "nan-or-infinity",
                    "severity": "error",
                    "line": 6,
                    "column": 31,
                    "message": "NaN is no JSON number",
                    "accepted": False,
                    "fix": None,
                }
            ],
        }
    ]
    assert objects(log("a.jsonl", WARNING, INFO))[0]["ok"] is True
    assert objects() == []


def test_json_of_standard_input_and_of_an_undecided_log():
    found = objects(log(None, WHOLE, dialect=None))[0]
    assert (found["path"], found["dialect"]) == ("-", None)


def test_a_finding_in_run_json_bears_its_path():
    found = log("events.jsonl", ERROR._replace(source="run.json"), ERROR, dialect="codex")
    paths = [entry["path"] for entry in objects(found)[0]["diagnostics"]]  # type: ignore[attr-defined]
    assert paths == [str(Path.cwd() / "run.json"), str(Path.cwd() / "events.jsonl")]
    assert text(found).splitlines()[:2] == [
        "run.json:6:31: L106 NaN is no JSON number",
        "events.jsonl:6:31: L106 NaN is no JSON number",
    ]


def test_github():
    assert github(log("a,b:c.jsonl", ERROR, WARNING, INFO, WHOLE)) == (
        "::error file=a%2Cb%3Ac.jsonl,line=6,col=31,title=L106 nan-or-infinity::NaN is no JSON number\n"
        "::warning file=a%2Cb%3Ac.jsonl,line=9,col=2,title=S403 run-gap::50%25%0D%0A, done: \x1b[31mred\n"
        "::notice file=a%2Cb%3Ac.jsonl,line=12,col=1,title=L116 wide-integer::kept\n"
        "::error file=a%2Cb%3Ac.jsonl,title=S400 unknown-protocol::the file is empty\n"
    )
    assert github(log("a.jsonl")) == ""


def test_a_real_log(tmp_path: Path):
    path = tmp_path / "autoresearch.jsonl"
    path.write_bytes(b'{"type":"config","name":"n","metricName":"m","bestDirection":"lower"}\n{"run":1,"metric":NaN}\n')
    assert text(read_log(path)) == (
        "autoresearch.jsonl:2:19: L106 NaN is no JSON number\n1 log, 0 sound; 1 error, 0 warnings, 0 info\n"
    )


def test_explain_every_rule():
    for rule in RULES.values():
        heading, blank, *rest = findings.explain(rule).split("\n")
        assert heading == f"{rule.code} {rule.name} ({rule.severity.value})"
        assert blank == "" and "\n".join(rest) == rule.doc + "\n"


def test_counted():
    assert [counted(count, "log") for count in (0, 1, 2, 1234)] == ["0 logs", "1 log", "2 logs", "1,234 logs"]
