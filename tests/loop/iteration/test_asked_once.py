"""A run, and each cycle of a loop, opens its log once and asks git for one snapshot a step."""

import subprocess
from pathlib import Path

import pytest

from tests.support.asked import Asked, Ear
from tests.support.cli import COMMAND, environment
from tests.support.project import IDENTITY, Project, project

MOST_OPENS, MOST_GIT, MOST_STATUS = 2, 15, 3

DIALECTS = ("autoresearch", "state-protocol", "codex")
OUTCOMES = {"keep": "90", "discard": "120", "crash": "oops", "checks_failed": "66"}


def listened(one: Project, place: Path, *arguments: str, code: int = 0) -> list[Asked]:
    """Run a command in a fresh process, and tell what it asked."""
    ear = Ear(one, place)
    env = ear.environment({**environment(one.home), **IDENTITY})
    words = [word.replace("BORDER", ear.border) for word in arguments]
    done = subprocess.run([*COMMAND, *words], cwd=one.folder, env=env, capture_output=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr.decode()
    return ear.heard()


def begun(place: Path, dialect: str) -> Project:
    """Make a project with a baseline, so that a run is one iteration."""
    one = project(place, dialect)
    if dialect != "codex":
        assert one.ledger("run", "--baseline").code == 0
    return one


def add_hooks(one: Project) -> None:
    folder = one.folder / ".auto" / "hooks"
    folder.mkdir(parents=True, exist_ok=True)
    for stage in ("before", "after"):
        (folder / f"{stage}.sh").write_text(f"#!/bin/sh\necho '{stage} hook'\n")
        (folder / f"{stage}.sh").chmod(0o755)


def check(asked: Asked) -> None:
    assert len(asked.opens) <= MOST_OPENS, asked.opens
    assert len(asked.git) <= MOST_GIT, "\n".join(asked.git)
    assert len(asked.status) <= MOST_STATUS, "\n".join(asked.status)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_run(tmp_path: Path, dialect: str, outcome: str):
    one = begun(tmp_path / "work", dialect)
    one.write(OUTCOMES[outcome])
    (asked,) = listened(one, tmp_path / "ear", "run", "--description", "try it")
    assert asked.opens and asked.status, "nothing was heard"
    check(asked)
    assert one.number() == ("90" if outcome == "keep" else "100")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_run_with_hooks(tmp_path: Path, dialect: str):
    one = begun(tmp_path / "work", dialect)
    add_hooks(one)
    one.write(120)
    (asked,) = listened(one, tmp_path / "ear", "run", "--description", "try it")
    check(asked)


def test_a_baseline(tmp_path: Path):
    one = project(tmp_path / "work")
    (asked,) = listened(one, tmp_path / "ear", "run", "--baseline")
    check(asked)


@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_loop(tmp_path: Path, dialect: str, hooks: bool):
    one = begun(tmp_path / "work", dialect)
    if hooks:
        add_hooks(one)
    numbers, first, most = ("90 120 95 80", 1, 4) if dialect == "codex" else ("90 120 oops 80", 2, 5)
    agent = (
        f"BORDER; set -- {numbers}; shift $((LEDGER_RUN - {first})); echo $1 > src/number.txt;"
        ' echo \'{"description": "try it"}\' > "$LEDGER_NOTE"'
    )
    before, *turns = listened(one, tmp_path / "ear", "loop", "--agent", agent, "--max-iterations", str(most))
    assert len(turns) == 4 and len(one.runs()) == most
    for asked in (before, *turns):
        check(asked)
    assert sum(len(asked.opens) for asked in (before, *turns)) <= MOST_OPENS
