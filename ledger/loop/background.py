"""The loop as other processes see it: is it alive, since when, at which step; ask it to stop; start it detached."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ledger.appending import is_locked, locked
from ledger.errors import LedgerError
from ledger.loop.files import get_object, put, put_object
from ledger.loop.session import Session
from ledger.times import iso, now_ms

LOCK, STATE, STOP, OUTPUT = "loop.lock", "loop.json", "stop", "runtime.log"

START_PATIENCE = 15.0
"""Seconds that a detached loop may take until it works or says why not."""

_PAUSE = 0.05


class Live(NamedTuple):
    """Tell of a loop: its process, when it began, what it does and since when (UTC milliseconds)."""

    pid: int
    began_ms: int
    step: str
    since_ms: int
    agent: str


def live(session: Session) -> Live | None:
    """Find the loop that is at work on a session; None if there is none."""
    if not session.side(STATE).exists() or not is_locked(session.side(LOCK)):
        return None
    found = get_object(session.side(STATE))
    if found is None or set(Live._fields) - found.keys():
        return None
    return Live(**{name: found[name] for name in Live._fields})


def last_agent(session: Session) -> str | None:
    """Give the agent command of the session's last loop."""
    found = get_object(session.side(STATE)) or {}
    agent = found.get("agent")
    return agent if isinstance(agent, str) and agent else None


class Registration:
    """Hold a loop's place: its lock, and the file that tells others what it does."""

    def __init__(self, session: Session, agent: str) -> None:
        self._session = session
        moment = now_ms()
        self._live = Live(os.getpid(), moment, "starting", moment, agent)
        self._write()

    def step(self, name: str) -> None:
        """Tell what the loop does now."""
        self._live = self._live._replace(step=name, since_ms=now_ms())
        self._write()

    def _write(self) -> None:
        put_object(self._session.side(STATE), self._live._asdict())


@contextmanager
def registered(session: Session, agent: str) -> Iterator[Registration]:
    """Be the session's one loop. Raises LedgerError if another one is at work."""
    if (other := live(session)) is not None:
        raise LedgerError(f"a loop is at work already (process {other.pid}); ledger stop ends it")
    with locked(session.side(LOCK), 1.0):
        session.side(STOP).unlink(missing_ok=True)
        yield Registration(session, agent)


def stop_asked(session: Session) -> bool:
    """Tell whether somebody asked the loop to stop."""
    return session.side(STOP).exists()


def ask_to_stop(session: Session, *, at_once: bool = False) -> Live | None:
    """Ask the loop to stop after its cycle, or at once; give the loop, None if there is none."""
    found = live(session)
    if found is None:
        return None
    put(session.side(STOP), b"now\n" if at_once else b"after this cycle\n")
    if at_once:
        with contextlib.suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGTERM)
    return found


def stop_and_wait(session: Session, say: Callable[[str], object], patience: float | None = None) -> bool:
    """Ask a live loop to stop and wait until it has; tell whether it has (there being none included)."""
    found = ask_to_stop(session)
    if found is None:
        return True
    say(f"the loop (process {found.pid}) finishes its cycle first: {found.step}")
    return _wait(lambda: not is_locked(session.side(LOCK)), patience)


def _wait(done: Callable[[], bool], patience: float | None) -> bool:
    deadline = None if patience is None else time.monotonic() + patience
    while not done():
        if deadline is not None and time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE)
    return True


def detach(session: Session, arguments: Sequence[str]) -> Live:
    """Start `ledger loop` with these arguments in the background, its output in `runtime.log`, and give it.

    Raises LedgerError, with the last line it wrote, if it ended at once.
    """
    if (other := live(session)) is not None:
        raise LedgerError(f"a loop is at work already (process {other.pid}); ledger stop ends it")
    output = session.side(OUTPUT)
    with output.open("ab") as file:
        begin = file.tell()
        child = subprocess.Popen(
            [sys.executable, "-m", "ledger", "loop", *arguments],
            cwd=session.folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    found: list[Live] = []

    def settled() -> bool:
        known = live(session)
        if known is not None and known.pid == child.pid:
            found.append(known)
        return bool(found) or child.poll() is not None

    if not _wait(settled, START_PATIENCE):
        raise LedgerError(f"the loop did not start within {START_PATIENCE:.0f} s; see {output}")
    if not found and child.returncode:
        raise LedgerError(f"the loop ended at once: {_said(output.read_bytes()[begin:])}")
    return found[0] if found else Live(child.pid, now_ms(), "ended", now_ms(), "")


def _said(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("ledger: ") if lines else "it said nothing"


def described(found: Live, moment: int) -> str:
    """Describe a loop for `ledger status`."""
    seconds = max(0, (moment - found.since_ms) // 1000)
    return f"alive, process {found.pid}, since {(iso(found.began_ms) or '')[:19]}Z; {found.step} for {seconds} s"
