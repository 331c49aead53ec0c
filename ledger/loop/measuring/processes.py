"""Programs that the loop runs: bounded in time, with all their children, whatever they do with their pipes."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ledger.base.errors import reason_of
from ledger.base.paths import for_others
from ledger.loop.measuring import interrupt

LINGER = 0.5
"""Seconds that output may still come after a program has ended: a child of it may hold the pipe for ever."""

_CHUNK = 1 << 16
_LOOK = 0.05

Take = Callable[[str, bytes], object]
"""What gets the output as it comes: the stream, `out` or `err`, and the bytes."""


class Finished(NamedTuple):
    """Hold how a program ended: `code` as of a shell (128 + signal), None if it was killed or never started.

    `problem` says why it did not start, else it is empty.
    """

    code: int | None
    seconds: float
    timed_out: bool = False
    problem: str = ""


def run(
    command: Sequence[str],
    cwd: Path,
    timeout: float | None,
    take: Take,
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    merged: bool = False,
    leave_children: bool = False,
) -> Finished:
    """Run a program in a process group of its own, give it `stdin`, and hand on what it writes.

    After `timeout` seconds (None: never) the whole group is killed; so it is when this process is interrupted, and when
    the program leaves children behind, unless it is to `leave_children`. `merged` sends both streams as `out`.
    """
    if any("\0" in word for word in command):
        return Finished(None, 0.0, problem="cannot run a command that has a NUL character in it")
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=for_others(os.environ if env is None else env),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Finished(None, 0.0, problem=f"cannot run {command[0]}: {reason_of(error)}")
    try:
        timed_out = not _attend(child, started, timeout, take, stdin)
    except BaseException:
        _kill(child)
        raise
    finally:
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
    if timed_out or not leave_children:
        _kill(child)
    code = child.wait()
    seconds = time.monotonic() - started
    return Finished(None if timed_out else code if code >= 0 else 128 - code, seconds, timed_out)


def _attend(child: subprocess.Popen[bytes], started: float, timeout: float | None, take: Take, stdin: bytes) -> bool:
    """Serve the pipes until the program has ended; tell whether it did so in time."""
    left = memoryview(stdin)
    ended = None
    with selectors.DefaultSelector() as pipes:
        _watch(pipes, child.stdout, selectors.EVENT_READ, "out")
        _watch(pipes, child.stderr, selectors.EVENT_READ, "err")
        _watch(pipes, child.stdin, selectors.EVENT_WRITE, "in")
        interrupt.wake(pipes)
        while True:
            interrupt.obey()
            now = time.monotonic()
            if ended is None and child.poll() is not None:
                ended = now
            readable = any(key.data in ("out", "err") for key in pipes.get_map().values())
            if ended is not None and (now - ended > LINGER or not readable):
                return True
            if ended is None and timeout is not None and now - started >= timeout:
                return False
            wait = _LOOK if timeout is None else max(0.0, min(_LOOK, started + timeout - now))
            if not pipes.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(wait)
                continue
            for key, _ in pipes.select(wait):
                if key.data == "signal":
                    continue  # it is obeyed above
                if key.data == "in":
                    left = _feed(pipes, key.fileobj, left)  # type: ignore[arg-type]  # only pipes were registered
                elif chunk := os.read(key.fd, _CHUNK):
                    take(key.data, chunk)
                else:
                    pipes.unregister(key.fileobj)


def _watch(pipes: selectors.BaseSelector, pipe: IO[bytes] | None, event: int, name: str) -> None:
    if pipe is not None:
        os.set_blocking(pipe.fileno(), False)
        pipes.register(pipe, event, name)


def _feed(pipes: selectors.BaseSelector, pipe: IO[bytes], left: memoryview) -> memoryview:
    """Give the program what its stdin takes now; one that closed it wants no more."""
    try:
        left = left[os.write(pipe.fileno(), left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        left = left[:0]
    if not left:
        pipes.unregister(pipe)
        pipe.close()
    return left


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the group, which is there as long as one of it is, even if its first process has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
