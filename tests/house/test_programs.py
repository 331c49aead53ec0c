"""What happens to a test that needs a program which is not there: skipped and counted, or failed with CI=true."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import ROOT

TESTS = """
import pytest
from tests.support.programs import need, needs

@needs("sh", "nonesuch")
def test_marked(): raise AssertionError

@pytest.fixture(scope="module")
def asked(): return need("nothing-like-it")

@pytest.mark.parametrize("number", [1, 2])
def test_asked(asked, number): raise AssertionError

@pytest.mark.skip(reason="another is not installed")
def test_another(): raise AssertionError

@needs("sh")
def test_there(): assert need("sh").endswith("/sh")
"""
COUNTED = "3 tests were skipped for want of a program; scripts/system installs it: nonesuch (1), nothing-like-it (2)."


def pytest_on(folder: Path, *arguments: str, ci: str) -> "subprocess.CompletedProcess[str]":
    (folder / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.programs", "-p", "no:cacheprovider", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CI": ci}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("-q",), ("-n", "1")])
def test_the_last_line_counts_what_was_skipped_for_want_of_a_program(arguments: tuple[str, ...], tmp_path: Path):
    done = pytest_on(tmp_path, *arguments, ci="")
    *_, above, last = done.stdout.splitlines()
    assert (done.returncode, last) == (0, COUNTED), done.stdout + done.stderr
    assert "1 passed, 4 skipped" in above


def test_the_last_line_says_so_where_nothing_is_missing(tmp_path: Path):
    done = pytest_on(tmp_path, "-k", "there", ci="")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 tests were skipped for want of a program.")


def test_nothing_may_be_missing_with_ci(tmp_path: Path):
    done = pytest_on(tmp_path, ci="true")
    assert done.returncode == 1
    assert "1 failed" not in done.stdout and "1 passed, 1 skipped, 3 errors" in done.stdout
    assert "CI=true, but nonesuch is not installed; scripts/system installs it" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 tests were skipped for want of a program."
