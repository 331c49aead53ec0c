"""Kill -9 at any moment: the log stays sound, the iteration is finished or undone by the next call, no work is lost.

LEDGER_KILLS says how many kills a test does; a hundred and more are for a longer run.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import environment
from tests.support.project import IDENTITY, Project, best_commit, project
from tests.support.waiting import until

SOUND = "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n"
KILLS = int(os.environ.get("LEDGER_KILLS", "5"))


def kill(one: Project, after: float, *arguments: object, group: bool = False) -> None:
    """Start a command and kill it, or its whole group, after so many seconds."""
    child = one.start(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(after)
    if group and child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()


def duration(one: Project, *arguments: object) -> float:
    started = time.monotonic()
    assert one.ledger(*arguments).code == 0
    return time.monotonic() - started


def check_recovered(one: Project) -> None:
    """Assert that nothing is half done: the log sound, the tree clean, HEAD at the best kept run's content."""
    assert not one.log.with_name(f"{one.log.stem}.iteration.json").exists()
    done = one.ledger("check", one.log)
    assert (done.code, done.out) == (0, SOUND), done.out
    assert one.changed() == ""
    assert one.git("rev-parse", f"{best_commit(one)}:src") == one.git("rev-parse", "HEAD:src")


def streak(one: Project) -> int:
    values = dict(line.split("=") for line in one.ledger("verdict").out.splitlines())
    return int(values["STREAK"])


@pytest.mark.parametrize("dialect", ["autoresearch", "state-protocol", "codex"])
def test_a_killed_run_is_recovered(tmp_path: Path, dialect: str):
    rng = random.Random(dialect)
    one = project(tmp_path / "work", dialect)
    if dialect != "codex":
        assert one.ledger("run", "--baseline").code == 0
    one.write(99)
    whole, best = duration(one, "run", "--description", "how long it takes"), 99
    for turn in range(KILLS):
        one.write(rng.choice([best - 1, best + 1, 66]))
        kill(one, rng.uniform(0.05, whole), "run", "--description", f"turn {turn}", group=rng.random() < 0.5)
        if edited := rng.random() < 0.3:
            one.write(best + 2)
        done = one.ledger("run", "--description", f"after turn {turn}")
        if done.code:
            assert "nothing was changed" in done.err and not edited, done
        check_recovered(one)
        best = int(one.number())
        if streak(one) >= 6:  # no wall
            best -= 1
            one.write(best)
            assert one.ledger("run", "--description", "a step").code == 0
    story = one.git("log", "--format=%s").splitlines()
    tried = [subject for subject in story if subject.startswith("experiment: ")]
    undone = [subject for subject in story if subject.startswith("Revert ")]
    kept = sum(_is_kept(record) for record in one.records())
    assert len(tried) - len(undone) == kept


def _is_kept(record: dict[str, object]) -> bool:
    said = (record.get("status"), record.get("action"), record.get("outcome"))
    return "keep" in said and record.get("description") != "baseline"


def test_a_killed_log_leaves_whole_lines(tmp_path: Path):
    rng = random.Random(1)
    one = project(tmp_path / "work")
    words = ("log", "--metric", "100", "--status", "discard", "--metrics", '{"mem":5}', "--description")
    whole = duration(one, *words, "how long it takes")
    for turn in range(KILLS):
        before = one.log.read_bytes()
        kill(one, rng.uniform(0.03, whole), *words, f"turn {turn}" * 50)
        after = one.log.read_bytes()
        assert after.startswith(before) and after.endswith(b"\n")
        done = one.ledger("check", one.log)
        assert (done.code, done.out) == (0, SOUND), done.out
        assert one.ledger(*words, f"after {turn}").code == 0
        if turn % 4 == 3:  # no wall
            assert (
                one.ledger(
                    "log", "--metric", "90", "--status", "keep", "--metrics", '{"mem":5}', "--description", "x"
                ).code
                == 0
            )
    numbers = [run["run"] for run in one.runs()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_line_that_was_cut_short_is_completed_by_its_own_journal(tmp_path: Path):
    one = _stopped_before_the_append(tmp_path)
    journal = _journal(one)
    with one.log.open("ab") as file:
        file.write(journal["lines"].encode()[:40])
    assert one.ledger("check").code == 1
    refused = one.ledger("log", "--metric", "1", "--status", "discard", "--description", "x")
    assert refused.code == 2 and "L115" in refused.err
    done = one.ledger("run", "--description", "next")
    assert "run 2 was left half done" in done.err and "run 2 is finished now" in done.err
    assert one.runs()[-1]["description"] == "try it"
    check_recovered(one)


def test_a_line_that_somebody_else_wrote_is_not_taken_for_ours(tmp_path: Path):
    one = _stopped_before_the_append(tmp_path)
    words = ("log", "--metric", "100", "--status", "discard", "--metrics", '{"mem":5}', "--description")
    assert one.ledger(*words, "by hand").code == 0
    assert one.ledger("run", "--description", "next").code in (0, 2)
    assert [(run["run"], run["description"]) for run in one.runs()[1:]] == [(2, "by hand"), (3, "try it")]
    check_recovered(one)


def _stopped_before_the_append(tmp_path: Path) -> Project:
    """Make a project whose iteration was killed between its decision and the log, by a disk that was full."""
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    one.write(120)
    size = one.log.stat().st_size
    script = (
        "import resource, sys; from ledger.session import history;"
        f"limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
        "history.append_to = lambda *_: limit() or sys.exit('killed');"
        "from ledger.cli import main; sys.argv = ['ledger', 'run', '--description', 'try it']; main()"
    )
    env = {**environment(one.home), **IDENTITY}
    subprocess.run([sys.executable, "-c", script], cwd=one.folder, env=env, check=False, capture_output=True)
    assert _journal(one)["lines"]
    assert len(one.runs()) == 1 and one.number() == "120"
    return one


def _journal(one: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(one.log.with_name("log.iteration.json").read_bytes())
    return found


def _attempts(one: Project) -> int:
    path = one.log.with_name("log.iteration.json")
    return int(json.loads(path.read_bytes())["attempts"]) if path.exists() else 0


def test_a_measurement_that_kills_its_machine_twice_is_a_crash(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    one.write("hang")
    for attempt in (1, 2):
        child = one.start("run", "--description", "hang", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda count=attempt: _attempts(one) == count, "the measurement")  # type: ignore[misc]
        child.kill()
        child.wait()
    done = one.ledger("run", "--description", "next")
    assert "killed from outside 2 times" in done.err, done
    last = one.runs()[-1]
    assert (last["status"], last["description"]) == ("crash", "hang")
    check_recovered(one)


def test_an_interrupted_revert_is_done_again(tmp_path: Path):
    one = project(tmp_path / "work")
    assert one.ledger("run", "--baseline").code == 0
    one.write(120)
    script = '#!/bin/sh\ncase $1 in revert) git checkout -q HEAD~ -- src; exec kill -9 $PPID ;; esac\nexec {git} "$@"\n'
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(script.format(git=shutil.which("git")))
    fake.chmod(0o755)
    killed = one.ledger("run", "--description", "try it", PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert killed.code == -signal.SIGKILL
    assert _journal(one)["reverting"] is True and one.changed() != ""
    lock = one.folder / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    done = one.ledger("run", "--description", "next")
    assert "run 2 is finished now" in done.err and "which a killed git left" in done.err, done
    assert one.number() == "100"
    check_recovered(one)


def test_head_moved_under_an_iteration(tmp_path: Path):
    one = _stopped_before_the_append(tmp_path)
    one.git("commit", "--quiet", "--allow-empty", "-m", "by hand")
    done = one.ledger("run", "--description", "next")
    assert done.code == 2 and "HEAD was moved" in done.err and "log.iteration.json" in done.err
    one.git("reset", "--quiet", "HEAD~")
    assert one.ledger("run", "--description", "next").code in (0, 2)
    check_recovered(one)
