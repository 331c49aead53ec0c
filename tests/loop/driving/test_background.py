"""A loop in the background: begun, looked at, asked to stop, cancelled, killed, begun again."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import environment
from tests.support.project import IDENTITY, Project, bare, check_sound
from tests.support.waiting import begun, gated, is_dead, twin, until

AGENT = "echo 90 > src/number.txt"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return gated(tmp_path_factory.mktemp("template") / "work")


@pytest.fixture
def one(template: Project, tmp_path: Path) -> Project:
    return twin(template, tmp_path / "work")


def detach(one: Project, *arguments: str) -> int:
    """Start a loop and give its process."""
    done = one.ledger("loop", *arguments, "--detach")
    assert done.code == 0, done.err
    found = re.fullmatch(
        r"the loop is at work: alive, process (\d+), since \d{4}-\d\d-\d\dT[\d:]+Z; .* for \d+ s\n", done.out
    )
    assert found, done.out
    assert "log.runtime.log; see ledger status, ledger stop" in done.err
    return int(found[1])


def alive(one: Project) -> str:
    return next(line for line in one.ledger("status").out.splitlines() if line.startswith("loop")).split(None, 1)[1]


def ended(one: Project) -> list[str]:
    """Wait until the loop has ended, and give its output."""
    until(lambda: alive(one) == "not running", "the end of the loop")
    return (one.folder / ".auto" / "log.runtime.log").read_text().splitlines()


def test_a_loop_is_begun_seen_and_asked_to_stop(one: Project):
    process = detach(one, "--agent", AGENT)
    begun(one)
    assert re.fullmatch(rf"alive, process {process}, since .*Z; measuring for \d+ s", alive(one))
    assert "half done" not in one.ledger("status").out
    for words in (("loop", "--agent", AGENT), ("loop", "--agent", AGENT, "--detach"), ("run", "--description", "x")):
        refused = one.ledger(*words)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == f"ledger: a loop is at work already (process {process}); ledger stop ends it\n"
    done = one.ledger("stop")
    assert (done.code, done.out) == (0, f"the loop (process {process}) stops after this cycle\n")
    assert alive(one).startswith("alive")
    (one.home / "go").touch()
    output = ended(one)
    assert (
        output[-1] == "Status: STOPPED" and 'Run #2: keep | total_ms: 90 (-10.0%) | "change src/number.txt"' in output
    )
    assert one.records()[-1]["run"] == 2
    check_sound(one)
    done = one.ledger("stop")
    assert (done.code, done.out, done.err) == (0, "", "ledger: no loop is at work here\n")


def test_a_stale_wish_to_stop_stops_no_new_loop_and_resume_knows_the_agent(one: Project):
    (one.home / "go").touch()
    agent = "echo $((100 - LEDGER_RUN)) > src/number.txt"
    assert one.ledger("loop", "--agent", agent, "--max-iterations", "2").out.endswith("Status: DONE (max_iterations)\n")
    assert one.ledger("mark", "running", "--restart").code == 0
    one.log.with_name("log.stop").write_text("after this cycle\n")
    done = one.ledger("loop", "--resume", "--detach", "--max-iterations", "4")
    assert done.code == 0, done.err
    assert ended(one)[-1] == "Status: DONE (max_iterations)"
    assert [run["metric"] for run in one.runs()] == [100, 98, 97, 96]


def test_stop_now_undoes_the_cycle(one: Project):
    process = detach(one, "--agent", AGENT)
    begun(one)
    done = one.ledger("stop", "--now")
    assert (done.code, done.out) == (0, f"the loop (process {process}) stops at once\n")
    output = ended(one)
    assert output[-1] == "Status: STOPPED" and "Traceback" not in "".join(output)
    assert len(one.runs()) == 1 and one.number() == "90" and one.changed()
    assert not one.log.with_name("log.iteration.json").exists()
    assert is_dead(one.home / "begun") and is_dead(one.home / "child")
    assert one.ledger("verdict").out.endswith("VERDICT=continue\n")


def test_cancel_waits_for_the_cycle(one: Project):
    process = detach(one, "--agent", AGENT)
    begun(one)
    cancel = one.start("cancel", stdout=-1, stderr=-1)
    until(lambda: one.log.with_name("log.stop").exists(), "the wish to stop")
    assert one.records()[-1]["run"] == 1 and cancel.poll() is None
    (one.home / "go").touch()
    out, err = cancel.communicate(timeout=30)
    assert cancel.returncode == 0, err
    assert f"the loop (process {process}) finishes its cycle first: measuring".encode() in err
    assert out.startswith(b"speed: 2 runs, 2 kept\nbest total_ms: 90 ms (run 2), 10.0% better than the baseline\n")
    assert [record.get("state", record.get("run")) for record in one.records()[-2:]] == [2, "cancelled"]
    check_sound(one)


def test_a_killed_loop_is_not_alive_and_its_iteration_is_finished_by_the_next(one: Project):
    process = detach(one, "--agent", AGENT)
    begun(one)
    os.kill(process, signal.SIGKILL)
    until(lambda: alive(one) == "not running", "the end of the loop")
    assert "run 2: the next ledger run or loop finishes it or undoes it" in one.ledger("status").out
    os.killpg(os.getpgid(int((one.home / "begun").read_text())), signal.SIGKILL)
    (one.home / "go").touch()
    done = one.ledger("loop", "--resume", "--max-iterations", "2")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert "run 2 was left half done" in done.err
    check_sound(one)


def test_what_fails_at_once_says_why(tmp_path: Path, one: Project):
    assert one.ledger("cancel").code == 0
    refused = one.ledger("loop", "--agent", AGENT, "--detach")
    assert (refused.code, refused.out) == (2, "")
    assert "the loop ended at once: the session is concluded (cancelled); ledger mark running" in refused.err
    other = Project(tmp_path / "other")
    other.folder.mkdir()
    assert other.ledger("init", "speed", "--metric", "total_ms", "--direction", "lower").code == 0
    refused = other.ledger("loop", "--agent", AGENT, "--detach")
    assert refused.code == 2 and "is in no git repository" in refused.err
    refused = bare(tmp_path / "none").ledger("loop", "--agent", AGENT, "--detach")
    assert refused.code == 2 and "No active session" in refused.err


def test_a_loop_that_is_over_at_once_is_not_called_alive(one: Project):
    done = one.ledger("loop", "--agent", AGENT, "--max-iterations", "1", "--detach")
    assert done.code == 0, done.err
    assert done.out.startswith(("the loop has ended already: Status: DONE (max_iterations)", "the loop is at work"))
    assert ended(one)[-1] == "Status: DONE (max_iterations)"


def test_files_of_the_project_stand_in_for_no_library(one: Project):
    (one.home / "go").touch()
    for name in ("click", "random", "ledger"):
        (one.folder / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    (one.folder / ".git" / "info" / "exclude").write_text("/*.py\n")
    words = [sys.executable, "-P", "-m", "ledger", "loop", "--agent", AGENT, "--max-iterations", "2", "--detach"]
    env = {**environment(one.home), **IDENTITY}
    done = subprocess.run(words, cwd=one.folder, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    until(lambda: len(one.runs()) == 2, "the run")


def test_settings_that_name_another_folder_hold_in_the_background(tmp_path: Path):
    one = bare(tmp_path / "work")
    inner = one.folder / "inner"
    inner.mkdir()
    (one.folder / ".auto").mkdir()
    (one.folder / ".auto" / "config.json").write_text(json.dumps({"workingDir": "inner", "maxIterations": 2}))
    (inner / "bench.sh").write_text("echo METRIC total_ms=$(cat number.txt)\n")
    (inner / "number.txt").write_text("100\n")
    init = ("init", "speed", "--metric", "total_ms", "--direction", "lower", "--command", "bash bench.sh", "--git")
    assert one.ledger(*init).code == 0
    one.git("add", "-A")
    one.git("commit", "--quiet", "-m", "inner")
    done = one.ledger("loop", "--agent", "echo 9 > number.txt", "--detach")
    assert done.code == 0, done.err
    log = inner / ".auto" / "log.jsonl"
    until(lambda: b'"done"' in log.read_bytes(), "the limit of the settings")
    assert log.read_bytes().count(b'"run":') == 2


def test_a_damaged_state_of_a_live_loop_is_nobodys_word(one: Project):
    process = detach(one, "--agent", AGENT)
    begun(one)
    state = one.log.with_name("log.loop.json")
    whole = json.loads(state.read_text())
    assert whole["pid"] == process
    for damaged in ('{"pid":"x","began_ms":[],"step":1,"since_ms":null,"agent":{}}', "[]", "{", "", "\x00"):
        state.write_text(damaged)
        done = one.ledger("status")
        assert done.code == 0 and "Traceback" not in done.err
    refused = one.ledger("loop", "--agent", AGENT)
    assert refused.code == 2 and "another loop is starting here" in refused.err
    state.write_text(json.dumps(whole | {"step": "\x1b[31mred\x07"}))
    assert "red" in one.ledger("status").out and "\x1b" not in one.ledger("status").out
    os.kill(process, signal.SIGTERM)
    (one.home / "go").touch()
    ended(one)
