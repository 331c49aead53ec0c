"""Hooks: scripts of the session, run before and after each iteration, that may tell the agent things (protocols.md 7).

A hook gets one JSON line on its standard input, and the log's path in `LEDGER_LOG`.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.files import append, create
from ledger.base.locks import lock_of, locked
from ledger.base.paths import show_path
from ledger.base.text import plain
from ledger.base.times import now_ms
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run, stamp
from ledger.log.events import Run
from ledger.log.jsontext import BOM, WHITE, decode, dump
from ledger.loop.measuring.processes import Finished, run
from ledger.session.files import HOOKS, Session
from ledger.session.history import History
from ledger.session.writer import writing

STAGES = ("before", "after")
TIMEOUT = 30.0
"""Seconds after which a hook is killed with all its children."""
STDOUT_BYTES = 8192
STDERR_BYTES = 2048


class Fired(NamedTuple):
    """Hold what came of a hook: `text` for the agent, `problem` one sentence or empty, `record` as it was logged."""

    text: str
    problem: str
    record: dict[str, Any]


def find(session: Session, stage: str) -> Path | None:
    """Find the hook of a stage; None where there is no regular file with the run bit."""
    path = session.hook(stage)
    return path if path.is_file() and os.access(path, os.X_OK) else None


def payload(session: Session, history: History, stage: str) -> bytes:
    """Make the line that a hook of the stage, `before` or `after`, reads from its standard input.

    Raises LedgerError for a log of no known protocol, and after no run at all.
    """
    if history.state.dialect is None:
        raise LedgerError(f"{show_path(session.log)} speaks no known protocol; run ledger check")
    last = history.last()
    if stage == "after" and last is None:
        raise LedgerError("there is no run yet that an after hook could be told about; log one first")
    entry = "null" if last is None else _entry(history, last)
    parts = {"event": dump(stage), "cwd": dump(os.fsencode(session.workdir).decode("utf-8", "replace"))}
    if stage == "before":
        parts |= {"next_run": dump(next_run(history.state)), "last_run": entry}
    else:
        parts |= {"run_entry": entry}
    parts |= {"session": dump(_standing(history))}
    return f"{{{','.join(f'{dump(key)}:{text}' for key, text in parts.items())}}}\n".encode()


def _entry(history: History, last: Run) -> str:
    """Give a run's whole entry: verbatim, or in the other protocols with the keys that hooks know on top."""
    state, line = history.state, history.line(last).removeprefix(BOM).strip(WHITE)
    if policy_of(state).has_hook_records:
        return line.decode()  # a record that was read as a run is one object of sound JSON
    entry: dict[str, Any] = decode(line).value
    known = {"run": last.run, "status": last.status, "metric": last.metric, "description": last.description or ""}
    if last.run in state.results:
        known["decision"] = state.results[last.run].action
    return dump({**entry, **known})


def _standing(history: History) -> dict[str, Any]:
    """Say how the session stands: the current segment's metric and values, the whole log's number of runs."""
    segment = history.state.current()
    return {
        "metric_name": segment.metric_name,
        "metric_unit": segment.unit,
        "direction": segment.direction,
        "baseline_metric": segment.baseline,
        "best_metric": segment.best,
        "run_count": sum(one.runs for one in history.segments()),
        "goal": segment.name or "",
    }


def fire(session: Session, history: History, stage: str, timeout: float = TIMEOUT) -> Fired | None:
    """Run the hook of a stage and log that it ran; None where there is none.

    Whatever the hook does is told in what is given back; so is a log that takes no record because it has errors. The
    caller does not hold the log's lock. Raises LedgerError where there is nothing to tell the hook (see `payload`).
    """
    path = find(session, stage)
    if path is None:
        return None
    output = _Output()
    finished = _run(session, path, payload(session, history, stage), timeout, output)
    record = {
        "type": "hook",
        "stage": stage,
        "exit_code": finished.code,
        "duration_ms": round(finished.seconds * 1000),
        "stdout_bytes": output.count,
        "timed_out": finished.timed_out,
        "timestamp": stamp(history.state, now_ms()),
    }
    problems = [_problem(session, path, finished, output, timeout)]
    try:
        _log(session, history, record)
    except LedgerError as error:
        problems.append(f"the record of the {stage} hook was not written: {error}")
    return Fired(output.text(), "; ".join(filter(None, problems)), record)


def _run(session: Session, path: Path, told: bytes, timeout: float, output: "_Output") -> Finished:
    env = {**os.environ, "LEDGER_LOG": str(session.log)}
    finished = run([str(path)], session.workdir, timeout, output.take, stdin=told, env=env, leave_children=True)
    if finished.problem.endswith(os.strerror(errno.ENOEXEC).lower()):  # no shebang: a script for sh, as to any shell
        shell = ["/bin/sh", str(path)]
        return run(shell, session.workdir, timeout, output.take, stdin=told, env=env, leave_children=True)
    return finished


def _problem(session: Session, path: Path, finished: Finished, output: "_Output", timeout: float) -> str:
    """Say what went wrong, as one sentence; nothing if the hook ended with status 0."""
    name = f"the {path.stem} hook {show_path(path)}"
    if finished.timed_out:
        return f"{name} timed out after {timeout:g} s and was killed"
    if finished.code:
        said = output.complaint()
        return f"{name} exited with {finished.code}" + (f": {said}" if said else "")
    if not finished.problem:
        return ""
    if not session.workdir.is_dir():
        return f"{name} could not be run: its working folder {show_path(session.workdir)} is not there"
    if finished.problem.endswith(os.strerror(errno.ENOENT).lower()):
        return f"{name} could not be run: the program that its first line names was not found"
    return f"{name} could not be run: {finished.problem.rpartition(': ')[2]}"


def _log(session: Session, history: History, record: Mapping[str, Any]) -> None:
    if policy_of(history.state).has_hook_records:
        with writing(history) as pen:
            pen.append(record)
        return
    side, line = session.side(HOOKS), dump(dict(record)).encode() + b"\n"
    with locked(lock_of(session.log)):
        if side.exists():
            append(side, line, side.stat().st_size)
        else:
            create(side, line)


class _Output:
    """Keep the start of what a hook writes to stdout and the end of what it writes to stderr, however much it is."""

    def __init__(self) -> None:
        self.count = 0  # bytes on stdout
        self._head = bytearray()
        self._tail = b""
        self._complained = 0

    def take(self, stream: str, data: bytes) -> None:
        if stream == "out":
            self.count += len(data)
            self._head += data[: STDOUT_BYTES + 1 - len(self._head)]
        else:
            self._complained += len(data)
            self._tail = (self._tail + data)[-STDERR_BYTES:]

    def text(self) -> str:
        """Give stdout, cut at a line end, or within a line that is too long itself; white space alone is nothing."""
        if self.count <= STDOUT_BYTES:
            text = self._head.decode("utf-8", "replace")
            return text if text.strip() else ""
        end = self._head.rfind(b"\n", 0, STDOUT_BYTES) + 1
        if not end:
            end = STDOUT_BYTES
            while end > STDOUT_BYTES - 4 and self._head[end] & 0xC0 == 0x80:  # not within a character
                end -= 1
        text = self._head[:end].decode("utf-8", "replace").removesuffix("\n")
        return f"{text}\n[cut: {end} of {self.count} bytes]\n"

    def complaint(self) -> str:
        """Give the end of stderr as one line."""
        cut = self._complained > STDERR_BYTES
        text = self._tail.decode("utf-8", "replace")
        return ("…" if cut else "") + plain(text.lstrip("\ufffd") if cut else text).strip()
