"""Interrupts: a loop finishes its cycle or stops at once, a run is undone, and nothing is left half done or running."""

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project, check_sound, project
from tests.support.waiting import begun, gate, gated, hear_hang_ups, ignore_hang_ups, is_dead, twin, until

AGENT = "echo 90 > src/number.txt"
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return gated(tmp_path_factory.mktemp("template") / "work")


@pytest.fixture
def one(template: Project, tmp_path: Path) -> Project:
    return twin(template, tmp_path / "work")


@pytest.fixture
def start() -> Iterator[Start]:
    """Start commands in a project; none of them, nor a pipe to it, outlives a test that fails."""
    started: list[subprocess.Popen[str]] = []

    def start(one: Project, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        begun = one.start(*arguments, **pipes, **options, text=True)
        started.append(begun)  # type: ignore[arg-type]
        return begun  # type: ignore[return-value]

    yield start
    for process in started:
        end(process)


def end(process: "subprocess.Popen[str]") -> None:
    """End a command that is at work still, and first ask it to, since it knows its own children."""
    deadline = time.monotonic() + 10
    with process:  # which closes its pipes
        while process.poll() is None and time.monotonic() < deadline:
            process.terminate()
            time.sleep(0.1)
        process.kill()


def check_undone(one: Project) -> None:
    """Assert that the change is in the tree again, uncommitted, and that nothing else is left of its iteration."""
    assert len(one.runs()) == 1
    assert one.changed() in ("M src/number.txt", "M  src/number.txt")
    assert one.git("log", "-1", "--format=%s") == "bench"
    assert not one.log.with_name("log.iteration.json").exists()
    assert not (one.folder / ".git" / "index.lock").exists()
    assert one.ledger("check").code == 0
    for name in ("begun", "child"):
        until(lambda name=name: is_dead(one.home / name), f"the end of {name}")  # type: ignore[misc]
    (one.home / "go").touch()
    done = one.ledger("run", "--description", "again")
    assert (done.code, done.out[:12]) == (0, "Run #2: keep"), done.err
    check_sound(one)


def heard(loop: "subprocess.Popen[str]") -> None:
    """Wait until the loop has heard the first interrupt: two that come at once are one."""
    assert loop.stderr is not None
    for line in loop.stderr:
        if "finishing the running cycle" in line:
            return
    raise AssertionError("the loop ended instead")


def test_the_first_interrupt_finishes_the_cycle(one: Project, start: Start):
    loop = start(one, "loop", "--agent", AGENT)
    begun(one)
    loop.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert loop.poll() is None
    (one.home / "go").touch()
    out, err = loop.communicate(timeout=30)
    assert (loop.returncode, out.splitlines()[-1]) == (130, "Status: STOPPED"), err
    assert "finishing the running cycle; once more stops at once" in err and "Traceback" not in err
    assert [run["status"] for run in one.runs()] == ["keep", "keep"]
    assert one.records()[-1]["run"] == 2
    check_sound(one)
    done = one.ledger("loop", "--resume", "--agent", "echo 80 > src/number.txt", "--max-iterations", "3")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err


@pytest.mark.parametrize("count", [2, 5])
def test_the_second_interrupt_stops_at_once(one: Project, start: Start, count: int):
    loop = start(one, "loop", "--agent", AGENT)
    begun(one)
    loop.send_signal(signal.SIGINT)
    heard(loop)
    for _ in range(count - 1):
        loop.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = loop.communicate(timeout=30)
    assert (loop.returncode, out.splitlines()[-1]) == (130, "Status: STOPPED"), err
    assert "the change of " in err and "is in the working tree again" in err and "Traceback" not in err
    check_undone(one)


def test_an_agent_that_is_interrupted_leaves_its_change_and_hears_what_it_was_told(one: Project, start: Start):
    (one.home / "go").touch()
    agent = 'echo 90 > src/number.txt; sleep 300 & echo $! > "$HOME/child"; echo $$ > "$HOME/begun"; sleep 300'
    assert one.ledger("steer", "try the cache").code == 0
    loop = start(one, "loop", "--agent", agent)
    begun(one)
    loop.send_signal(signal.SIGINT)
    heard(loop)
    assert loop.poll() is None
    loop.send_signal(signal.SIGTERM)
    out, err = loop.communicate(timeout=30)
    assert (loop.returncode, out.splitlines()[-1]) == (130, "Status: STOPPED"), err
    brief = one.ledger("brief").out
    assert "try the cache" in brief[: brief.index("Where the session stands")]
    check_undone(one)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_is_undone(one: Project, start: Start, number: signal.Signals):
    one.write(90)
    run = start(one, "run", "--description", "slow", preexec_fn=hear_hang_ups)
    begun(one)
    run.send_signal(number)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, ""), err
    assert "interrupted: nothing was logged" in err and "Traceback" not in err
    check_undone(one)


def test_a_run_is_undone_or_done_whenever_the_interrupt_comes(one: Project, start: Start):
    gate(one, "sleep 0.3; echo METRIC total_ms=$number; echo METRIC mem=5\n")
    (one.home / "go").touch()
    dice = random.Random(3)
    begin = time.monotonic()
    one.write(90)
    assert one.ledger("run", "--description", "how long").code == 0
    length = time.monotonic() - begin
    seen = set()
    for place in range(10):
        runs, number = len(one.runs()), 89 - place
        one.write(number)
        run = start(one, "run", "--description", f"try {place}")
        time.sleep(length * (0.15 + 0.85 * dice.random()))
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
        # -2: the interpreter was only just starting, or had all but ended, and hears no interrupt then.
        assert run.returncode in (0, 130, -2) and "Traceback" not in err, err
        assert not one.log.with_name("log.iteration.json").exists(), err
        assert not (one.folder / ".git" / "index.lock").exists()
        logged = len(one.runs()) - runs
        assert (one.changed() == "") == bool(logged), err
        assert one.number() == str(number)
        seen.add((run.returncode, logged))
    assert (130, 0) in seen
    one.git("checkout", "--", "src")
    check_sound(one)


def test_an_interrupt_in_git_waits_for_git_and_one_more_does_not(one: Project, start: Start):
    hook = one.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text('#!/bin/sh\necho $$ > "$HOME/begun"\nexec sleep 300\n')
    hook.chmod(0o755)
    one.write(91)
    run = start(one, "run", "--description", "a hook of git's that hangs")
    begun(one)
    run.send_signal(signal.SIGINT)
    time.sleep(2.2)
    waited = run.poll() is None
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=30)
    subprocess.run(["kill", (one.home / "begun").read_text().strip()], check=False, capture_output=True)
    assert waited and run.returncode in (2, 130)
    hook.unlink()
    done = one.ledger("run", "--description", "again")
    assert (done.code, done.out[:12]) == (0, "Run #2: keep"), done.err
    check_sound(one)


def test_a_hang_up_that_is_ignored_stays_ignored(one: Project, start: Start):
    one.write(90)
    run = start(one, "run", "--description", "slow", preexec_fn=ignore_hang_ups)
    begun(one)
    run.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert run.poll() is None
    (one.home / "go").touch()
    run.communicate(timeout=30)
    assert run.returncode == 0
    check_sound(one)


def test_an_interrupted_codex_trial_is_undone(tmp_path: Path, start: Start):
    one = project(tmp_path / "work", "codex")
    gate(one, "echo $number\n")
    # The bench was changed after the baseline, which the history does not know: the run begins anew here.
    assert one.ledger("mark", "stopped", "--reason", "another bench").code == 0
    assert one.ledger("archive").code == 0
    init = ("init", "speed", "--metric", "total_ms", "--direction", "lower", "--dialect", "codex", "--scope", "src")
    assert one.ledger(*init, "--command", "bash bench.sh", "--target", "10").code == 0
    one.write(90)
    run = start(one, "run", "--description", "slow")
    begun(one)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130 and "nothing was logged" in err
    assert [record["event"] for record in one.records()] == ["baseline"]
    (one.home / "go").touch()
    assert one.ledger("run", "--description", "again").code == 0
    check_sound(one)
