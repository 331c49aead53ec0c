"""What stands against an iteration: each a clear sentence, exit status 2, the log sound, no work lost."""

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import COMMAND, environment
from tests.support.project import IDENTITY, NUMBER, Project, bare, check_sound, project


@pytest.fixture
def one(tmp_path: Path) -> Project:
    made = project(tmp_path / "work", "autoresearch", "--off-limits", "src/fixed.txt")
    assert made.ledger("run", "--baseline").code == 0
    return made


def refused(one: Project, said: str, *arguments: object, **variables: Any) -> None:
    """Assert that a run is refused with a sentence, and that nothing happened."""
    before = one.log.read_bytes(), one.git("rev-parse", "HEAD"), one.changed()
    done = one.ledger(*(arguments or ("run", "--description", "try it")), **variables)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err, done
    assert (one.log.read_bytes(), one.git("rev-parse", "HEAD"), one.changed()) == before


def test_nothing_changed(one: Project):
    refused(one, "nothing was changed")


def test_a_file_out_of_scope(one: Project):
    one.write(90)
    (one.folder / "other.txt").write_text("x")
    refused(one, "changed out of scope or off limits: other.txt")
    assert one.number() == "90"


def test_a_file_off_limits(one: Project):
    (one.folder / "src" / "fixed.txt").write_text("x")
    refused(one, "changed out of scope or off limits: src/fixed.txt")


def test_a_changed_measure_script(one: Project):
    one.write(90)
    measure = one.folder / ".auto" / "measure.sh"
    measure.write_text("echo METRIC total_ms=1\n")
    refused(one, ".auto/measure.sh differs from what is committed")
    one.git("commit", "--quiet", "-m", "cheat", "--", ".auto/measure.sh")
    refused(one, "is not what the segment's baseline was measured with")


def test_a_checks_script_that_comes_late(tmp_path: Path):
    one = bare(tmp_path / "work")
    init = ("init", "speed", "--metric", "total_ms", "--direction", "lower", "--command", "bash bench.sh", "--git")
    assert one.ledger(*init).code == 0
    assert one.ledger("run", "--baseline").code == 0
    (one.folder / ".auto" / "checks.sh").write_text("exit 0\n")
    one.write(90)
    refused(one, ".auto/checks.sh is not what the segment's baseline was measured with")


def test_a_fresh_clone_measures_with_what_the_baseline_was_measured_with(one: Project):
    (one.folder / ".auto" / "log.harness.json").unlink()
    (one.folder / ".auto" / "measure.sh").write_text("echo METRIC total_ms=1\n")
    one.git("commit", "--quiet", "-m", "cheat", "--", ".auto/measure.sh")
    one.write(90)
    refused(one, "is not what the segment's baseline was measured with")


def test_a_detached_head(one: Project):
    one.write(90)
    one.git("checkout", "--quiet", "--detach")
    refused(one, "HEAD is detached")


def test_a_merge_in_progress(one: Project):
    one.git("checkout", "--quiet", "-b", "other")
    one.write(50)
    one.git("commit", "--quiet", "-am", "other")
    one.git("checkout", "--quiet", "-")
    one.write(60)
    one.git("commit", "--quiet", "-am", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        one.git("merge", "other")
    refused(one, "a merge is under way")


def test_no_identity(one: Project):
    one.write(90)
    nobody = dict.fromkeys(IDENTITY, "") | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly"}
    nobody |= {"GIT_CONFIG_VALUE_0": "true", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    refused(one, "git does not know whom to name as author", **nobody)


def test_no_repository_and_nothing_committed(tmp_path: Path):
    one = Project(tmp_path / "work")
    one.folder.mkdir()
    assert one.ledger("init", "speed", "--metric", "total_ms", "--direction", "lower").code == 0
    done = one.ledger("run", "--baseline")
    assert done.code == 2 and "is in no git repository" in done.err
    one.git("init", "--quiet")
    done = one.ledger("run", "--baseline")
    assert done.code == 2 and "nothing is committed yet" in done.err


def test_settings_that_say_no(one: Project):
    (one.folder / ".claude" / "autoresearch-ai-plugin.local.md").write_text("---\nenabled: false\n---\n")
    one.write(90)
    refused(one, "enabled: false")
    refused(one, "enabled: false", "loop", "--agent", "true")


def test_a_concluded_session(one: Project):
    assert one.ledger("cancel").code == 0
    one.write(90)
    refused(one, "ledger mark running --restart")
    refused(one, "ledger mark running --restart", "loop", "--resume", "--agent", "true")
    refused(one, "ledger mark running --restart", "init", "more", "--metric", "total_ms", "--direction", "lower")
    refused(one, "ledger mark running --restart", "mark", "done")


def test_a_log_with_errors_and_a_torn_tail(one: Project):
    one.write(90)
    whole = one.log.read_bytes()
    one.log.write_bytes(whole + b'{"run":2,"met')
    refused(one, "L115")
    refused(one, "L115", "log", "--metric", "1", "--status", "keep", "--description", "x")
    one.log.write_bytes(whole[:-1])
    refused(one, "has no newline")
    one.log.write_bytes(whole + b'{"run":2,"metric":NaN}\n')
    refused(one, "L106")


def test_a_second_baseline(one: Project):
    refused(one, "the segment has its baseline, run 1", "run", "--baseline")


def test_a_baseline_that_crashed_is_measured_again(tmp_path: Path):
    one = project(tmp_path / "work")
    measure = one.folder / ".auto" / "measure.sh"
    whole = measure.read_text()
    measure.write_text("exit 1\n")
    one.git("commit", "--quiet", "-am", "broken")
    assert one.ledger("run", "--baseline").out.startswith("Run #1: crash")
    one.write(90)
    done = one.ledger("run", "--description", "x")
    assert done.code == 2 and "the unchanged tree could not be measured" in done.err and one.number() == "90"
    measure.write_text(whole)
    one.git("commit", "--quiet", "-m", "mended", "--", ".auto/measure.sh")
    assert one.ledger("run", "--description", "x").code == 0
    assert [run["status"] for run in one.runs()] == ["crash", "crash", "keep", "keep"]
    assert "S409" in one.ledger("check").out


def test_a_baseline_of_a_changed_tree(tmp_path: Path):
    one = project(tmp_path / "work")
    one.write(90)
    refused(one, "the baseline is the unchanged tree", "run", "--baseline")


def test_a_first_change_measures_the_unchanged_tree_before_it(tmp_path: Path):
    one = project(tmp_path / "work")
    one.write(90)
    (one.folder / "src" / "new.txt").write_text("new\n")
    done = one.ledger("run", "--description", "at once")
    assert done.code == 0, done.err
    assert [(run["metric"], run["status"]) for run in one.runs()] == [(100, "keep"), (90, "keep")]
    assert one.git("show", "--format=", "--name-only", "HEAD").split("\n") == ["src/new.txt", NUMBER]
    check_sound(one)


def test_a_codex_run_elsewhere(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    one.write(90)
    one.git("checkout", "--quiet", "-b", "elsewhere")
    refused(one, "run.json is about branch")
    refused(one, "run.json is about branch", "mark", "blocked", "--reason", "x")
    one.git("checkout", "--quiet", "-")
    one.git("commit", "--quiet", "-am", "by hand")
    one.write(80)
    refused(one, "the history retains")
    one.git("reset", "--quiet", "HEAD~")
    refused(one, "no place for --keep-equal", "run", "--description", "x", "--keep-equal", "simpler")


def test_a_commit_hook_that_says_no(one: Project):
    hook = one.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho never >&2\nexit 1\n")
    hook.chmod(0o755)
    one.write(90)
    refused(one, "never")
    assert not one.log.with_name("log.iteration.json").exists()
    hook.unlink()
    assert one.ledger("run", "--description", "now").code == 0
    check_sound(one)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("true", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=NaN", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=5ms", "printed no METRIC total_ms"),
        ("printf 'METRIC total_ms=\\377\\n'", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=1; exit 3", "exited with status 3"),
        ("kill -9 $$", "killed"),
    ],
)
def test_a_measurement_that_fails_is_a_crash(tmp_path: Path, output: str, why: str):
    one = project(tmp_path / "work")
    (one.folder / "bench.sh").write_text(f'if [ "$(cat {NUMBER})" = 90 ]; then {output}\nelse {_usual()}\nfi\n')
    one.git("commit", "--quiet", "-am", "bench")
    assert one.ledger("run", "--baseline").code == 0
    one.write(90)
    done = one.ledger("run", "--description", "try it")
    assert done.code == 0 and done.out == 'Run #2: crash | total_ms: — | "try it"\n', done
    assert why in one.runs()[-1]["asi"]["error_details"]
    check_sound(one)
    assert one.number() == "100"


def _usual() -> str:
    return f"echo METRIC total_ms=$(cat {NUMBER}); echo METRIC mem=5"


def test_two_values_the_last_counts_and_a_gigabyte_does_no_harm(tmp_path: Path):
    one = project(tmp_path / "work")
    bench = f"{_usual()}\nhead -c 200000000 /dev/zero\necho\necho METRIC total_ms=50\n"
    (one.folder / "bench.sh").write_text(bench)
    one.git("commit", "--quiet", "-am", "bench")
    done = one.ledger("run", "--baseline")
    assert done.code == 0, done.err
    assert (one.runs()[0]["metric"], one.runs()[0]["metrics"]) == (50, {"mem": 5})
    assert (one.folder / "run.log").stat().st_size < 40_000_000
    check_sound(one)


def test_what_measuring_leaves_is_no_part_of_an_experiment(tmp_path: Path):
    one = project(tmp_path / "work")
    bench = f"{_usual()}\nmkdir -p src/cache\necho $RANDOM > src/cache/made.txt\necho $RANDOM > src/tracked.txt\n"
    (one.folder / "bench.sh").write_text(bench)
    (one.folder / "src" / "tracked.txt").write_text("as it was\n")
    one.git("add", "-A")
    one.git("commit", "--quiet", "-m", "bench")
    assert one.ledger("run", "--baseline").code == 0
    one.write(90)
    done = one.ledger("run", "--description", "try it")
    assert done.code == 0 and "src/tracked.txt" in done.err, done
    assert one.git("show", "--format=", "--name-only", "HEAD") == NUMBER
    assert (one.folder / "src" / "tracked.txt").read_text() == "as it was\n"
    kept = one.git("for-each-ref", "--format=%(refname)", "refs/ledger/measured-2-*")
    assert one.git("show", f"{kept}:src/tracked.txt").isdigit()
    assert one.changed() == "?? src/cache/made.txt"


def test_a_full_disk_at_the_append_loses_nothing(one: Project):
    one.write(90)
    size = one.log.stat().st_size

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, size + 40))

    before = one.log.read_bytes()
    env = {**environment(one.home), **IDENTITY, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [
        "log",
        "--metric",
        "90",
        "--status",
        "discard",
        "--description",
        "x",
        "--metrics",
        '{"mem":5}',
        "--no-hooks",
    ]
    done = subprocess.run(
        [*COMMAND, *words], cwd=one.folder, env=env, preexec_fn=fill, capture_output=True, check=False
    )
    assert done.returncode == 2 and b"nothing was written" in done.stderr, done
    assert one.log.read_bytes() == before
    assert one.ledger("check").code == 0


def test_max_regress_keep_equal_and_discard(tmp_path: Path):
    one = project(tmp_path / "work")
    (one.folder / "bench.sh").write_text(f"echo METRIC total_ms=$(cat {NUMBER})\necho METRIC mem=$(cat src/mem.txt)\n")

    def write(number: int, mem: int) -> None:
        one.write(number)
        (one.folder / "src" / "mem.txt").write_text(f"{mem}\n")

    write(100, 100)
    one.git("add", "-A")
    one.git("commit", "--quiet", "-m", "bench")
    assert one.ledger("run", "--baseline").code == 0
    write(90, 151)
    done = one.ledger("run", "--description", "greedy", "--max-regress", "mem=50")
    assert done.out.startswith("Run #2: discard"), done
    assert one.runs()[-1]["asi"]["discard_reason"] == "mem went from 100 to 151, 51 % (limit 50 %)"
    write(90, 150)
    assert one.ledger("run", "--description", "fair", "--max-regress", "mem=50").out.startswith("Run #3: keep")
    write(90, 149)
    assert one.ledger("run", "--description", "equal").out.startswith("Run #4: discard")
    write(90, 149)
    assert one.ledger("run", "--description", "equal", "--keep-equal", "less code").out.startswith("Run #5: keep")
    assert one.runs()[-1]["asi"] == {"keep_reason": "less code"}
    write(80, 149)
    assert one.ledger("run", "--description", "ugly", "--discard", "unreadable").out.startswith("Run #6: discard")
    write(91, 149)
    done = one.ledger("run", "--description", "worse", "--keep-equal", "less code")
    assert done.out.startswith("Run #7: discard")
    check_sound(one)


def test_dry_runs_write_nothing_anywhere(one: Project):
    def everything() -> dict[str, tuple[int, int]]:
        files = (path for path in one.folder.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = everything()
    words = ["log", "--metric", "90", "--status", "keep", "--description", "x", "--metrics", '{"mem":5}', "--dry-run"]
    done = one.ledger(*words)
    assert done.code == 0, done
    record = json.loads(done.out.splitlines()[0])
    assert (record["run"], record["metric"], record["commit"]) == (2, 90, one.git("rev-parse", "HEAD")[:7])
    assert one.ledger("mark", "done", "--dry-run").code == 0
    assert one.ledger("cancel", "--dry-run").code == 0
    assert everything() == before
