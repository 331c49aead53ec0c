"""A forked command is as a fresh interpreter's: no failure of the product may hide behind how its tests run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cli, forking
from tests.support.cli import BAD, SOUND, environment, fresh, ledger, log

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.environ.get("LEDGER_FRESH") == "1", reason="commands are not forked here"
)

SAYS_AND_ENDS = """
import sys
from tests.support import forking
sys.stdout = open(1, "w", closefd=False)
sys.stderr = open(2, "w", 1, closefd=False)
print("said", end="")
print("told", end="", file=sys.stderr)
forking._end(3)
"""


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (["--version"], b"", 0),
        (["check"], b"", 0),
        (["check", "-"], BAD, 1),
        (["check", "--format", "json", "bad.jsonl"], b"", 1),
        (["sync"], b"", 0),
        (["sessions"], b"", 0),
        (["runs", "--format", "csv"], b"", 0),
        (["check", "absent"], b"", 2),
        (["no-such-command"], b"", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_forked_command_is_as_a_fresh_one(
    words: list[str], stdin: bytes, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log(tmp_path, SOUND)
    log(tmp_path, BAD, "bad.jsonl")
    one = fresh(tmp_path, *words, stdin=stdin)
    with monkeypatch.context() as patched:
        patched.setattr(cli, "fresh", None)  # it is forked indeed
        (tmp_path / "mirror.db").unlink(missing_ok=True)
        other = ledger(tmp_path, *words, stdin=stdin)
    assert one == other
    assert one.code == code


def test_the_last_words_of_a_forked_command_are_heard():
    done = subprocess.run([sys.executable, "-c", SAYS_AND_ENDS], cwd=cli.ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"said", b"told")


def test_what_keeps_a_stream_open_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert ledger(tmp_path, "--version").code == 0  # the parent is there
    held: list[int] = []
    pipe = os.pipe

    def holding() -> tuple[int, int]:
        ends = pipe()
        held.append(os.dup(ends[1]))
        return ends

    monkeypatch.setattr(os, "pipe", holding)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            forking.run(["--version"], tmp_path, environment(tmp_path), b"", 2)
    finally:
        for descriptor in held:
            os.close(descriptor)


def test_a_command_that_does_not_end_is_killed(tmp_path: Path):
    log(tmp_path, SOUND)
    with pytest.raises(subprocess.TimeoutExpired):
        forking.run(["serve", "--port", "0"], tmp_path, environment(tmp_path), b"", 1)


@pytest.mark.parametrize("name", ["PYTHONSAFEPATH", "LC_TIME", "TZ", "TMPDIR", "SQLITE_TMPDIR", "LD_PRELOAD"])
def test_what_is_read_before_a_program_begins_needs_a_fresh_one(name: str, tmp_path: Path):
    assert forking.fits(environment(tmp_path, HOME="/elsewhere"))
    assert not forking.fits(environment(tmp_path, **{name: "x"}))


def test_elsewhere_nothing_is_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not forking.fits(environment(tmp_path))
