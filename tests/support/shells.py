"""Drive a real shell at a terminal: type a line, press tab, and see what words the line has then."""

import os
import pty
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.cli import COMMAND, environment

PATIENCE = 60
_START = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
_SETTING = {
    "bash": "bind 'set bell-style none'; show() { printf '%s\\0' \"$@\" > shown.new; mv shown.new shown; }\n"
    'eval "$(ledger completion bash)"\n',
    "zsh": "bindkey -e; autoload -Uz compinit; compinit -D -u; unsetopt beep\n"
    "show() { printf '%s\\0' \"$@\" > shown.new; command mv shown.new shown; }\n"
    'eval "$(ledger completion zsh)"\n',
    "fish": "function show; printf '%s\\0' $argv > shown.new; command mv shown.new shown; end\n"
    "ledger completion fish | source\n",
}
SHELLS = tuple(_START)


class Shell:
    """A shell at a terminal of its own, in a folder; `seen` is all that it wrote there."""

    def __init__(self, name: str, folder: Path, terminal: int) -> None:
        self._folder = folder
        self._terminal = terminal
        self.seen = ""
        for line in _SETTING[name].splitlines():
            self._type(f"{line}\n")
        assert self.complete("set", press="") == ["set"]

    def complete(self, line: str, press: str = "\t") -> list[str]:
        """Type a line, press tab, and give the words that the shell makes of what stands there then."""
        shown = self._folder / "shown"
        shown.unlink(missing_ok=True)
        self._type(f"{line}{press}\x01show \n")
        end = time.monotonic() + PATIENCE
        while not shown.exists():
            assert time.monotonic() < end, self.seen
            self._look(0.02)
        return shown.read_bytes().decode().split("\0")[:-1]

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())
        self._look(0)

    def _look(self, seconds: float) -> None:
        while select.select([self._terminal], [], [], seconds)[0]:
            self.seen += os.read(self._terminal, 65536).decode("utf-8", "replace")
            seconds = 0


@contextmanager
def shell(name: str, folder: Path, **variables: str) -> Iterator[Shell]:
    """Start a shell in a folder, with `ledger` on its path; it is gone afterwards."""
    commands = Path(tempfile.mkdtemp())
    program = commands / "ledger"
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    made = environment(folder, TERM="xterm", PS1="$ ", **variables)
    made["PATH"] = f"{commands}{os.pathsep}{made['PATH']}"
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.execvpe(_START[name][0], _START[name], made)  # noqa: S606 - it is the shell
    try:
        yield Shell(name, folder, terminal)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
        shutil.rmtree(commands)
