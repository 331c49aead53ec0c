"""The skill keeps its word: who follows it to the letter ends with a session that `check` and `verify` pass."""

import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import click
import pytest

from ledger.cli import COMMANDS
from ledger.cli import ledger as command_line
from ledger.cli.commands.skill import TEXT
from ledger.fold.segment import STATUSES as RUN_STATUSES
from ledger.loop.driving.ending import _BY_VERDICT
from tests.support.cli import SOUND, environment, ledger
from tests.support.programs import needs
from tests.support.project import Project, bare, check_sound, project

SKILL = TEXT.read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", SKILL, re.MULTILINE | re.DOTALL)
AFTERWARDS = ["ledger mark running --restart", "ledger mark wall", "ledger mark running --restart", "ledger cancel"]
"""What only sentences of it name: other endings."""
OTHERS = {
    "state-protocol": ['ledger decide RUN stop --reason "WHY"'],
    "codex": ['ledger mark stopped --reason "WHY"', 'ledger mark resumed --reason "WHY"'],
}
"""What they name for logs of other protocols."""
LINES = [line for block in BLOCKS for line in block.splitlines()]

IDEAS = iter(range(95, 0, -5))
"""What the agent below comes up with: a better number each time."""
WORDS = {
    "GOAL": "Smaller number", "METRIC": "total_ms", "DIRECTION": "lower", "SECONDARY": "mem",
    "COMMAND": "bash bench.sh", "GUARD": "test $(cat src/number.txt) != 66", "SCOPE": "src",
    "LOG": ".auto/log.jsonl",
    "WHAT": "try a smaller number", "WHY": "it is what is measured", "NEXT": "an even smaller one",
}  # fmt: skip


def substituted(line: str, words: dict[str, str]) -> str:
    """Put words in place of those in capitals, as the skill's table says."""
    return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[0]], line)


def agent(folder: Path) -> str:
    """Write an agent for `ledger loop`, and give its command."""
    script = folder / "agent.sh"
    script.write_text(
        "expr $(cat src/number.txt) - 1 > number && mv number src/number.txt\n"
        """echo '{"description": "one less", "asi": {"hypothesis": "less is less"}}' > "$LEDGER_NOTE"\n"""
    )
    return f"sh {script}"


def do(one: Project, line: str) -> str:
    """Run a line as a shell would, and give its output; whatever fails, fails the test."""
    name = one.home / "bin" / "ledger"
    if not name.exists():
        name.parent.mkdir()
        name.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ledger "$@"\n')
        name.chmod(0o755)
    path = f"{name.parent}{os.pathsep}{os.environ['PATH']}"
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["sh", "-c", line], cwd=one.folder, env=environment(one.home, PATH=path, **identity), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {line}\n{done.stdout}"
    return done.stdout


@pytest.mark.skipif(os.name == "nt", reason="the skill's commands are for a POSIX shell")
@needs("jq")  # example hooks are at work
def test_an_agent_that_follows_it_to_the_letter_ends_with_a_proven_session(tmp_path: Path):
    one = bare(tmp_path / "work")
    other = tmp_path / "another" / "autoresearch.jsonl"
    other.parent.mkdir()
    other.write_bytes(SOUND)
    assert one.ledger("sync", other).code == 0
    words = {**WORDS, "AGENT": agent(tmp_path), "RUNS": "9"}
    said: dict[str, str] = {}
    for line in LINES:
        if "--description" in line and "--keep-equal" not in line:
            one.write(next(IDEAS))
        elif "--keep-equal" in line:  # the same number in fewer bytes
            (one.folder / "src" / "number.txt").write_text(one.number())
        said[line] = do(one, substituted(line, words))
    statuses = [record["status"] for record in one.runs()]
    assert statuses == ["keep"] * 4 + ["discard", "keep"] + ["keep"] * 3 + ["keep"]
    assert all("asi" in record for record in one.runs() if record["description"] != "baseline")
    failed = next(out for line, out in said.items() if line.startswith("ledger runs"))
    assert "discard" in failed and str(other.parent) not in failed
    verdicts = [out for line, out in said.items() if line == "ledger verdict"]
    assert verdicts and all("VERDICT=continue" in out for out in verdicts)
    assert "Status: DONE (max_iterations)" in said[next(line for line in LINES if line.startswith("ledger loop"))]
    assert said["ledger check"] == "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n"
    assert said["ledger verify"].startswith("ok ") and one.changed() == ""
    assert one.records()[-1]["state"] == "done"
    assert (one.folder / ".auto" / "report.html").exists() and (one.folder / ".auto" / "learnings.md").exists()
    for line in AFTERWARDS:
        do(one, line)
    check_sound(one)


@pytest.mark.skipif(os.name == "nt", reason="the skill's commands are for a POSIX shell")
@pytest.mark.parametrize("dialect", OTHERS)
def test_other_protocols_end_as_it_says(tmp_path: Path, dialect: str):
    one = project(tmp_path / "work", dialect)
    if dialect == "state-protocol":
        assert one.ledger("run", "--baseline").code == 0
    for line in OTHERS[dialect]:
        assert line in re.findall(r"`([^`]*)`", SKILL)
        do(one, substituted(line, {**WORDS, "RUN": "1"}))
        assert ("VERDICT=concluded" in do(one, "ledger verdict")) == ("stop" in line)
    check_sound(one)


@pytest.mark.skipif(os.name == "nt", reason="the skill's commands are for a POSIX shell")
def test_after_a_wall_a_new_segment_goes_on_and_a_restart_alone_does_not(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    for _ in range(9):
        assert (
            one.ledger(
                "log", "--status", "discard", "--metric", 101, "--metrics", '{"mem": 5}', "--description", "x"
            ).code
            == 0
        )
    for line in ("ledger mark wall", "ledger mark running --restart"):
        do(one, line)
    assert "VERDICT=wall" in do(one, "ledger verdict")
    for line in next(block for block in BLOCKS if "once more" in block).splitlines():
        do(one, substituted(line, WORDS))
    assert "VERDICT=continue" in do(one, "ledger verdict")


def test_every_command_in_a_sentence_is_one_that_is_run():
    prose = re.sub(r"^```.*?^```$", "", SKILL, flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(ledger [^`]*)`", prose)
    assert len(named) > 5
    known = (*LINES, *AFTERWARDS, *chain.from_iterable(OTHERS.values()))
    assert not [name for name in named if not any(line.startswith(name) for line in known)]
    context = click.Context(command_line)
    for option in re.findall(r"`(--[a-z-]+)`", prose):
        commands = [command_line.get_command(context, verb) for verb in ("init", "run", "measure")]
        assert any(option in one.opts for command in commands if command for one in command.params), option


def test_it_is_a_skill_and_short():
    front = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n\n# ", SKILL)
    assert front is not None and front[1] == "ledger" and 100 < len(front[2]) <= 1024
    assert SKILL.count("\n") < 300 and set(re.findall(r"^```(.*)$", SKILL, re.MULTILINE)) == {"sh", ""}
    assert {line.split()[1] for line in LINES if line.startswith("ledger ")} <= set(COMMANDS)
    assert all(len(line) <= 120 for line in SKILL.splitlines()[4:] if not line.startswith("ledger "))


def test_every_placeholder_is_explained_and_used():
    table = SKILL.partition("| word | stands for |")[2].partition("\n\n")[0]
    told = {word for row in table.splitlines() for word in re.findall(r"`([A-Z]+)`", row.split("|")[1] if row else "")}
    assert told == {*WORDS, "AGENT", "RUNS"}
    used = {word for line in LINES for word in re.findall(r"\b[A-Z]{3,}\b", line)}
    assert used == told


def test_the_endings_of_a_run_and_of_a_loop_are_all_told():
    assert re.findall(r"^\| `([a-z_]+)` \| .* \| .* \|$", SKILL, re.MULTILINE) == list(RUN_STATUSES)
    table = SKILL.partition("| `VERDICT=` |")[2].partition("\n\n")[0].splitlines()[2:]
    told = {word for row in table for word in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
    assert told == {"continue", "concluded", *_BY_VERDICT}


def test_it_is_printed(tmp_path: Path):
    assert ledger(tmp_path, "skill") == (0, SKILL, "")
    assert ledger(tmp_path, "skill", "--force").code == 2


def test_it_is_installed_once_and_never_over_another(tmp_path: Path):
    place = tmp_path / "skills" / "ledger" / "SKILL.md"
    assert ledger(tmp_path, "skill", "--install", "skills") == (0, "", "ledger: installed skills/ledger/SKILL.md\n")
    assert place.read_text("utf-8") == SKILL and [path.name for path in place.parent.iterdir()] == ["SKILL.md"]
    before = place.stat().st_mtime_ns
    assert ledger(tmp_path, "skill", "--install", "skills").err == "ledger: there already: skills/ledger/SKILL.md\n"
    assert place.stat().st_mtime_ns == before
    place.write_text("mine")
    refused = ledger(tmp_path, "skill", "--install", "skills")
    assert (refused.code, refused.out) == (2, "") and "stays as it is" in refused.err
    assert place.read_text("utf-8") == "mine"
    assert ledger(tmp_path, "skill", "--install", "skills", "--force").code == 0
    assert place.read_text("utf-8") == SKILL


def test_where_it_cannot_be_installed_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "skills" / "ledger" / "SKILL.md").mkdir(parents=True)
    for folder, said in (("file", "what should be its folder is a file"), ("skills", "it is no file")):
        refused = ledger(tmp_path, "skill", "--install", folder, "--force")
        assert (refused.code, refused.out) == (2, "") and said in refused.err
