"""Real git repositories for tests, with an identity that comes from the environment alone."""

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.cli import Result, ledger

IDENTITY = {
    "GIT_AUTHOR_NAME": "Tester", "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "Tester", "GIT_COMMITTER_EMAIL": "tester@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """Run git and give what it prints, without the last newline."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **IDENTITY}, capture_output=True, text=True, check=True
    )
    return done.stdout.removesuffix("\n")


def write(folder: Path, name: str, text: str = "x\n") -> Path:
    """Write a file, with the folders that it needs."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def repository(folder: Path, *files: str) -> Path:
    """Make a repository on branch main whose one commit has these files, and give its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name in files or ("src/a.py",):
        write(folder, name)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")
    return folder


def session(folder: Path, *arguments: object, **variables: str) -> Result:
    """Run a command of ledger with the identity, so that it can commit."""
    given: dict[str, Any] = {**IDENTITY, **variables}
    return ledger(folder, *arguments, **given)
