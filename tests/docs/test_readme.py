"""README.md keeps its word: its commands run, print what it shows, and its tables say what the code says."""

import os
import re
from collections.abc import Iterator

import click
import pytest

from ledger.cli import COMMANDS, ledger
from ledger.mirror.views import VIEWS
from tests.support.cli import ROOT
from tests.support.pages import DEMO, LEFT_OUT, README, WALK, Shell, follow, same, steps, unnamed

FILES = {"python primes.py", "sh .auto/agent.sh"}
"""What a reader saves on the way."""
FROM_THE_NETWORK = {
    "pipx install .",
    "uv tool install .",
    "python3 -m pip install .",
    "./scripts/build",
    "pipx install dist/autoresearch_ledger-*.whl",
    "cp dist/ledger.pyz ~/.local/bin/ledger",
}
"""What no test runs, for it would fetch packages or take minutes; .ci/run does the like of it."""
ELSEWHERE = {DEMO, "./scripts/test"}
"""The first is run below, the second runs this."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the page's commands are for a POSIX shell")

STEPS = steps(README)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("page"))


def test_what_is_shown_is_what_is_printed(shell: Shell):
    commands = [step.command for step in STEPS]
    assert commands[0] == DEMO and len(commands) > 30
    follow(shell, STEPS)


def test_what_is_not_shown_is_missed():
    assert same(["a", LEFT_OUT, "c 1a2b3c4"], ["a", "b", "b", "c 4c3b2a1"])
    assert not same(["a", LEFT_OUT, "c"], ["a", "c"])
    for shown, printed in ((["a"], []), ([], ["a"]), (["a"], ["b"]), (["metric 123456"], ["metric 123457"])):
        assert not same(shown, printed)


def test_the_loop_of_the_page_stops_by_itself():
    """The walk is there, from init to a stopped loop."""
    walk = [step for step in STEPS if step.section == WALK]
    verbs = [verb for step in walk for verb in re.findall(r"\bledger (\w+)", step.command)]
    assert verbs[:5] == ["init", "run", "run", "run", "loop"]
    assert {"status", "brief", "steer", "mark", "sync", "best"} <= set(verbs)
    assert sum(step.shown[-1:] == ["Status: DONE (max_iterations)"] for step in walk) == 2
    assert not unnamed(README)


def test_every_command_of_the_page_is_run_or_known():
    indented = re.findall(
        r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    assert {line.split("  #")[0].strip() for line in indented} == FROM_THE_NETWORK | ELSEWHERE
    assert set(re.findall(r"^```(.*)$", README, re.MULTILINE)) == {"console", "", *FILES}


def test_inline_commands_exist():
    context = click.Context(ledger)
    for words in re.findall(r"`ledger ([a-z]+)( [a-z]+)?", README):
        command = ledger.get_command(context, words[0])
        assert command is not None, words
        if words[1] and isinstance(command, click.Group):
            assert command.get_command(context, words[1].strip()) is not None, words


def test_every_verb_is_told_of():
    missing = [name for name in COMMANDS if not re.search(rf"`(ledger )?{name}\b", README)]
    assert not missing
    table = README.partition("| verb | what it does |")[2].partition("\n\n")[0]
    verbs = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(verbs) == 14 and set(verbs) <= set(COMMANDS)


def test_the_table_of_views():
    for view in VIEWS:
        assert f"\n| `{view.name}` | {' '.join(f'`{column}`' for column in view.columns)} |\n" in README


def test_the_table_of_formats():
    stated = dict[str, list[str]]()
    for names, formats in re.findall(
        r"^\| (`[a-z` ]+`) \| (`[a-z` ]+`) \|$", README.partition("| formats |")[2].partition("\n\n")[0], re.MULTILINE
    ):
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


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
