"""git merges branches that both logged runs, with ledger as its merge driver."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import HEADER, ROOT, ledger, lines
from tests.loop.repos import IDENTITY, git
from tests.merge.sides import STATE, at, decision, result

LOG = "autoresearch.jsonl"
START = lines(HEADER, at(1, 1))
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the driver is set up for a POSIX shell")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a repository that is set up as the help of `ledger merge` says."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    said = ledger(folder, "merge", "--help").out
    setup = [line.strip() for line in said.splitlines() if line.strip().startswith(("echo ", "git config "))]
    assert len(setup) == 4
    script = "\n".join(setup).replace('"ledger merge', f'"{sys.executable} -m ledger merge')
    subprocess.run(["sh", "-e", "-c", script], cwd=folder, env={**os.environ, **IDENTITY}, check=True)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")
    return folder


def commit(folder: Path, data: bytes, branch: str, name: str = LOG) -> None:
    """Commit a log on a branch, which is made if there is none."""
    if branch not in git(folder, "branch", "--format=%(refname:short)").splitlines():
        git(folder, "checkout", "--quiet", "-b", branch)
    git(folder, "checkout", "--quiet", branch)
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", f"{branch} {len(data)}")


def merge(folder: Path, branch: str) -> subprocess.CompletedProcess[str]:
    """Merge a branch into the current one; the driver is this checkout's ledger."""
    given = {**os.environ, **IDENTITY, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["git", "merge", "--no-edit", branch], cwd=folder, env=given, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", [LOG, ".auto/log.jsonl"])
def test_two_branches_that_both_logged_runs(name: str, project: Path) -> None:
    commit(project, START, "main", name)
    commit(project, START + lines(at(2, 20), at(3, 40)), "idea", name)
    commit(project, START + lines(at(2, 10), at(3, 30)), "main", name)
    done = merge(project, "idea")
    assert done.returncode == 0, done
    assert "renumbered runs of theirs: 2 to 3, 3 to 5" in done.stdout + done.stderr
    assert (project / name).read_bytes() == START + lines(
        at(2, 10), at(3, 20, description="idea 2"), at(4, 30, description="idea 3"), at(5, 40, description="idea 3")
    )
    assert git(project, "status", "--porcelain") == "" and ledger(project, "check").code == 0


def test_two_branches_of_the_state_protocol(project: Path) -> None:
    start = lines(STATE, result(1, 0), decision(1, 1, "baseline"))
    commit(project, start, "main")
    commit(project, start + lines(result(2, 20, 8), decision(2, 21)), "idea")
    commit(project, start + lines(result(2, 10, 9), decision(2, 11)), "main")
    assert merge(project, "idea").returncode == 0
    assert (project / LOG).read_bytes() == start + lines(
        result(2, 10, 9), decision(2, 11), result(3, 20, 8), decision(3, 21)
    )
    assert ledger(project, "check").code == 0


def test_a_branch_that_goes_on_is_merged_again(project: Path) -> None:
    branch = START + lines(at(2, 20))
    commit(project, START, "main")
    commit(project, branch, "idea")
    commit(project, START + lines(at(2, 10)), "main")
    assert merge(project, "idea").returncode == 0
    first = (project / LOG).read_bytes()
    commit(project, branch + lines(at(3, 50)), "idea")
    commit(project, first + lines(at(4, 40)), "main")
    assert merge(project, "idea").returncode == 0
    assert (project / LOG).read_bytes() == first + lines(at(4, 40), at(5, 50, description="idea 3"))


def test_a_conflict_leaves_our_log_and_git_says_so(project: Path) -> None:
    commit(project, START, "main")
    commit(project, START.replace(b"idea 1", b"rewritten") + lines(at(2, 20)), "idea")
    ours = START + lines(at(2, 10))
    commit(project, ours, "main")
    done = merge(project, "idea")
    assert done.returncode == 1 and f"Merge conflict in {LOG}" in done.stdout
    assert "conflict: the records that both come from are no longer the same" in done.stderr
    assert (project / LOG).read_bytes() == ours
    assert git(project, "status", "--porcelain") == f"UU {LOG}"


def test_a_log_that_both_branches_added(project: Path) -> None:
    commit(project, START + lines(at(2, 20)), "idea")
    git(project, "checkout", "--quiet", "main")
    commit(project, START + lines(at(2, 10)), "main")
    assert merge(project, "idea").returncode == 0
    assert (project / LOG).read_bytes() == START + lines(at(2, 10), at(3, 20, description="idea 2"))
