"""The bar that counts what takes long: on a terminal only, past a second, and in nobody's way."""

import io
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.cli.support import progress as module
from ledger.cli.support.progress import progress
from tests.support import cli


class Terminal(io.StringIO):
    """Pretend to be a terminal."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """Give what stands on the screen in the end."""
        shown = []
        for line in self.getvalue().split("\n"):
            text = ""
            for part in line.split("\r"):
                text = part + text[len(part) :]
            shown.append(text.rstrip())
        return shown


def slow(count: int, seconds: float = 0.05) -> Iterator[int]:
    for number in range(count):
        time.sleep(seconds)
        yield number


def one_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stdout and stderr one terminal, on which the bar comes at once."""
    both = Terminal()
    monkeypatch.setattr(sys, "stdout", both)
    monkeypatch.setattr(sys, "stderr", both)
    monkeypatch.setattr(module, "PATIENCE", 0.02)
    return both


def test_the_bar_makes_way_for_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    for number in progress(slow(5), "sync", 5):
        terminal.write(f"line {number}\n")
    assert terminal.screen() == [*(f"line {number}" for number in range(5)), ""]
    assert "sync" in terminal.getvalue() and "4/5" in terminal.getvalue()


def test_one_long_call_has_a_bar_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    assert list(progress(slow(1, 0.3), "sync", 1)) == [0]
    assert "0/1" in terminal.getvalue() and terminal.screen() == [""]


@pytest.mark.parametrize("columns", [20, 10])
def test_the_bar_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    list(progress(slow(3), "sync", 3))
    assert all(len(part) < columns for part in terminal.getvalue().split("\r"))


def test_the_bar_goes_when_the_work_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    items = progress(slow(9), "sync", 9)
    assert next(items) == 0
    items.close()
    with pytest.raises(ZeroDivisionError):
        list(progress((1 // (2 - number) for number in slow(9)), "sync", 9))
    assert terminal.screen() == [""]


def test_what_is_quick_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE", 1)
    assert list(progress(slow(2), "sync", 2)) == [0, 1]
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = one_terminal(monkeypatch)
    monkeypatch.setattr(sys, "stderr", err := io.StringIO())
    assert list(progress(slow(2), "sync", 2)) == [0, 1]
    assert terminal.getvalue() == err.getvalue() == ""


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("command", [["sync"], ["verify"], ["db", "rebuild"]], ids=" ".join)
def test_commands_have_a_bar(command: list[str], tmp_path: Path) -> None:
    import pty
    import subprocess

    cli.log(tmp_path)
    script = "import ledger.cli.support.progress as p, ledger.cli; p.PATIENCE = 0; ledger.cli.main()"
    assert cli.ledger(tmp_path, "sync").code == 0
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        cwd=tmp_path, env=cli.environment(tmp_path), stdout=subprocess.PIPE, stderr=theirs, timeout=60, check=False,
    )  # fmt: skip
    drawn = os.read(ours, 10_000)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 1
    assert command[-1].encode() in drawn and b"/1" in drawn
