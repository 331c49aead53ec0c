"""git merges branches that both logged runs, with ledger as its merge driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import HEADER, ROOT, ledger, lines
from tests.support.repos import IDENTITY, git
from tests.support.sides import STATE, at, decision, result

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
    assert len(setup) == 6
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
    return tell(folder, "merge", "--no-edit", branch)


def tell(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Tell git something that may fail."""
    given = {**os.environ, **IDENTITY, "PYTHONPATH": str(ROOT), "GIT_EDITOR": "true"}
    return subprocess.run(["git", *arguments], cwd=folder, env=given, capture_output=True, text=True, check=False)


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


DAMAGED = b'{"run":2,"metric":NaN}'


@pytest.mark.parametrize("name", [LOG, "it's/.auto/log.jsonl"])
def test_findings_that_either_branch_accepted_are_no_errors(name: str, project: Path) -> None:
    (project / ".gitattributes").write_text("*.jsonl merge=ledger\n*.accepted.jsonl merge=union\n")
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    commit(project, START, "main", name)
    for branch, second in (("idea", 20), ("main", 10)):
        bad = DAMAGED.replace(b"2", str(second).encode())
        git(project, "checkout", "--quiet", *(("-b", branch) if branch == "idea" else (branch,)))
        (project / name).write_bytes(START + lines(bad, at(3, second)))
        assert ledger(project, "review", "accept", name, "L106", "--reason", f"lost on {branch}").code == 0
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "--message", branch)
    done = merge(project, "idea")
    assert done.returncode == 0, done
    assert ledger(project, "check", name).code == 0 and (project / name).read_bytes().count(b"NaN") == 2
    shown = ledger(project, "review", "list", name).out
    assert "lost on idea" in shown and "lost on main" in shown


def test_an_error_that_nobody_accepted_is_a_conflict(project: Path) -> None:
    commit(project, START, "main")
    commit(project, START + lines(DAMAGED), "idea")
    commit(project, START + lines(at(2, 10)), "main")
    done = merge(project, "idea")
    assert done.returncode == 1 and "theirs has errors" in done.stderr
    assert (project / LOG).read_bytes() == START + lines(at(2, 10))
    assert git(project, "status", "--porcelain") == f"UU {LOG}"
    assert tell(project, "merge", "--abort").returncode == 0 and git(project, "status", "--porcelain") == ""


@pytest.mark.parametrize("seconds", [(10, 30), (50, 60)])
def test_a_branch_is_rebased(seconds: tuple[int, int], project: Path) -> None:
    """Each commit is merged with what the one before it became."""
    commit(project, START, "main")
    for number in range(2, 6):
        commit(project, START + lines(*(at(run, 10 * run) for run in range(2, number + 1))), "idea")
    commit(project, START + lines(at(2, seconds[0], description="a"), at(3, seconds[1], description="b")), "main")
    git(project, "checkout", "--quiet", "idea")
    done = tell(project, "rebase", "main")
    assert done.returncode == 0, done
    records = [json.loads(line) for line in (project / LOG).read_bytes().splitlines()[1:]]
    assert [record["run"] for record in records] == [1, 2, 3, 4, 5, 6, 7]
    assert [record["timestamp"] for record in records] == sorted(record["timestamp"] for record in records)
    assert ledger(project, "check").code == 0 and git(project, "status", "--porcelain") == ""


def test_a_rebased_branch_brings_what_it_accepted(project: Path) -> None:
    commit(project, START, "main")
    commit(project, START + lines(at(2, 10)), "main")
    git(project, "checkout", "--quiet", "-b", "idea", "HEAD~")
    (project / LOG).write_bytes(START + lines(DAMAGED, at(3, 20)))
    assert ledger(project, "review", "accept", LOG, "L106", "--reason", "lost").code == 0
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "idea")
    done = tell(project, "rebase", "main")
    assert done.returncode == 0, done
    assert ledger(project, "check").code == 0 and (project / LOG).read_bytes().count(b"\n") == 5


def test_one_commit_is_picked_and_the_rest_merged_later(project: Path) -> None:
    commit(project, START, "main")
    idea = START
    for number in (2, 3, 4):
        idea += lines(at(number, 10 * number, description=f"theirs {number}"))
        commit(project, idea, "idea")
    ours = START + lines(at(2, 5))
    commit(project, ours, "main")
    done = tell(project, "cherry-pick", "idea~")
    assert done.returncode == 0, done
    assert "1 record that theirs begins with ours never had" in done.stderr
    assert (project / LOG).read_bytes() == ours + lines(at(3, 30, description="theirs 3"))
    assert merge(project, "idea").returncode == 0
    assert (project / LOG).read_bytes() == ours + lines(
        at(3, 20, description="theirs 2"), at(4, 30, description="theirs 3"), at(5, 40, description="theirs 4")
    )
    assert ledger(project, "check").code == 0


def test_what_was_repaired_on_both_branches_or_neither(project: Path) -> None:
    """What stands in the side files of both branches is put together by git."""
    commit(project, START[:-1], "main")
    for branch, second in (("idea", 20), ("main", 10)):
        git(project, "checkout", "--quiet", *(("-b", "idea", "main") if branch == "idea" else ("main",)))
        assert ledger(project, "repair", "--safe", "--yes", LOG).code == 0
        with (project / LOG).open("ab") as file:
            file.write(lines(at(2, second)))
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "--message", branch)
    done = merge(project, "idea")
    assert done.returncode == 0, done
    assert (project / LOG).read_bytes() == START + lines(at(2, 10), at(3, 20, description="idea 2"))
    assert (project / f"{LOG}.repairs.jsonl").read_bytes().count(b'"repair"') == 2
