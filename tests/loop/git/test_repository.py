"""The repository asked once: what a snapshot tells, and what git's own verbs make of it without another look."""

from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.loop.git.repository import Git
from ledger.loop.git.snapshot import Patterns
from tests.support.repos import IDENTITY, git, repository, write

OWN = (".auto", "autoresearch.*", "run.log", "*.local.md")


@pytest.fixture(autouse=True)
def _identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)


def test_a_snapshot_tells_of_every_change(tmp_path: Path):
    names = ("a b.py", "ü.py", "line\nend.py", "gone.py", "staged.py", "both.py", "-x.py")
    place = repository(tmp_path / "repo", "plain.py", *names)
    for name in names:
        write(place, name, "changed\n")
    (place / "gone.py").unlink()
    git(place, "add", "staged.py", "both.py")
    write(place, "both.py", "again\n")
    write(place, "new/one.py")
    write(place, "added.py")
    git(place, "add", "--intent-to-add", "added.py")
    seen = Git(place).look()
    assert sorted(seen.changed) == sorted((*names, "new/one.py", "added.py"))
    assert seen.untracked == {"new/one.py"} and seen.staged
    assert (seen.head, seen.branch) == (git(place, "rev-parse", "HEAD"), "main")


def test_a_conflict_is_a_change(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py", "b.py")
    git(place, "checkout", "-q", "-b", "other")
    write(place, "a.py", "theirs\n")
    git(place, "commit", "-qam", "theirs")
    git(place, "checkout", "-q", "main")
    write(place, "a.py", "ours\n")
    git(place, "commit", "-qam", "ours")
    with pytest.raises(LedgerError):
        Git(place).ask("merge", "other")
    seen = Git(place).look()
    assert seen.changed == ["a.py"] and seen.staged and Git(place).under_way() == "a merge"


def test_no_commit_and_no_branch(tmp_path: Path):
    tmp_path.joinpath("empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet", "--initial-branch=main")
    empty = Git(tmp_path / "empty")
    assert (empty.head(), empty.branch()) == (None, "main")
    assert (empty.look().head, empty.look().branch) == (None, "main")
    place = repository(tmp_path / "repo")
    git(place, "checkout", "-q", "--detach")
    head = git(place, "rev-parse", "HEAD")
    assert (Git(place).head(), Git(place).branch()) == (head, None)
    assert (Git(place).look().head, Git(place).look().branch) == (head, None)


def test_the_session_s_own_files_are_left_out(tmp_path: Path):
    place = repository(tmp_path / "repo", "in/code.py", "run.log")
    for name in ("in/.auto/x/y", "in/.automatic", "in/autoresearch.jsonl", "in/autoresearch.hooks/a.sh", "run.log"):
        write(place, name, "changed\n")
    for name in ("in/run.log", "in/a/b.local.md", "autoresearch.jsonl", "in/code.py"):
        write(place, name, "changed\n")
    assert sorted(Git(place / "in", OWN).look().changed) == [
        "autoresearch.jsonl",
        "in/.automatic",
        "in/code.py",
        "run.log",
    ]


@pytest.mark.parametrize("name", ["a[1].jsonl", "a.jsonl.x", "deep/a.jsonl"])
def test_only_a_star_is_a_pattern(name: str):
    assert not Patterns(("a.jsonl", "b[1].*"), "").name(name)
    assert Patterns(("a.jsonl", "b[1].*"), "").name("b[1].x/y")


def agree(asked: Git) -> None:
    """Hold what is known of the repository to be what another look shows."""
    fresh = Git(asked.folder, OWN)
    assert asked._seen is not None, "nothing is known without another look"
    seen = asked.look()
    assert (seen.head, seen.branch, seen.staged) == (fresh.look().head, fresh.look().branch, fresh.look().staged)
    assert (sorted(seen.changed), seen.untracked) == (sorted(fresh.look().changed), fresh.look().untracked)


@pytest.mark.parametrize("make_way", [("src/a.py", "src/a.py/deep.py"), ("d/e.py", "d")])
def test_a_commit_and_its_revert_need_no_further_look(tmp_path: Path, make_way: tuple[str, str]):
    old, new = make_way
    place = repository(tmp_path / "repo", "src/a.py", "b.py", "gone.py", "d/e.py", ".auto/tracked")
    write(place, "b.py", "changed\n")
    (place / "gone.py").unlink()
    (place / old).unlink()
    if (place / new).is_dir():
        (place / new).rmdir()
    for name in (new, "left.txt", ".auto/tracked", ".auto/new"):
        write(place, name, "changed\n")
    asked = Git(place, OWN)
    paths = [path for path in asked.look().changed if path != "left.txt"]
    base = asked.head() or ""
    trial = asked.commit(paths, "try")
    agree(asked)
    assert (
        asked.look().changed == ["left.txt"]
        and git(place, "show", "--format=%s", "--name-only", trial).count(".auto") == 0
    )
    head = asked.revert(trial, paths)
    agree(asked)
    assert asked.same_tree(head, base) and not asked.same_tree(trial, base)
    assert asked.parents(head) == [trial]


def test_a_commit_leaves_what_is_staged_alone(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py", "b.py", "c.py")
    for name in ("a.py", "b.py", "c.py", "new.py", "other.py"):
        write(place, name, "changed\n")
    git(place, "add", "b.py", "new.py", "other.py")
    asked = Git(place, OWN)
    asked.commit(["a.py", "new.py"], "try")
    agree(asked)
    assert git(place, "show", "--format=", "--name-only", "HEAD").split() == ["a.py", "new.py"]
    assert git(place, "status", "--porcelain").splitlines() == ["M  b.py", " M c.py", "A  other.py"]


def test_a_hook_of_the_repository_s_may_say_no_or_change_more(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py", "b.py")
    hook = write(place, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    write(place, "a.py", "changed\n")
    asked = Git(place, OWN)
    with pytest.raises(LedgerError, match="git commit failed"):
        asked.commit(["a.py"], "try")
    assert git(place, "status", "--porcelain") == " M a.py"
    hook.write_text("#!/bin/sh\necho more > b.py; echo tidy > a.py; git add a.py\n")
    asked.commit(["a.py"], "try")
    assert asked.look().changed == ["b.py"] and not asked.look().staged


def test_what_git_ignores_is_looked_at_anew(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py")
    write(place, ".gitignore", "made.txt\n")
    write(place, "made.txt")
    asked = Git(place, OWN)
    assert asked.look().changed == [".gitignore"]
    trial = asked.commit([".gitignore"], "try")
    asked.revert(trial, [".gitignore"])
    assert asked.look().changed == ["made.txt"]


def test_the_tree_as_it_is(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py", ".auto/tracked")
    asked = Git(place, OWN)
    assert asked.capture() == git(place, "rev-parse", "HEAD^{tree}")
    write(place, "a.py", "changed\n")
    write(place, ".auto/tracked", "changed\n")
    write(place, "new.py")
    asked.forget()
    tree = asked.capture(store=True)
    assert git(place, "ls-tree", "-r", "--name-only", tree).split() == [".auto/tracked", "a.py", "new.py"]
    assert git(place, "diff", "--name-only", "HEAD", tree).split() == ["a.py", "new.py"]
    asked.restore("HEAD", asked.look().changed)
    assert asked.look().changed == [] and (place / ".auto/tracked").read_text() == "changed\n"


def test_files_of_a_commit(tmp_path: Path):
    place = repository(tmp_path / "repo", "in/a b.sh", "in/line\nend.sh", "in/folder/x", "top.sh")
    write(place, "in/a b.sh", "new\n")
    asked, head = Git(place / "in"), git(place, "rev-parse", "HEAD")
    names = ("a b.sh", "missing", "folder", "folder/x")
    assert asked.contents(head, [place / "in" / name for name in names]) == [b"x\n", None, None, b"x\n"]
    assert asked.contents(head, [place / "in" / "line\nend.sh", place / "in" / "no\nne"]) == [b"x\n", None]


def test_a_folder_whose_name_has_a_line_end(tmp_path: Path):
    place = repository(tmp_path / "re\npo", "in/a.py")
    write(place, "in/a.py", "changed\n")
    asked = Git(place / "in", OWN)
    assert asked.top() == place and asked.private() == place / ".git" and asked.look().changed == ["in/a.py"]


def test_paths_are_matched_as_git_matches_them(tmp_path: Path):
    place = repository(tmp_path / "repo", "a.py")
    paths = ["a.py", "lib/b.py", "lib/c/d.py", "e.txt", "was", "was/now.py", "nested/", "[id]/x.py"]
    match = Git(place).matching
    assert match(paths, [":(top)*.py"]) == {"a.py", "lib/b.py", "lib/c/d.py", "was/now.py", "[id]/x.py"}
    assert match(paths, [":(top,glob)lib/**/*.py"]) == {"lib/b.py", "lib/c/d.py"}
    assert match(paths, [":(top,glob)*.py"]) == {"a.py"}
    assert match(paths, [":(top)w*s", ":(top)nest*"]) == {"was", "nested/"}
    assert match(paths, [":(top)[a-e].*"]) == {"a.py", "e.txt"}
    assert git(place, "status", "--porcelain") == ""
