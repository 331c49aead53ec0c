"""The command line as a child process: its output bounded, its progress told, and ended with all that it began."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, Process

MOST_BYTES = 16 << 20
"""Of what a command writes, held in memory; what comes after is read and dropped."""

MOST_AT_ONCE = 16
"""Commands at work; more calls wait their turn."""

_FIRST_WORD, _PERIOD = 1.0, 2.0
_LINGER = 1.0
_PATIENCE = 3.0
"""Seconds that an interrupted command gets to undo what it was at, twice, before it is killed."""

Tell = Callable[[float, str], Awaitable[None]]
"""What is told how many seconds a command has been at work, and what it said last."""


class CommandResult(NamedTuple):
    """Hold how a command ended: its exit status, both streams, and whether `out` was cut short."""

    code: int
    out: bytes
    err: bytes
    cut: bool = False


class _Kept:
    """Keep the head of a stream; `full` tells that there was more than it may hold."""

    def __init__(self) -> None:
        self.data, self.full, self.lines = bytearray(), False, 0

    def take(self, chunk: bytes) -> None:
        room = MOST_BYTES - len(self.data)
        self.data += chunk[:room]
        self.full = self.full or len(chunk) > room
        self.lines += chunk.count(b"\n")


class Commands:
    """Run commands of `ledger` in a folder, many at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._live: set[Process] = set()
        self._room = anyio.Semaphore(MOST_AT_ONCE)

    async def run(self, words: Sequence[str], tell: Tell, most_lines: int | None = None) -> CommandResult:
        """Run one to its end; one that only reads is stopped once it has written `most_lines`, or too much.

        If that is cancelled, the command is ended and all that it began.
        """
        async with self._room:
            process = await anyio.open_process(
                # -P: the project's own files must not stand in for a library's
                [sys.executable, "-P", "-m", "ledger", *words],
                stdin=subprocess.DEVNULL,
                cwd=self._folder,
                start_new_session=True,
            )
            self._live.add(process)
            try:
                return await _attended(process, tell, most_lines)
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
                    await process.aclose()
                self._live.discard(process)

    async def end(self) -> None:
        """End all commands that are at work."""
        async with anyio.create_task_group() as group:
            for process in self._live:
                group.start_soon(_end, process)


async def _attended(process: Process, tell: Tell, most_lines: int | None) -> CommandResult:
    out, err = _Kept(), _Kept()
    async with anyio.create_task_group() as group:
        group.start_soon(_report, tell, err)
        enough = await _listen(process, out, err, most_lines)
        group.cancel_scope.cancel()
    return CommandResult(0 if enough else process.returncode or 0, bytes(out.data), bytes(err.data), out.full)


async def _listen(process: Process, out: _Kept, err: _Kept, most_lines: int | None) -> bool:
    """Read both streams to their end and wait for the process; tell whether it has written enough before that."""
    assert process.stdout is not None
    assert process.stderr is not None
    enough = False
    async with anyio.create_task_group() as watched:
        watched.start_soon(_leave, process, watched.cancel_scope)
        async with anyio.create_task_group() as readers:
            readers.start_soon(_drain, process.stderr, err)
            async for chunk in process.stdout:
                out.take(chunk)
                enough = most_lines is not None and (out.lines >= most_lines or out.full)
                if enough:
                    readers.cancel_scope.cancel()
                    break
        watched.cancel_scope.cancel()
    if not enough:
        await process.wait()
    return enough


async def _leave(process: Process, scope: anyio.CancelScope) -> None:
    """Stop reading soon after a process has ended: a child that it left behind may hold the streams for ever."""
    await process.wait()
    await anyio.sleep(_LINGER)
    scope.cancel()


async def _drain(stream: ByteReceiveStream, kept: _Kept) -> None:
    async for chunk in stream:
        kept.take(chunk)


async def _report(tell: Tell, err: _Kept) -> None:
    begun = anyio.current_time()
    await anyio.sleep(_FIRST_WORD)
    while True:
        said = bytes(err.data).decode("utf-8", "replace").strip().splitlines()
        await tell(round(anyio.current_time() - begun, 1), said[-1].removeprefix("ledger: ") if said else "at work")
        await anyio.sleep(_PERIOD)


async def _end(process: Process) -> None:
    """Interrupt a command as Ctrl-C does: it kills what it measures and undoes its cycle. Kill it if it does not."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number if os.name != "nt" else signal.SIGTERM)
        with anyio.move_on_after(_PATIENCE):
            await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
