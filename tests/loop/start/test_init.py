"""`ledger init`: what it makes in each protocol and layout, what it keeps, and what it refuses beforehand."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ledger.loop.start.session_plan import slug, unit_of
from ledger.session.prompt import lists
from tests.support.cli import ledger
from tests.support.cli import log as write_log
from tests.support.repos import git, repository, session, write

SPEED = ("init", "speed", "--metric", "total_ms", "--direction", "lower")
ERRORS = ("init", "Read every table", "--metric", "errors", "--direction", "lower", "--dialect", "codex")
STATE = "state-protocol"


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def everything(folder: Path) -> dict[str, bytes]:
    """Give all files of a folder, without locks, which are empty, and what git keeps to itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts and path.suffix != ".lock"
    }


def refused(folder: Path, *arguments: object, says: str) -> None:
    """Run a command that must refuse, with this word, and leave every file as it was."""
    before = everything(folder)
    done = session(folder, *arguments)
    assert (done.code, done.out) == (2, "")
    assert re.search(says, done.err), done.err
    assert "Traceback" not in done.err
    assert everything(folder) == before


def sound(folder: Path, name: str) -> None:
    done = ledger(folder, "check", "--format", "json", name)
    assert (done.code, json.loads(done.out)["logs"][0]["diagnostics"]) == (0, [])


def test_a_session_starts_with_its_header_and_marker(tmp_path):
    done = session(tmp_path, *SPEED)
    assert done.code == 0
    assert done.out.splitlines() == [".auto/measure.sh", ".auto/prompt.md", ".auto/ideas.md", ".auto/log.jsonl"]
    assert "next: make .auto/measure.sh measure something" in done.err
    header, marker = (tmp_path / ".auto/log.jsonl").read_text("utf-8").splitlines()
    assert header == (
        '{"type":"config","name":"speed","metricName":"total_ms","metricUnit":"ms","bestDirection":"lower"}'
    )
    marked = json.loads(marker)
    assert (marked["type"], marked["state"]) == ("status", "running")
    assert marked["timestamp"] > 1e11
    sound(tmp_path, ".auto/log.jsonl")
    assert {path.name for path in (tmp_path / ".auto").iterdir()} == {
        "log.jsonl", "log.lock", "measure.sh", "prompt.md", "ideas.md", "AUTORESEARCH_STATE.json",
        "autoresearch-dashboard.md",
    }  # fmt: skip


def test_the_flat_layout_has_files_of_its_own(tmp_path):
    done = session(tmp_path, *SPEED, "--layout", "flat", "--guard", "true", "--max-iterations", "9")
    assert done.out.splitlines() == [
        "autoresearch.sh", "autoresearch.checks.sh", "autoresearch.md", "autoresearch.ideas.md", ".auto/config.json",
        "autoresearch.jsonl",
    ]  # fmt: skip
    sound(tmp_path, "autoresearch.jsonl")
    assert json.loads((tmp_path / ".auto/config.json").read_text("utf-8")) == {"maxIterations": 9}
    assert session(tmp_path, *SPEED).code == 0, "a flat session is not orphaned by the default layout"
    assert not (tmp_path / ".auto/log.jsonl").exists()
    assert len(records(tmp_path / "autoresearch.jsonl")) == 4


def test_a_state_protocol_header_holds_what_the_protocol_has_a_place_for(tmp_path):
    write(tmp_path, "src/a.py")
    done = session(
        tmp_path, *SPEED, "--dialect", STATE, "--min-effect", "3", "--noise-floor", "2.5", "--max-iterations", "30",
        "--max-minutes", "60", "--scope", "src", "--off-limits", "src/a.py", "--target", "12.50", "--unit", "s",
    )  # fmt: skip
    assert done.code == 0, done.err
    (header,) = records(tmp_path / ".auto/log.jsonl")
    created = header.pop("created_at")
    assert header == {
        "type": "config", "schema_version": 1, "name": "speed", "metric": "total_ms", "direction": "lower", "unit": "s",
        "min_effect_size_pct": 3, "noise_floor_pct": 2.5, "max_runs": 30, "max_minutes": 60, "files_in_scope": ["src"],
        "off_limits": ["src/a.py"],
    }  # fmt: skip
    assert created.endswith("Z")
    sound(tmp_path, ".auto/log.jsonl")
    prompt = (tmp_path / ".auto/prompt.md").read_text("utf-8")
    assert "- Target: total_ms at most 12.5 s." in prompt
    assert "Stop after" not in prompt and "noise" not in prompt
    assert not (tmp_path / ".auto/config.json").exists()


def test_the_prompt_keeps_what_the_protocol_has_no_place_for(tmp_path):
    write(tmp_path, "src/a`b.py")
    session(
        tmp_path, *SPEED, "--max-minutes", "60", "--min-effect", "3", "--noise-floor", "2", "--target", "5",
        "--scope", "src/a`b.py", "--scope", "lib/*.py", "--off-limits", "vendor/", "--secondary", "memory_mb",
        "--constraint", "the tests <!-- pass", "--max-iterations", "7",
    )  # fmt: skip
    prompt = (tmp_path / ".auto/prompt.md").read_text("utf-8")
    for said in ("Stop after 60 minutes.", "under 3 %", "under 2 % is noise", "total_ms at most 5 ms", "`memory_mb`"):
        assert said in prompt
    assert "Stop after 7 runs" not in prompt, "the settings keep it"
    assert lists(prompt) == (("src/a`b.py", "lib/*.py"), ("vendor/",))
    assert "METRIC memory_mb=NUMBER" in (tmp_path / ".auto/measure.sh").read_text("utf-8")


@pytest.mark.parametrize("name", ["# Off limits", "<!-- x", 'it\'s "so" `fast` $(rm -rf .) -->', "../../x", "größer"])
def test_hostile_names_are_only_names(tmp_path, name):
    place = repository(tmp_path / "repo")
    done = session(place, "init", name, "--metric", "m", "--direction", "higher", "--git", "--scope", "src")
    assert done.code == 0, done.err
    assert records(place / ".auto/log.jsonl")[0]["name"] == name
    assert lists((place / ".auto/prompt.md").read_text("utf-8")) == (("src",), ())
    assert re.fullmatch(r"autoresearch/[a-z0-9-]+-\d{8}", git(place, "branch", "--show-current"))
    assert {path.name for path in tmp_path.iterdir()} == {"repo"}


def test_scripts_can_be_run(tmp_path):
    session(tmp_path, *SPEED, "--command", "echo METRIC total_ms=4", "--guard", 'test -n "it\'s"')
    for name, says in (("measure.sh", "METRIC total_ms=4\n"), ("checks.sh", "")):
        path = tmp_path / ".auto" / name
        assert path.stat().st_mode & stat.S_IXUSR
        done = subprocess.run([path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, says)


def test_a_measure_script_without_a_command_says_what_to_do(tmp_path):
    session(tmp_path, *SPEED)
    done = subprocess.run([tmp_path / ".auto/measure.sh"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "measure.sh measures nothing yet: edit it so that it prints METRIC total_ms=NUMBER" in done.stderr


@pytest.mark.parametrize(
    ("metric", "unit"),
    [("total_ms", "ms"), ("a.time_s", "s"), ("x_sec", "s"), ("x_seconds", "s"), ("total_µs", "µs"), ("total_μs", "µs"),
     ("x_us", "µs"), ("x_ns", "ns"), ("mem_kb", "kb"), ("mem_MB", "mb"), ("mem_gb", "gb"), ("size_bytes", "bytes"),
     ("hit_pct", "%"), ("hit_percent", "%"), ("accuracy", ""), ("items", ""), ("forms", "")],
)  # fmt: skip
def test_units_are_inferred_from_the_name(metric, unit):
    assert unit_of(metric) == unit


def test_a_stated_unit_wins_even_an_empty_one(tmp_path):
    session(tmp_path, *SPEED, "--unit", "")
    assert records(tmp_path / ".auto/log.jsonl")[0]["metricUnit"] == ""


@pytest.mark.parametrize(
    ("name", "made"), [("Make it FAST!", "make-it-fast"), ("../é", "e"), ("--", "session"), ("a" * 99, "a" * 40)]
)
def test_slugs_are_plain(name, made):
    assert slug(name) == made


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("init", "", "--metric", "m", "--direction", "lower"), "NAME must not be empty"),
        (("init", "a\nb", "--metric", "m", "--direction", "lower"), "NAME must be one line"),
        (("init", "a\x1b[31m", "--metric", "m", "--direction", "lower"), "NAME must be one line"),
        (("init", b"a\xff", "--metric", "m", "--direction", "lower"), "NAME must be UTF-8"),
        (("init", "a", "--metric", "__proto__", "--direction", "lower"), "cannot be the name"),
        (("init", "a", "--metric", "total ms", "--direction", "lower"), "letters, digits"),
        (("init", "a", "--metric", "a=b", "--direction", "lower"), "letters, digits"),
        ((*SPEED, "--secondary", "total_ms"), "primary metric already"),
        ((*SPEED, "--secondary", "constructor"), "cannot be the name"),
        ((*SPEED, "--target", "nan"), "decimal"),
        ((*SPEED, "--target", "1e999"), "past every double"),
        ((*SPEED, "--min-effect", "-1"), "--min-effect must be 0 or more"),
        ((*SPEED, "--max-minutes", "-0.5"), "--max-minutes must be 0 or more"),
        ((*SPEED, "--max-iterations", "-1"), "max-iterations"),
        ((*SPEED, "--scope", "../x"), "without '..'"),
        ((*SPEED, "--scope", "a/../../x"), "without '..'"),
        ((*SPEED, "--scope", "/etc"), "relative path"),
        ((*SPEED, "--off-limits", "a\nb"), "one line"),
        ((*SPEED, "--scope", ""), "must not be empty"),
        ((*SPEED, "--constraint", "a\nb"), "one line"),
        ((*SPEED, "--command", " "), "--command must not be empty"),
        ((*SPEED, "--json-key", "x"), "--json-key is for --dialect codex"),
        ((*SPEED, "--log", "events.jsonl"), "is named autoresearch-results/events.jsonl"),
        ((*SPEED, "--direction", "up"), "lower"),
        ((*SPEED, "--git"), "needs a repository"),
        (ERRORS, "cannot do without --command and --target and --scope"),
        ((*ERRORS, "--command", "x", "--target", "0", "--scope", "src/*.py"), "without globs"),
        ((*ERRORS, "--command", "x", "--target", "0", "--scope", "src"), "needs a git repository"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_is_written(tmp_path, arguments, says):
    refused(tmp_path, *(os.fsdecode(one) if isinstance(one, bytes) else one for one in arguments), says=says)


def test_a_missing_scope_path_is_told(tmp_path):
    done = session(tmp_path, *SPEED, "--scope", "nowhere.py", "--scope", "*.py")
    assert done.code == 0
    assert "there is no nowhere.py yet" in done.err
    assert "*.py" not in done.err


def test_a_dry_run_writes_nothing(tmp_path):
    place = repository(tmp_path / "repo")
    before = git(place, "log", "--all", "--format=%H %D")
    for more in ((), ("--git",), ("--dialect", STATE, "--layout", "flat")):
        done = session(place, *SPEED, *more, "--dry-run")
        assert done.code == 0 and "nothing was written" in done.err
        assert done.out.splitlines()[-1] in (".auto/log.jsonl", "autoresearch.jsonl")
    done = session(place, *ERRORS, "--command", "touch ran", "--target", "0", "--scope", "src", "--git", "--dry-run")
    assert done.code == 0 and "autoresearch-results/run.json" in done.out.splitlines()
    assert set(everything(place)) == {"src/a.py"}
    assert git(place, "log", "--all", "--format=%H %D") == before
    session(place, *SPEED)
    saved = everything(place)
    assert session(place, *SPEED, "--dry-run").code == 0
    assert everything(place) == saved


def test_existing_files_are_kept_and_named(tmp_path):
    for name in (".auto/prompt.md", ".auto/measure.sh", ".auto/config.json"):
        write(tmp_path, name, "{}\n")
    done = session(
        tmp_path, *SPEED, "--max-iterations", "5", "--command", "./bench", "--target", "7", "--guard", "true"
    )
    assert done.code == 0, done.err
    assert done.out.splitlines() == [".auto/checks.sh", ".auto/ideas.md", ".auto/log.jsonl"]
    assert "kept as it is: .auto/measure.sh, .auto/prompt.md, .auto/config.json" in done.err
    assert "put into .auto/prompt.md yourself: Target: total_ms at most 7 ms.; Stop after 5 runs." in done.err
    assert "put into .auto/measure.sh yourself: ./bench" in done.err
    assert "the limit of 5 runs holds only if .auto/config.json says so" in done.err
    assert {(tmp_path / ".auto" / name).read_text() for name in ("prompt.md", "measure.sh", "config.json")} == {"{}\n"}


def test_a_limit_goes_into_the_prompt_where_the_settings_are_kept(tmp_path):
    write(tmp_path, ".auto/config.json", '{"maxIterations": 3}\n')
    session(tmp_path, *SPEED, "--max-iterations", "5")
    assert "- Stop after 5 runs." in (tmp_path / ".auto/prompt.md").read_text("utf-8")


def test_a_log_that_is_there_gets_a_new_segment(tmp_path):
    session(tmp_path, *SPEED)
    again = ("init", "memory", "--metric", "mem_kb", "--direction", "lower")
    done = session(tmp_path, *again)
    assert "segment 0 of .auto/log.jsonl had no run yet: the new header takes the old one's place" in done.err
    assert ledger(tmp_path, "log", "--metric", 5, "--status", "keep", "--description", "baseline").code == 0
    done = session(tmp_path, *again, "--unit", "KB")
    assert (done.code, done.out) == (0, "")
    assert "segment 1 begins in .auto/log.jsonl" in done.err
    assert ".auto/prompt.md still describes the old target" in done.err
    assert ".auto/measure.sh has to print METRIC mem_kb=NUMBER" in done.err
    kinds = [record.get("state") or record.get("type") for record in records(tmp_path / ".auto/log.jsonl")]
    assert kinds == ["config", "running", "config", "running", None, "config", "running"]
    assert ledger(tmp_path, "check").code == 0
    assert "SEGMENT_RUNS=0" in ledger(tmp_path, "verdict").out


def test_what_stands_against_a_new_segment_is_refused(tmp_path):
    session(tmp_path, *SPEED)
    log = tmp_path / ".auto/log.jsonl"
    refused(tmp_path, *SPEED, "--dialect", STATE, says="is a autoresearch log: give --dialect autoresearch")
    refused(tmp_path, *SPEED, "--layout", "flat", says=r"\.auto/log\.jsonl is the session here")
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"run":1,')
    refused(tmp_path, *SPEED, says="nothing is written to a log with errors")
    log.write_bytes(whole)
    assert ledger(tmp_path, "mark", "done").code == 0
    refused(tmp_path, *SPEED, says="the session is concluded")


def test_a_named_log_may_be_anywhere(tmp_path):
    done = session(tmp_path, *SPEED, "--log", "results/first.jsonl")
    assert done.out.splitlines()[-1] == "results/first.jsonl"
    assert (tmp_path / "results/autoresearch.sh").exists()
    sound(tmp_path, "results/first.jsonl")
    assert session(tmp_path, *SPEED, "--log", "results/first.jsonl").code == 0
    assert len(records(tmp_path / "results/first.jsonl")) == 4


def test_settings_may_name_the_folder_to_work_in(tmp_path):
    write(tmp_path, ".auto/config.json", '{"workingDir": "sub"}\n')
    refused(tmp_path, *SPEED, says="a working folder that is not there")
    (tmp_path / "sub").mkdir()
    assert session(tmp_path, *SPEED).out.splitlines()[-1] == "sub/.auto/log.jsonl"
    assert ledger(tmp_path, "verdict").code == 0 or ledger(tmp_path / "sub", "verdict").code == 0


@pytest.mark.parametrize("layout", ["auto", "flat"])
def test_git_branches_off_and_commits_only_what_init_made(tmp_path, layout):
    place = repository(tmp_path / "repo", "src/a.py", ".gitignore")
    write(place, ".gitignore", "*.pyc")
    git(place, "commit", "--all", "--quiet", "--message", "no newline")
    write(place, "src/a.py", "changed\n")
    write(place, "new.py")
    git(place, "add", "new.py")
    done = session(place, *SPEED, "--layout", layout, "--git", "--guard", "true", "--max-iterations", "3")
    assert done.code == 0, done.err
    assert git(place, "log", "--format=%s", "main..").splitlines() == [
        "autoresearch: add the measuring harness", "autoresearch: add session files to gitignore",
    ]  # fmt: skip
    scripts = (
        [".auto/checks.sh", ".auto/measure.sh"] if layout == "auto" else ["autoresearch.checks.sh", "autoresearch.sh"]
    )
    assert git(place, "diff", "--name-only", "main", "HEAD").splitlines() == sorted([*scripts, ".gitignore"])
    assert git(place, "ls-tree", "HEAD", scripts[0]).startswith("100755")
    assert git(place, "status", "--short").splitlines() == ["A  new.py", " M src/a.py"]
    assert (place / ".gitignore").read_text("utf-8").startswith("*.pyc\n/")
    for name in ("run.log", ".claude/x.local.md", "AUTORESEARCH_STATE.json", ".auto/config.json"):
        write(place, name)
    assert len(git(place, "status", "--short").splitlines()) == 2


def test_a_branch_that_exists_gets_a_number_and_a_segment_stays(tmp_path):
    place = repository(tmp_path / "repo")
    session(place, *SPEED, "--git", "--log", "a.jsonl")
    first = git(place, "branch", "--show-current")
    git(place, "checkout", "--quiet", "main")
    session(place, *SPEED, "--git")
    assert git(place, "branch", "--show-current") == f"{first}-2"
    head = git(place, "rev-parse", "HEAD")
    assert session(place, *SPEED, "--git").code == 0
    assert git(place, "branch", "--show-current") == f"{first}-2"
    assert git(place, "rev-parse", "HEAD") == head


def test_a_tracked_log_is_told(tmp_path):
    place = repository(tmp_path / "repo", ".auto/prompt.md")
    assert "git tracks .auto/prompt.md, which no revert may touch" in session(place, *SPEED, "--git").err


def test_a_harness_of_one_s_own_is_committed_as_it_is(tmp_path):
    place = repository(tmp_path / "repo")
    write(place, ".auto/measure.sh", "echo METRIC total_ms=1\n")
    assert session(place, *SPEED, "--git").code == 0
    assert git(place, "show", "HEAD:.auto/measure.sh") == "echo METRIC total_ms=1"
    write(place, ".auto/measure.sh", "echo METRIC total_ms=2\n")
    refused(place, *SPEED, "--git", says=r"\.auto/measure\.sh has changes that are not committed")


def test_in_a_subfolder_the_ignored_files_are_that_folder_s(tmp_path):
    place = repository(tmp_path / "repo", "deep/er/a.py")
    inner = place / "deep/er"
    assert session(inner, *SPEED, "--git").code == 0
    assert not (place / ".gitignore").exists()
    assert "/.auto/*" in (inner / ".gitignore").read_text("utf-8").splitlines()
    assert git(place, "status", "--short") == ""
    assert "deep/er/.auto/measure.sh" in git(place, "ls-files").splitlines()


def test_what_stands_against_git_is_refused(tmp_path):
    place = tmp_path / "repo"
    place.mkdir()
    git(place, "init", "--quiet")
    refused(place, *SPEED, "--git", says="needs a commit")
    repository(place)
    write(place, ".gitignore", "x\n")
    refused(place, *SPEED, "--git", says=r"\.gitignore has changes that are not committed")
    (place / ".gitignore").unlink()
    (place / ".git/MERGE_HEAD").write_text(git(place, "rev-parse", "HEAD") + "\n")
    refused(place, *SPEED, "--git", says="a merge is under way")
    (place / ".git/MERGE_HEAD").unlink()
    write(place, ".gitignore", ".auto/\n")
    git(place, "add", ".gitignore")
    git(place, "commit", "--quiet", "--message", "ignore")
    refused(place, *SPEED, "--git", says=r"git ignores \.auto")
    done = session(place, *SPEED, "--layout", "flat", "--git", GIT_AUTHOR_NAME="", GIT_COMMITTER_NAME="")
    assert done.code == 2 and "git does not know who commits" in done.err
    assert not (place / "autoresearch.jsonl").exists()


def codex(place: Path, *more: str, command: str = "cat errors.txt", **options: str) -> Any:
    given = {"--target": "0", "--scope": "src", **options}
    return session(place, *ERRORS, "--command", command, *(word for pair in given.items() for word in pair), *more)


def test_a_codex_run_begins_with_a_measured_baseline(tmp_path):
    place = repository(tmp_path / "repo", "src/a.py", "errors.txt")
    write(place, "errors.txt", "working\n47\n")
    git(place, "commit", "--all", "--quiet", "--message", "errors")
    done = codex(
        place, "--guard", "echo guarded", "--max-iterations", "20", "--max-minutes", "9", "--off-limits", "src/a.py"
    )
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        f"autoresearch-results/{name}"
        for name in ("prompt.md", "ideas.md", "logs/000.verify.log", "logs/000.guard.log", "run.json", "events.jsonl")
    ]
    results = place / "autoresearch-results"
    config = json.loads((results / "run.json").read_text("utf-8"))
    assert re.fullmatch(r"\d{8}T\d{6}Z-read-every-table", config.pop("run_id"))
    assert config.pop("created_at").endswith("Z")
    assert config == {
        "schema_version": 1, "repo": str(place.resolve()), "branch": "main", "mode": "foreground",
        "goal": "Read every table", "scope": ["src"],
        "metric": {"name": "errors", "direction": "lower", "command": "cat errors.txt", "json_key": None},
        "guard": "echo guarded", "target": 0, "max_iterations": 20, "timeout_seconds": 600, "background": None,
    }  # fmt: skip
    (baseline,) = records(results / "events.jsonl")
    assert (baseline["event"], baseline["seq"], baseline["metric"]) == ("baseline", 0, 47)
    assert baseline["head"] == git(place, "rev-parse", "HEAD")
    assert (results / baseline["verify_log"]).read_text("utf-8") == "working\n47\n"
    assert (results / baseline["guard_log"]).read_text("utf-8") == "guarded\n"
    sound(place, "autoresearch-results")
    prompt = (results / "prompt.md").read_text("utf-8")
    assert "- Stop after 9 minutes." in prompt and "Stop after 20" not in prompt
    assert lists(prompt).off_limits == ("src/a.py",)
    refused(place, *ERRORS, "--command", "x", "--target", "0", "--scope", "src", says="ledger archive")


def test_a_target_met_at_once_completes_the_run(tmp_path):
    place = repository(tmp_path / "repo")
    done = codex(place, "--json-key", "n", command="""echo '{"n": 3.50}'""", **{"--target": "3.5"})
    assert done.code == 0 and "the target is met already" in done.err and "ledger loop" not in done.err
    baseline, complete = records(place / "autoresearch-results/events.jsonl")
    assert (complete["event"], complete["seq"], complete["metric"]) == ("complete", 1, 3.5)
    assert complete["head"] == baseline["head"]
    sound(place, "autoresearch-results")


@pytest.mark.parametrize(
    ("command", "guard", "says"),
    [
        ("echo so; echo bad >&2; exit 3", "true", "measurement exited with status 3(.|\n)*bad"),
        ("echo many", "true", "the measurement .*"),
        ("echo NaN", "true", "the measurement .*"),
        ("echo 5", "echo broken; false", "guard exited with status 1(.|\n)*broken"),
        ("echo 5; echo x >> src/a.py", "true", "the measurement changed src/a.py"),
    ],
)
def test_without_a_baseline_there_is_no_run(tmp_path, command, guard, says):
    place = repository(tmp_path / "repo")
    done = codex(place, "--git", "--guard", guard, command=command)
    assert done.code == 2 and re.search(says, done.err) and "Traceback" not in done.err
    results = place / "autoresearch-results"
    assert (results / "logs/000.verify.log").exists()
    assert not (results / "run.json").exists() and not (results / "events.jsonl").exists()
    assert git(place, "branch", "--show-current") == "main"
    git(place, "checkout", "--quiet", "src/a.py")
    assert codex(place, command="echo 5").code == 0


def test_a_codex_run_needs_a_clean_branch(tmp_path):
    place = repository(tmp_path / "repo")
    more = ("--command", "echo 1", "--target", "0", "--scope", "src")
    write(place, "new.py")
    refused(place, *ERRORS, *more, says="must be clean, these are changed: new.py")
    (place / "new.py").unlink()
    git(place, "checkout", "--quiet", "--detach")
    refused(place, *ERRORS, *more, says="HEAD is detached")
    done = codex(place, "--git", command="touch left.txt; echo 1")
    assert done.code == 0, done.err
    assert "the measurement left left.txt" in done.err
    config = json.loads((place / "autoresearch-results/run.json").read_text("utf-8"))
    assert config["branch"] == git(place, "branch", "--show-current")
    assert config["branch"].startswith("autoresearch/read-every-table-")
    (baseline,) = records(place / "autoresearch-results/events.jsonl")
    assert baseline["head"] == git(place, "rev-parse", "HEAD")
    assert git(place, "status", "--short") == "?? left.txt"


def test_a_run_that_never_began_gives_way(tmp_path):
    place = repository(tmp_path / "repo")
    write(place, "autoresearch-results/run.json", "{half")
    assert codex(place, command="echo 5").code == 0
    sound(place, "autoresearch-results")


def test_sessions_of_two_protocols_do_not_hide_one_another(tmp_path):
    place = repository(tmp_path / "repo")
    assert codex(place, command="echo 5").code == 0
    refused(place, *SPEED, says="events.jsonl is the session here")
    other = repository(tmp_path / "other")
    write_log(other, (place / "autoresearch-results/events.jsonl").read_bytes(), "x.jsonl")
    refused(other, *SPEED, "--log", "x.jsonl", says="errors")
