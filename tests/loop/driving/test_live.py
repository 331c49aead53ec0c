"""The line that shows what a loop does: on a real terminal only, and gone without a trace."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cli import environment
from tests.support.project import IDENTITY, Project, project

AGENT = "sleep 1.2; echo $((100 - LEDGER_RUN)) > src/number.txt"
CLEAR = b"\r\x1b[K"


@pytest.fixture
def one(tmp_path: Path) -> Project:
    made = project(tmp_path / "work")
    assert made.ledger("run", "--baseline").code == 0
    return made


def on_a_terminal(one: Project, *arguments: str, **variables: str) -> tuple[int, bytes]:
    """Run a command on a terminal, and give its exit status and all that it wrote there."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "ledger", *arguments], cwd=one.folder,
        env={**environment(one.home), **IDENTITY, "TERM": "xterm", **variables},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if select.select([ours], [], [], 0.1)[0]:
                if not (data := os.read(ours, 1 << 16)):
                    break
                shown += data
        except OSError:
            break  # nobody has the terminal open any more
    os.close(ours)
    return child.wait(timeout=30), shown


def screen(shown: bytes) -> list[str]:
    """Give the lines as a person sees them in the end."""
    lines = [""]
    text = shown.replace(b"\r\n", b"\n").decode()
    for part in text.replace("\r\x1b[K", "\0").replace("\n", "\1\n\1").split("\1"):
        if part == "\n":
            lines.append("")
        else:
            lines[-1] = part.rpartition("\0")[2] if "\0" in part else lines[-1] + part
    return lines


def test_a_terminal_shows_each_step_and_keeps_none(one: Project):
    code, shown = on_a_terminal(one, "loop", "--agent", AGENT, "--max-iterations", "2")
    assert code == 0
    for step in (b"agent 0:00", b"agent 0:01", b"committing 0:00", b"measuring 0:00", b"logging 0:00"):
        assert CLEAR + step in shown
    assert not re.search(rb"\x1b\[[\d;]*m", shown), "NO_COLOR is set"
    lines = screen(shown)
    assert lines[-2:] == ["Status: DONE (max_iterations)", ""]
    assert not [line for line in lines if " 0:0" in line or "\x1b" in line]
    assert 'Run #2: keep | total_ms: 98 (-2.0%) | "change src/number.txt"' in lines


def test_a_run_shows_its_steps_too(one: Project):
    one.write(90)
    code, shown = on_a_terminal(one, "run", "--description", "x")
    assert code == 0 and CLEAR + b"measuring 0:00" in shown
    assert screen(shown) == ['Run #2: keep | total_ms: 90 (-10.0%) | "x"', ""]


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}])
def test_a_dumb_terminal_shows_no_line(one: Project, variables: dict[str, str]):
    one.write(90)
    code, shown = on_a_terminal(one, "run", "--description", "x", **variables)
    assert (code, shown) == (0, b'Run #2: keep | total_ms: 90 (-10.0%) | "x"\r\n')


def test_no_terminal_shows_no_line(one: Project):
    done = one.ledger("loop", "--agent", AGENT, "--max-iterations", "2")
    assert done.code == 0 and "\x1b" not in done.err + done.out and "\r" not in done.err + done.out
    assert done.err == "ledger: the agent left no note: its change is described by the files\n"


def test_the_first_ctrl_c_is_answered_on_its_own_line(one: Project):
    ours, theirs = pty.openpty()
    child = one.start("loop", "--agent", "sleep 0.5; kill -INT $PPID; sleep 0.3; echo 90 > src/number.txt",
                      stdin=theirs, stdout=theirs, stderr=theirs)  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:
            break
    os.close(ours)
    assert child.wait(timeout=30) == 130
    lines = screen(shown)
    assert "ledger: finishing the running cycle; once more stops at once" in lines
    assert lines[-2:] == ["Status: STOPPED", ""]
    assert len(one.runs()) == 2
