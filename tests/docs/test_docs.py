"""The generated pages are current, the script that makes them says so, and the commands of two others do as shown."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.cli import COMMANDS
from ledger.repair.fixers import CODES
from ledger.rules import RULES
from tests.support.cli import ROOT
from tests.support.pages import Shell, follow, steps

FILES = {"tsv results.tsv", "tsv iterations.tsv"}
"""What a reader saves on the way."""
SCRIPT = ROOT / "scripts" / "gen_docs"


def gen_docs(script: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: make() for name, make in runpy.run_path(str(SCRIPT))["PAGES"].items()}


def test_every_page_is_current(pages: dict[str, str]):
    assert set(pages) == {"rules.md", "commands.md", "formats.md"}
    for name, made in pages.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == made, f"docs/{name} is stale: run scripts/gen_docs"


def test_every_command_is_on_its_page(pages: dict[str, str]):
    for name in COMMANDS:
        assert f"\n## ledger {name}\n\n`ledger {name} " in pages["commands.md"]
    assert pages["commands.md"].count("\n```sh\nledger ") + pages["commands.md"].count("\n```sh\nsqlite3 ") == pages[
        "commands.md"
    ].count("\n## ")


def test_a_stale_page_is_told(tmp_path: Path, pages: dict[str, str]):
    shutil.copytree(ROOT / "ledger", tmp_path / "ledger", ignore=shutil.ignore_patterns("__pycache__"))
    script = tmp_path / "scripts" / "gen_docs"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    stale = "".join(f"docs/{name} is stale: run scripts/gen_docs\n" for name in pages)
    assert gen_docs(script, "--check") == (1, "", stale)
    assert gen_docs(script) == (0, "", "")
    assert gen_docs(script, "--check") == (0, "", "")
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "docs").iterdir()} == pages
    assert gen_docs(script, "--frobnicate") == (2, "", "usage: scripts/gen_docs [--check]\n")


@pytest.mark.skipif(os.name == "nt", reason="the pages' commands are for a POSIX shell")
@pytest.mark.parametrize("name", ["import.md", "repair.md", "reports.md"])
def test_what_is_shown_is_what_is_printed(name: str, tmp_path: Path):
    page = (ROOT / "docs" / name).read_text("utf-8")
    found = steps(page)
    assert len(found) > 8
    follow(Shell(tmp_path), found)
    assert set(re.findall(r"^```(.*)$", page, re.MULTILINE)) <= {"console", "yaml", "", *FILES}


def test_the_table_of_fixes():
    table = (ROOT / "docs" / "repair.md").read_text("utf-8").partition("\n| codes |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ((?:`[A-Z]\d{3}` )+)\| .* \| (safe|unsafe) \|$", table, re.MULTILINE)
    stated = {code: how for codes, how in rows for code in re.findall(r"[A-Z]\d{3}", codes)}
    assert stated == {code: re.split(r"\W", RULES[code].doc.partition("Fix: ")[2])[0] for code in CODES}


@pytest.mark.parametrize("name", ["import.md", "repair.md", "reports.md"])
def test_links_lead_somewhere(name: str):
    page = (ROOT / "docs" / name).read_text("utf-8")
    for target, anchor in re.findall(r"\]\((?!https:)([^)#]*)(?:#([^)]+))?\)", page):
        path = ROOT / "docs" / (target or name)
        headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, anchor


def test_no_page_holds_a_place_that_was_to_be_filled():
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        assert re.findall(r"^[A-Z]+(?:_[A-Z]+)+$|\bTODO\b|\bTBD\b", path.read_text("utf-8"), re.MULTILINE) == [], (
            path.name
        )


def test_the_hook_of_the_page_is_there():
    hooks = set(re.findall(r"^- id: (\S+)$", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), re.MULTILINE))
    assert hooks == set(re.findall(r"^ +- id: (\S+)$", (ROOT / "docs" / "repair.md").read_text("utf-8"), re.MULTILINE))
