"""Code under measurement that lays hands on what is not its own, and changes of every shape that git knows."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import NUMBER, Project, bare, check_sound, project
from tests.support.waiting import until

BENCH = "bench.sh"


@pytest.fixture
def one(tmp_path: Path) -> Project:
    made = project(tmp_path / "work", "autoresearch", "--scope", BENCH, "--scope", "other", "--off-limits", "src/fixed")
    (made.folder / "src" / "kept.txt").write_text("kept\n")
    made.git("add", "-A")
    made.git("commit", "--quiet", "-m", "second")
    assert made.ledger("run", "--baseline").code == 0
    return made


def bench(one: Project, *lines: str, number: object = 90) -> None:
    """Write a benchmark that does something before it prints."""
    (one.folder / BENCH).write_text("\n".join([*lines, f"echo METRIC total_ms={number}", "echo METRIC mem=5", ""]))


@pytest.mark.parametrize(
    ("deed", "named"),
    [
        ("git clean -fdxq", "the log"),
        ("rm -rf .auto", "the log"),
        ("echo garbage >> .auto/log.jsonl", "the log"),
        (": > .auto/log.jsonl", "the log"),
        ("echo 'exit 0' > .auto/checks.sh", "checks.sh"),
        ("echo 'echo METRIC total_ms=1' > .auto/measure.sh", "measure.sh"),
        ("echo x > other; git add other; git commit -qm sneak", "HEAD"),
        ("git checkout -q -b elsewhere", "HEAD"),
        ("git checkout -q --detach", "HEAD"),
        ("git reset -q --hard HEAD~1", "HEAD"),
    ],
)
def test_what_a_measured_program_changes_is_put_back(one: Project, deed: str, named: str):
    before = one.log.read_bytes()
    branch = one.git("branch", "--show-current")
    bench(one, deed)
    done = one.ledger("run", "--description", "mischief")
    assert done.code == 0 and done.out == 'Run #2: crash | total_ms: — | "mischief"\n', done
    assert named in one.runs()[-1]["asi"]["error_details"]
    assert one.log.read_bytes().startswith(before)
    assert one.git("branch", "--show-current") == branch
    assert one.git("log", "-2", "--format=%s").splitlines() == [
        'Revert "experiment: mischief"', "experiment: mischief",
    ]  # fmt: skip
    for name in ("prompt.md", "measure.sh", "checks.sh"):
        assert (one.folder / ".auto" / name).exists()
    assert one.ledger("check").code == 0
    bench(one, number=80)
    assert one.ledger("run", "--description", "honest").out.startswith("Run #3: keep")


def test_a_lost_prompt_does_not_widen_the_scope(one: Project):
    (one.folder / ".auto" / "prompt.md").unlink()
    (one.folder / "elsewhere").write_text("x\n")
    done = one.ledger("run", "--description", "x")
    assert done.code == 2 and "changed out of scope or off limits: elsewhere" in done.err


def test_a_file_that_measuring_makes_anew_does_not_block_the_revert(tmp_path: Path):
    one = project(tmp_path / "work")
    (one.folder / "src" / "made.txt").write_text("1\n")
    one.git("add", "-A")
    one.git("commit", "--quiet", "-m", "second")
    bench(one, "echo 1 > src/made.txt", number=100)
    one.git("commit", "--quiet", "-am", "bench")
    assert one.ledger("run", "--baseline").code == 0
    (one.folder / "src" / "made.txt").unlink()
    bench_number = one.ledger("run", "--description", "without it")
    assert bench_number.code == 0 and bench_number.out.startswith("Run #2: discard"), bench_number
    assert "in the way of the revert" in bench_number.err
    assert (one.folder / "src" / "made.txt").read_text() == "1\n"
    check_sound(one)


def test_leftovers_of_a_killed_measurement_are_no_experiment(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    (one.folder / "bench.sh").write_text(
        f'echo x > out.txt\ntouch "$HOME/begun"\n[ -e "$HOME/go" ] || sleep 60\necho METRIC total_ms=$(cat {NUMBER})\n'
        "echo METRIC mem=5\n"
    )
    one.git("commit", "--quiet", "-am", "bench")
    one.write(90)
    child = one.start("run", "--description", "killed", start_new_session=True)
    until((one.home / "begun").exists, "the measurement")
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    (one.home / "go").touch()
    done = one.ledger("run", "--description", "next")
    assert done.code == 0 and done.out == 'Run #2: keep | total_ms: 90 (-10.0%) | "killed"\n', done
    assert one.git("show", "--format=", "--name-only", "HEAD") == NUMBER
    assert one.changed() == "?? out.txt"
    assert "nothing was changed" in one.ledger("run", "--description", "more").err


def test_what_was_written_after_a_kill_in_the_first_baseline_stays(tmp_path: Path):
    one = project(tmp_path / "work")
    (one.folder / "bench.sh").write_text(
        f'touch "$HOME/begun"\n[ -e "$HOME/go" ] || sleep 60\necho METRIC total_ms=$(cat {NUMBER})\necho METRIC mem=5\n'
    )
    one.git("commit", "--quiet", "-am", "bench")
    one.write(70)
    child = one.start("run", "--description", "first", start_new_session=True)
    until((one.home / "begun").exists, "the measurement")
    assert one.number() == "100"  # put away while the unchanged tree is measured
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    one.write(60)
    (one.home / "go").touch()
    done = one.ledger("run", "--description", "better idea")
    assert done.code == 0, done.err
    assert [run["metric"] for run in one.runs()] == [100, 60]
    kept = one.git("for-each-ref", "--format=%(refname)", "refs/ledger/").splitlines()
    assert "70" in [one.git("show", f"{ref}:{NUMBER}") for ref in kept]
    check_sound(one)


def _swap_to_folder(folder: Path) -> None:
    (folder / "src" / "kept.txt").unlink()
    (folder / "src" / "kept.txt").mkdir()
    (folder / "src" / "kept.txt" / "inner").write_text("x\n")


def _git(*words: str):
    def change(folder: Path) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True)

    return change


def _odd_names(folder: Path) -> None:
    for name in ("-dash", "a b", "new\nline", "*", ":(top)x", "'\"", "é"):
        (folder / "src" / name).write_text("x\n")


SHAPES = {
    "moved": _git("mv", "src/kept.txt", "src/moved.txt"),
    "removed": _git("rm", "-q", "src/kept.txt"),
    "staged and gone": lambda folder: [
        (folder / "src" / "n").write_text("x"), _git("add", "src/n")(folder), (folder / "src" / "n").unlink()
    ],
    "a folder in a file's place": _swap_to_folder,
    "odd names": _odd_names,
    "run bit": lambda folder: (folder / "src" / "kept.txt").chmod(0o755),
    "link": lambda folder: (folder / "src" / "link").symlink_to("kept.txt"),
    "empty file": lambda folder: (folder / "src" / "empty").write_text(""),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("number", [90, 120])
def test_changes_of_every_shape_are_kept_or_reverted(tmp_path: Path, shape: str, number: int):
    one = project(tmp_path / "work")
    (one.folder / "src" / "kept.txt").write_text("kept\n")
    one.git("add", "-A")
    one.git("commit", "--quiet", "-m", "second")
    assert one.ledger("run", "--baseline").code == 0
    before = one.git("rev-parse", "HEAD^{tree}")
    one.write(number)
    SHAPES[shape](one.folder)
    done = one.ledger("run", "--description", shape)
    assert done.code == 0, done.err
    assert done.out.startswith("Run #2: keep" if number == 90 else "Run #2: discard")
    assert (one.git("rev-parse", "HEAD^{tree}") == before) is (number == 120)
    check_sound(one)


def test_a_tracked_file_that_git_ignores(tmp_path: Path):
    one = project(tmp_path / "work")
    (one.folder / "src" / "build").write_text("1\n")
    one.git("add", "-A")
    ignore = one.folder / ".gitignore"
    ignore.write_text(ignore.read_text() + "src/build\n")
    one.git("commit", "--quiet", "-am", "second")
    assert one.ledger("run", "--baseline").code == 0
    one.write(90)
    (one.folder / "src" / "build").write_text("2\n")
    assert one.ledger("run", "--description", "x").out.startswith("Run #2: keep")
    assert one.git("show", "HEAD:src/build") == "2"


def test_a_repository_within(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    inner = one.folder / "src" / "inner"
    inner.mkdir()
    subprocess.run(["git", "init", "-q", inner], check=True)
    done = one.ledger("run", "--description", "x")
    assert done.code == 2 and "a repository within this one" in done.err


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 names only")
def test_a_name_that_is_no_text(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    Path(os.fsdecode(bytes(one.folder) + b"/src/\xff")).write_text("x")
    done = one.ledger("run", "--description", "x")
    assert done.code == 2 and "a name that is no UTF-8" in done.err


def test_the_locale_does_not_matter(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    one.write(90)
    done = one.ledger("run", "--description", "größer", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.code == 0, done.err
    assert one.runs()[-1]["description"] == "größer"
    assert one.git("log", "-1", "--format=%s") == "experiment: größer"


def test_init_that_git_refuses_can_be_tried_again(tmp_path: Path):

    one = bare(tmp_path / "work")
    hook = one.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    words = ("init", "speed", "--metric", "total_ms", "--direction", "lower", "--git")
    done = one.ledger(*words)
    assert done.code == 2 and "git commit failed" in done.err
    assert (one.git("branch", "--show-current"), one.changed()) == ("main", "")
    hook.unlink()
    assert one.ledger(*words).code == 0


def test_run_json_never_changes(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    config = one.log.with_name("run.json")
    config.write_bytes(config.read_bytes().replace(b"bash bench.sh", b"echo 1"))
    one.write(90)
    done = one.ledger("run", "--description", "cheat")
    assert done.code == 2 and "run.json was changed" in done.err
