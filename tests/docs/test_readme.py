"""README.md keeps its word: its commands run, print what it shows, and its map has every verb."""

import os
import re
from pathlib import Path

import pytest

from ledger.cli import HEADINGS
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
"""The first is run with docs/checking.md, which shows what it prints; the second runs this."""
MOST_LINES = 220

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the page's commands are for a POSIX shell")

STEPS = steps(README)


def test_what_is_shown_is_what_is_printed(tmp_path: Path):
    assert len(STEPS) > 15
    follow(Shell(tmp_path), STEPS)


def test_it_is_short():
    assert len(README.splitlines()) <= MOST_LINES


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
    assert {"check", "sync", "best"} <= set(verbs)
    assert sum(step.shown[-1:] == ["Status: DONE (max_iterations)"] for step in walk) == 1
    assert not unnamed(README)


def test_every_command_of_the_page_is_run_or_known():
    indented = re.findall(
        r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    assert {line.split("  #")[0].strip() for line in indented} == FROM_THE_NETWORK | ELSEWHERE
    assert set(re.findall(r"^```(.*)$", README, re.MULTILINE)) == {"console", "", *FILES}


def test_the_map_is_that_of_the_help():
    stated: dict[str, list[str]] = {}
    table = README.partition("\n## All verbs\n")[2].partition("\n## ")[0]
    for heading, verbs in re.findall(r"^\| (?:\*\*(.+)\*\* \||((?:`\w+` )+)\| .+) \|$", table, re.MULTILINE):
        if heading:
            stated[heading] = []
        else:
            stated[list(stated)[-1]] += re.findall(r"\w+", verbs)
    assert {heading: sorted(verbs) for heading, verbs in stated.items()} == {
        heading: sorted(verbs) for heading, verbs in HEADINGS.items()
    }
    assert list(stated) == list(HEADINGS)
