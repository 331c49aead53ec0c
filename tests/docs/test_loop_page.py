"""docs/loop.md keeps its word: its commands run where the README's walk ends, and its tables say what the code says."""

import json
import os
import re
from pathlib import Path

import pytest

from ledger.cli import COMMANDS
from ledger.dialects import DIALECTS
from ledger.fold.segment import STATUSES as RUN_STATUSES
from ledger.fold.state import MARKERS
from ledger.loop.driving import agent, ending, hooks
from ledger.loop.start.archive import _shelf
from ledger.session import files, settings
from ledger.session.files import OUTPUT, of_log
from ledger.session.settings import Settings
from tests.support.cli import ROOT
from tests.support.pages import README, WALK, Shell, follow, steps
from tests.support.programs import needs

PAGE = (ROOT / "docs" / "loop.md").read_text("utf-8")


def cells(head: str) -> list[list[str]]:
    """Give the rows of the table whose head begins so."""
    table = PAGE.partition(f"\n| {head} |")[2].partition("\n\n")[0]
    rows = table.splitlines()[2:]
    assert rows, f"no table begins with {head}"
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in rows]


def codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.skipif(os.name == "nt", reason="the page's commands are for a POSIX shell")
@needs("jq")  # an example hook is at work
def test_what_is_shown_is_what_is_printed(tmp_path: Path):
    shell = Shell(tmp_path)
    for step in steps(README):
        if step.section == WALK:
            shell.do(step)
    found = steps(PAGE)
    assert {step.section for step in found} == {"Go on", "One turn", "Hooks", "The other protocols"}
    verbs = [verb for step in found for verb in re.findall(r"\bledger (\w+)", step.command) if step.section == "Go on"]
    assert {"status", "mark", "steer", "brief", "loop", "best"} <= set(verbs)
    follow(shell, found)
    assert set(re.findall(r"^```(.*)$", PAGE, re.MULTILINE)) == {"console", ""}


def test_the_table_of_verbs():
    verbs = [codes(row[0])[0] for row in cells("verb")]
    assert len(verbs) == len(set(verbs)) == 14 and set(verbs) <= set(COMMANDS)


def test_the_statuses_of_runs():
    assert [codes(row[0]) for row in cells("status of a run")] == [[status] for status in RUN_STATUSES]


def test_the_endings():
    by_verdict = {one.status: one.marker for one in ending._BY_VERDICT.values()}
    stated = {code.removeprefix("Status: "): row[2] for row in cells("last line") for code in codes(row[0])}
    concluded = {status for dialect in DIALECTS for status in dialect.loop().endings.values()}
    assert set(stated) == {"STOPPED", *by_verdict, *concluded}
    for status, marker in by_verdict.items():
        assert codes(stated[status]) == [marker] and marker in MARKERS


def test_the_variables_of_the_agent(tmp_path: Path):
    log = tmp_path / ".auto" / "log.jsonl"
    log.parent.mkdir()
    _, tail = agent.call(of_log(log), "env | grep -o '^LEDGER_[A-Z]*' | sort; env | grep ^LEDGER_RUN", "", 3, 10)
    names = tail.split()
    assert names.pop() == "LEDGER_RUN=3"
    assert {code for row in cells("variable") for code in codes(row[0])} == set(names) - {"LEDGER_DB", "LEDGER_VENV"}


def test_the_files_of_each_layout(tmp_path: Path):
    rows = {row[0]: row[1:] for row in cells("| `.auto/`")}
    sessions = [of_log(tmp_path / codes(cell)[0]) for cell in rows["log"]]
    assert [session.layout.name for session in sessions] == ["auto", "flat", "codex"]
    for name in ("prompt", "ideas", "measure", "checks"):
        for session, cell in zip(sessions, rows[name], strict=True):
            if "run.json" not in cell:
                assert session.file(name) == session.folder / codes(cell)[0]
    assert [_shelf(session) for session in sessions] == [tmp_path / codes(cell)[0] for cell in rows["archive"]]


def test_the_files_beside_the_log(tmp_path: Path):
    session = of_log(tmp_path / ".auto" / "log.jsonl")
    names = {getattr(files, name) for name in vars(files) if name.isupper()}
    names = {name for name in names if isinstance(name, str)} - {OUTPUT, files.ARCHIVE} | {"lock", "edited-N.jsonl"}
    assert session.side("run.lock").name == "log.run.lock" and OUTPUT == "run.log"
    assert sorted(code for row in cells("file") for code in codes(row[0])) == sorted(f".{name}" for name in names)


def test_the_settings():
    named = {codes(front)[0]: (codes(config), codes(default)) for config, front, default, _ in cells("`config.json`")}
    assert set(named) == set(settings._KEYS)
    assert {config[0]: key for key, (config, _) in named.items() if config} == settings._CONFIG_KEYS
    stated = {key: json.loads(default[0]) for key, (_, default) in named.items() if default}
    assert stated == {key: value for key, value in Settings()._asdict().items() if key in named and value is not None}


def test_the_limits_of_a_hook():
    assert f"After {hooks.TIMEOUT:.0f} seconds" in PAGE and f"up to {hooks.STDOUT_BYTES // 1024} KiB" in PAGE
