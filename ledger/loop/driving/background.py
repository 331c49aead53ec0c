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

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.locks import is_locked, locked
from ledger.base.paths import show_path
from ledger.base.text import plain
from ledger.base.times import iso, now_ms
from ledger.session.files import LOOP, LOOP_LOCK, LOOP_OUTPUT, STOP, Session

START_PATIENCE = 30.0
"""Seconds that a detached loop may take until it works or says why not."""

STARTING = "starting"
"""The step of a loop that has not looked yet whether anything stands against it."""

LOCK_PATIENCE = 1.0
"""Seconds to wait for the loop's lock, which who asks after the loop takes for a moment."""

_PAUSE = 0.05
_KINDS = {"pid": int, "began_ms": int, "step": str, "since_ms": int, "agent": str}


class Live(NamedTuple):
    """Tell of a loop: its process, when it began, what it does and since when (UTC milliseconds)."""

    pid: int
    began_ms: int
    step: str
    since_ms: int
    agent: str


def live(session: Session) -> Live | None:
    """Find the loop that is at work on a session; None if there is none."""
    if not session.side(LOOP).exists() or not is_locked(session.side(LOOP_LOCK)):
        return None
    found = session.get_object(LOOP)
    if any(type(found.get(name)) is not kind for name, kind in _KINDS.items()):
        return None
    return Live(**{name: found[name] for name in _KINDS})


def check_free(session: Session) -> None:
    """Raise LedgerError, with what to do, if a loop is at work."""
    if (other := live(session)) is not None:
        what = "it measures your change once your turn is over" if inside(session) else "ledger stop ends it"
        raise LedgerError(f"a loop is at work already (process {other.pid}); {what}")


def inside(session: Session) -> bool:
    """Tell whether this process was started by the session's loop, as an agent and a hook are: it waits for them."""
    return os.environ.get("LEDGER_LOG") == str(session.log)


def last_agent(session: Session) -> str | None:
    """Give the agent command of the session's last loop."""
    agent = session.get_object(LOOP).get("agent")
    return agent if isinstance(agent, str) and agent else None


class Registration:
    """Hold a loop's place: its lock, and the file that tells others what it does."""

    def __init__(self, session: Session, agent: str) -> None:
        self._session = session
        self._live = Live(os.getpid(), now_ms(), STARTING, now_ms(), agent)
        self.step(STARTING)

    def step(self, name: str) -> None:
        """Tell what the loop does now."""
        self._live = self._live._replace(step=name, since_ms=now_ms())
        self._session.put_object(LOOP, self._live._asdict())

    def check(self) -> None:
        """Raise LedgerError if the lock's file is gone, since a second loop could start then."""
        if not (lock := self._session.side(LOOP_LOCK)).exists():
            raise LedgerError(
                f"somebody removed {show_path(lock)}, by which others see the loop; nothing else is lost: ledger loop"
                " --resume"
            )


@contextmanager
def registered(session: Session, agent: str) -> Iterator[Registration]:
    """Be the session's one loop. Raises LedgerError if another one is at work."""
    check_free(session)
    session.side(STOP).unlink(missing_ok=True)  # ahead of the lock, by which a stop finds the loop
    with locked(session.side(LOOP_LOCK), LOCK_PATIENCE, busy="another loop is starting here; see ledger status"):
        yield Registration(session, agent)


def is_urgent(session: Session) -> bool:
    """Tell whether somebody asked the loop to stop at once."""
    try:
        return session.side(STOP).read_bytes().startswith(b"now")
    except OSError:
        return False


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


def stop_and_wait(session: Session, say: Callable[[str], object]) -> None:
    """Ask a live loop to stop and wait until it has; its own agent and hooks do not wait, since it waits for them."""
    found = ask_to_stop(session)
    if found is None or inside(session):
        return
    say(f"the loop (process {found.pid}) finishes its cycle first: {found.step}")
    while is_locked(session.side(LOOP_LOCK)):
        time.sleep(_PAUSE)


def detach(session: Session, arguments: Sequence[str]) -> str:
    """Start `ledger loop` with these arguments in the background, its output in `runtime.log`; say how that went.

    It runs in the current folder, whose session and settings are its own. Raises LedgerError, with the last line it
    wrote, if it failed at once.
    """
    check_free(session)
    output = session.side(LOOP_OUTPUT)
    with output.open("ab") as file:
        begin = file.tell()
        child = subprocess.Popen(
            # -P: the project's own files must not stand in for a library's
            [sys.executable, "-P", "-m", "ledger", "loop", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )

    deadline = time.monotonic() + START_PATIENCE
    while True:
        ended = child.poll() is not None
        found = live(session)
        if found is not None and found.pid == child.pid and found.step != STARTING:
            return f"the loop is at work: {described(found, now_ms())}"
        if ended:
            break
        if time.monotonic() >= deadline:
            child.terminate()
            raise LedgerError(f"the loop did not start within {START_PATIENCE:.0f} s; see {show_path(output)}")
        time.sleep(_PAUSE)
    with output.open("rb") as file:
        file.seek(begin)
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    said = plain(lines[-1].removeprefix("ledger: ")) if lines else "it said nothing"
    if child.wait():
        raise LedgerError(f"the loop ended at once: {said}")
    return f"the loop has ended already: {said}"


def described(found: Live, moment: int) -> str:
    """Describe a loop for `ledger status`."""
    seconds = max(0, (moment - found.since_ms) // 1000)
    began = (iso(found.began_ms) or "")[:19]
    return f"alive, process {found.pid}, since {began}Z; {plain(found.step)} for {seconds} s"
