"""README.md keeps its word: its commands run, print what it shows, and its tables say what the code says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from ledger.cli import ledger
from ledger.mirror.views import VIEWS
from tests.cli import ROOT, SAMPLES, environment

README = (ROOT / "README.md").read_text("utf-8")
LEFT_OUT = "[…]"
FROM_THE_NETWORK = {
    "python3 -m pip install .",
    "python3 -m pip install build",
    "python3 -m build",
    "python3 -m pip install dist/autoresearch_ledger-*.whl",
}
"""What no test runs, for it would fetch packages or take minutes; .ci/run does the like of it."""
ELSEWHERE = {"./scripts/demo", "./scripts/test"}
"""The first is run below, the second runs this."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the page's commands are for a POSIX shell")


class Step(NamedTuple):
    """Hold a command of the page and what is shown under it."""

    command: str
    shown: list[str]


def steps() -> list[Step]:
    found: list[Step] = []
    for block in re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        first, *rest = block.splitlines()
        assert first.startswith("$ ")
        found.append(Step(first[2:], []))
        for line in rest:
            if line.startswith("$ ") and found[-1].command != "./scripts/demo":
                found.append(Step(line[2:], []))
            else:
                found[-1].shown.append(line)
    return found


STEPS = steps()


def same(shown: list[str], printed: list[str]) -> bool:
    """Compare line by line, but for the lines that the page leaves out."""
    if not shown:
        return not printed
    if shown[0] == LEFT_OUT:
        return any(same(shown[1:], printed[skipped:]) for skipped in range(1, len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and same(shown[1:], printed[1:])


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the samples and the demo, whose set-up is done: `ledger` is this environment's."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(SAMPLES, folder / "samples")
    for name, text in (
        ("bin/ledger", f'#!/bin/sh\nexec "{sys.executable}" -m ledger "$@"\n'),
        ("scripts/setup", '#!/bin/sh\necho "$PWD/bin"\n'),
        ("scripts/demo", (ROOT / "scripts/demo").read_text("utf-8")),
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)
    return folder


def sh(folder: Path, command: str) -> list[str]:
    """Run a command as a person would at a terminal of 100 columns, and give the lines of both streams."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(folder, PATH=path, COLUMNS="100", PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()
    return done.stdout.decode().splitlines()


def test_what_is_shown_is_what_is_printed(checkout: Path):
    commands = [step.command for step in STEPS]
    assert commands[0] == "./scripts/demo" and len(commands) > 10
    for step in STEPS:
        if step.command.startswith("sqlite3 ") and shutil.which("sqlite3") is None:
            continue  # its shell is not on every machine
        printed = sh(checkout, step.command)
        assert same(step.shown, printed), "\n".join((f"$ {step.command}", *printed))


def test_every_command_of_the_page_is_run_or_known(checkout: Path):
    indented = re.findall(
        r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    assert {line.split("  #")[0].strip() for line in indented} == FROM_THE_NETWORK | ELSEWHERE
    assert set(re.findall(r"^```(\w*)$", README, re.MULTILINE)) == {"console", ""}


def test_inline_commands_exist():
    context = click.Context(ledger)
    for words in re.findall(r"`ledger ([a-z]+)( [a-z]+)?", README):
        command = ledger.get_command(context, words[0])
        assert command is not None, words
        if words[1] and isinstance(command, click.Group):
            assert command.get_command(context, words[1].strip()) is not None, words


def test_the_table_of_views():
    for view in VIEWS:
        assert f"\n| `{view.name}` | {' '.join(f'`{column}`' for column in view.columns)} |\n" in README


def test_the_table_of_formats():
    context = click.Context(ledger)
    stated = dict[str, list[str]]()
    for names, formats in re.findall(
        r"^\| (`[a-z` ]+`) \| (`[a-z` ]+`) \|$", README.partition("| formats |")[2].partition("\n\n")[0], re.MULTILINE
    ):
        stated |= dict.fromkeys(re.findall(r"\w+", names), re.findall(r"\w+", formats))
    declared = {}
    for name in ledger.list_commands(context):
        command = ledger.get_command(context, name)
        for option in command.params if command is not None else ():
            if "--format" in option.opts and isinstance(option.type, click.Choice):
                declared[name] = list(option.type.choices)
    assert stated == declared


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
