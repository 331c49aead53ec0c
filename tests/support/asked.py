"""How often a command asks: the git processes that it starts, and how often it opens its log."""

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.support.project import Project

BORDER = "=== border"
"""A line that a test may add to both files, to tell one turn of a loop from the next."""

_WRAPPER = """#!/bin/sh
line=$(printf '%s ' "$@" | tr '\\n' ' ')
echo "$line" >> "$ASKED_GIT"
exec {git} "$@"
"""
_LISTENER = """
import os
import sys

if "ASKED_LOG" in os.environ:
    log, noted = os.environ["ASKED_LOG"], os.open(os.environ["ASKED_OPENS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def hear(event, arguments):
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            if os.path.abspath(os.fsdecode(arguments[0])) == log:
                os.write(noted, f"{arguments[1]} {arguments[2]}\\n".encode())

    sys.addaudithook(hear)
"""


class Asked(NamedTuple):
    """Hold what was asked between two borders: git's arguments, a line a process, and each opening of the log."""

    git: list[str]
    opens: list[str]

    @property
    def status(self) -> list[str]:
        """Each `git status`."""
        return [line for line in self.git if line.startswith("status ")]


class Ear:
    """Listen to a project's commands, which have to be started with these `variables`."""

    def __init__(self, one: Project, folder: Path) -> None:
        self._git, self._opens = folder / "git.txt", folder / "opens.txt"
        programs, modules = folder / "programs", folder / "modules"
        for made in (programs, modules):
            made.mkdir(parents=True)
        wrapper = programs / "git"
        wrapper.write_text(_WRAPPER.format(git=shutil.which("git")))
        wrapper.chmod(0o755)
        (modules / "sitecustomize.py").write_text(_LISTENER)
        self._programs = programs
        self.variables = {
            "PYTHONPATH": str(modules),
            "ASKED_GIT": str(self._git),
            "ASKED_LOG": str(one.log),
            "ASKED_OPENS": str(self._opens),
        }

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """Give an environment in which a command is listened to."""
        return {**base, **self.variables, "PATH": f"{self._programs}:{base['PATH']}"}

    @property
    def border(self) -> str:
        """The shell command that draws a border."""
        return f"for file in '{self._git}' '{self._opens}'; do echo '{BORDER}' >> \"$file\"; done"

    def heard(self) -> list[Asked]:
        """List what was asked, from border to border."""
        return [Asked(*both) for both in zip(_parts(self._git), _parts(self._opens), strict=True)]


def _parts(path: Path) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line == BORDER:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts
