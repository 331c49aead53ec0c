"""The pages keep their word: what is generated is current, what is shown is printed, tables and links are right."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ledger.cli import COMMANDS, ledger
from ledger.mirror.views import VIEWS
from ledger.repair.fixers import CODES
from ledger.rules import RULES
from tests.support.cli import ROOT
from tests.support.pages import DEMO, DOCS, PAGES, Shell, follow, steps

FILES = {"tsv results.tsv", "tsv iterations.tsv"}
"""What a reader saves on the way."""
RUN = [path.name for path in DOCS if "\n```console\n" in path.read_text("utf-8") and path.name != "loop.md"]
"""The pages whose commands are run here; docs/loop.md goes on where README.md ends, in test_loop_page.py."""
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
@pytest.mark.parametrize("name", RUN)
def test_what_is_shown_is_what_is_printed(name: str, tmp_path: Path):
    page = (ROOT / "docs" / name).read_text("utf-8")
    found = steps(page)
    assert len(found) > 8
    follow(Shell(tmp_path), found)
    assert set(re.findall(r"^```(.*)$", page, re.MULTILINE)) <= {"console", "yaml", "", *FILES}


def test_what_has_moved_is_still_run():
    assert {"checking.md", "import.md", "queries.md", "repair.md", "reports.md"} <= set(RUN)
    assert steps((ROOT / "docs" / "checking.md").read_text("utf-8"))[0].command == DEMO


def test_the_table_of_fixes():
    table = (ROOT / "docs" / "repair.md").read_text("utf-8").partition("\n| codes |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ((?:`[A-Z]\d{3}` )+)\| .* \| (safe|unsafe) \|$", table, re.MULTILINE)
    stated = {code: how for codes, how in rows for code in re.findall(r"[A-Z]\d{3}", codes)}
    assert stated == {code: re.split(r"\W", RULES[code].doc.partition("Fix: ")[2])[0] for code in CODES}


def test_the_table_of_views():
    page = (ROOT / "docs" / "queries.md").read_text("utf-8")
    for view in VIEWS:
        assert f"\n| `{view.name}` | {' '.join(f'`{column}`' for column in view.columns)} |\n" in page


def test_the_table_of_formats():
    stated = dict[str, list[str]]()
    table = (ROOT / "docs" / "checking.md").read_text("utf-8").partition("| formats |")[2].partition("\n\n")[0]
    for names, formats in re.findall(r"^\| (`[a-z` ]+`) \| (`[a-z` ]+`) \|$", table, re.MULTILINE):
        stated |= dict.fromkeys(re.findall(r"`([a-z ]+)`", names), re.findall(r"\w+", formats))
    assert stated == dict(declared_formats(ledger))


def declared_formats(group: click.Group, above: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each command's words with what its --format takes."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from declared_formats(command, f"{above}{name} ")
        for option in command.params:
            if "--format" in option.opts and isinstance(option.type, click.Choice):
                yield f"{above}{name}", list(option.type.choices)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_inline_commands_exist(path: Path):
    context = click.Context(ledger)
    for words in re.findall(r"`ledger ([a-z]+)( [a-z]+)?", path.read_text("utf-8")):
        command = ledger.get_command(context, words[0])
        assert command is not None, words
        if words[1] and isinstance(command, click.Group):
            assert command.get_command(context, words[1].strip()) is not None, words


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    page = path.read_text("utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page):
        other = path.parent / target if target else path
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), f"{target}#{anchor}"
    for target in re.findall(r' src(?:set)?="([^"]+)"', page):
        assert (path.parent / target).is_file(), target


def anchors(path: Path) -> set[str]:
    """Give the anchors of a page's headings: in lower case, blanks as hyphens, most punctuation gone."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_what_the_code_says_of_the_protocols_is_there():
    page = (ROOT / "docs" / "protocols.md").read_text("utf-8")
    sections = re.findall(r"^## (\d)\. ", page, re.MULTILINE)
    assert sections == list("1234567")
    code = [path for folder in ("ledger", "migrations", "tests") for path in (ROOT / folder).rglob("*.py")]
    texts = {path.relative_to(ROOT): path.read_text("utf-8") for path in code}
    named = {path: re.findall(r"\bprotocols\.md (\d[-, \d]*)", text) for path, text in texts.items()}
    assert sum(map(len, named.values())) > 50
    for path, references in named.items():
        assert set("".join(references)) - set("-, ") <= set(sections), path
    assert [path for path, text in texts.items() if re.search(r"\bPROTOCOLS (?:sections? )?\d", text)] == []


def test_no_page_holds_a_place_that_was_to_be_filled():
    for path in PAGES:
        assert re.findall(r"^[A-Z]+(?:_[A-Z]+)+$|\bTODO\b|\bTBD\b", path.read_text("utf-8"), re.MULTILINE) == [], (
            path.name
        )


def test_the_hook_of_the_page_is_there():
    hooks = set(re.findall(r"^- id: (\S+)$", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), re.MULTILINE))
    assert hooks == set(re.findall(r"^ +- id: (\S+)$", (ROOT / "docs" / "repair.md").read_text("utf-8"), re.MULTILINE))
