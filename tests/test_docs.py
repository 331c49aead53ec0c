"""The generated pages are current, and the script that makes them says when they are not."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.cli import COMMANDS
from tests.cli import ROOT

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
