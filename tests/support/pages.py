"""Pages whose commands are run: their steps, the checkout that those run in, and how what is shown is compared.

A `console` block holds commands, each led by `$ `, with what they print. A block whose fence names a file, as in
```` ```python primes.py ````, is that file: saved where the commands before it have led. Each section, from one `##` to
the next, begins in the checkout.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.cli import ROOT, SAMPLES, environment

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS]
"""Every page of the project."""
README = (ROOT / "README.md").read_text("utf-8")
WALK = "A loop in five minutes"
"""The section of the README from init to a stopped loop."""
DEMO = "./scripts/demo"
LEFT_OUT = "[…]"
OPTIONAL = ("sqlite3", "jq")
"""Programs that are not on every machine; a step that needs a missing one is passed over."""

_PART = re.compile(
    r"^## (?P<title>[^\n]+)|^```(?P<language>\w*) ?(?P<file>\S*)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL
)
"""A heading, or a block, in which nothing is a heading."""
_VARYING = re.compile(r"\b(?:[0-9a-f]{7}|20\d{6}(?:T\d{6}Z)?|20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?:[\d:.]*Z| UTC))\b")
"""The hash of a commit, a date, a time."""
_IDENTITY = {f"GIT_{who}_{what}": "Ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_CONFIG = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


class Step(NamedTuple):
    """Hold a command and the lines shown under it, or with a `file` to be saved, its lines; and their section."""

    section: str
    command: str
    shown: list[str]
    file: str = ""


def steps(page: str) -> list[Step]:
    """List what a reader of a page does, in order."""
    title, found = "", []
    for part in _PART.finditer(page):
        lines = (part["content"] or "").splitlines()
        if part["title"]:
            title = part["title"]
        elif part["file"]:
            found.append(Step(title, "", lines, part["file"]))
        elif part["language"] == "console":
            found += _of_block(title, lines)
    return found


def _of_block(title: str, lines: list[str]) -> list[Step]:
    assert lines[0].startswith("$ "), lines[0]
    found: list[Step] = []
    for line in lines:
        if line.startswith("$ ") and not (found and found[-1].command == DEMO):
            found.append(Step(title, line[2:], []))
        else:
            found[-1].shown.append(line)
    return found


def same(shown: list[str], printed: list[str]) -> bool:
    """Compare line by line, but for the lines that the page leaves out, and for times and the hashes of commits."""
    if not shown:
        return not printed
    if shown[0] == LEFT_OUT:
        return any(same(shown[1:], printed[skipped:]) for skipped in range(1, len(printed) + 1))
    return bool(printed) and _settled(shown[0]) == _settled(printed[0]) and same(shown[1:], printed[1:])


def _settled(line: str) -> str:
    return _VARYING.sub("…", line)


class Shell:
    """Run a page's steps in a checkout, as a person would at a terminal of 100 columns; `cd` lasts for a section."""

    def __init__(self, folder: Path) -> None:
        """Set up what a checkout has: samples, and the demo, whose `ledger` is this environment's."""
        self.checkout = folder / "checkout"
        self._bin, self._home, self._place = folder / "bin", folder / "home", folder / "place"
        self._here, self._section = self.checkout, ""
        self._home.mkdir()
        shutil.copytree(SAMPLES, self.checkout / "samples")
        _script(self._bin / "ledger", f'exec "{sys.executable}" -m ledger "$@"')
        _script(self._bin / "python3", f'exec "{sys.executable}" "$@"')
        _script(self.checkout / "scripts" / "setup", f"echo '{self._bin}'")
        _script(self.checkout / "scripts" / "demo", (ROOT / "scripts" / "demo").read_text("utf-8"))

    def do(self, step: Step) -> list[str]:
        """Save the step's file, or run its command and give the lines of both streams."""
        if step.section != self._section:
            self._section, self._here = step.section, self.checkout
        if step.file:
            (self._here / step.file).write_text("\n".join(step.shown) + "\n", "utf-8")
            return step.shown
        return self._run(step.command)

    def _run(self, command: str) -> list[str]:
        path = f"{self._bin}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", f"{command}\nstatus=$?; pwd >'{self._place}'; exit $status"],
            cwd=self._here,
            env=environment(self._home, PATH=path, COLUMNS="100", PYTHONUNBUFFERED="1", **_IDENTITY, **_CONFIG),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout.decode()}"
        self._here = Path(self._place.read_text("utf-8").rstrip("\n"))
        return done.stdout.decode().splitlines()


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def follow(shell: Shell, steps: list[Step]) -> None:
    """Do all steps; assert that each prints what is shown."""
    for step in steps:
        if any(re.search(rf"\b{name}\b", step.command) and shutil.which(name) is None for name in OPTIONAL):
            continue
        printed = shell.do(step)
        assert same(step.shown, printed), "\n".join((f"$ {step.command}", *printed))


def unnamed(page: str) -> list[str]:
    """List the files that a page has a reader save without naming them in the words before."""
    saved = [(part["file"], page[: part.start()]) for part in _PART.finditer(page) if part["file"]]
    return [name for name, before in saved if f"`{name}`" not in before[-200:]]
