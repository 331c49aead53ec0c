"""Processes of the command line, forked from one that has imported everything: a start costs a tenth of a fresh one's.

Each is a process as any other: its own folder, environment, arguments, streams, signals and exit status. Only what
Python and its libraries read from the environment as they start is not taken over, so `fits` says what needs a fresh
interpreter. The seed of hashes is the same for all of a parent's, and every module was imported before.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

LIBRARIES = ("sqlalchemy", "alembic.command", "psycopg", "tabulate", "xlsxwriter")
_AT_START = (
    "PYTHON",
    "LC_",
    "LANG",
    "TZ",
    "MALLOC_",
    "LD_",
    "TMPDIR",
    "SQLITE_",
    "PSYCOPG_",
    "SQLALCHEMY_",
    "OPENSSL_",
)
_MOST_BYTES = 64 * 1024
"""What certainly fits in one message with the environment and the arguments."""


def fits(variables: Mapping[str, str]) -> bool:
    """Tell whether an environment differs from the parent's in nothing that is read before a program begins.

    With LEDGER_FRESH=1 around the tests nothing fits, and each command is an interpreter of its own; so it is on other
    systems than Linux: macOS has no such socket as the parent's, and its frameworks do not outlive a fork.
    """
    if sys.platform != "linux" or os.environ.get("LEDGER_FRESH") == "1":
        return False
    begun = _parent_environment()
    return all(variables.get(name) == begun.get(name) for name in {*variables, *begun} if name.startswith(_AT_START))


def run(
    arguments: list[str], folder: Path, variables: Mapping[str, str], stdin: bytes, timeout: float
) -> "subprocess.CompletedProcess[bytes] | None":
    """Run a command to its end, as `subprocess.run` would; None where its words are too many for a message.

    Its end is that of its streams as well: TimeoutExpired too if something that it left behind keeps them open.
    """
    parent = _Parent.of(os.getpid())
    with parent.lock:
        os.umask(mask := os.umask(0o077))  # there is no other way to ask
    message = json.dumps([arguments, os.fspath(folder), dict(variables), mask]).encode()
    if len(message) > _MOST_BYTES:
        return None
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    read_err, write_err = os.pipe()
    ours, theirs = socket.socketpair()
    given = (read_in, write_out, write_err, theirs.fileno())
    try:
        with parent.lock:
            socket.send_fds(parent.control, [message], given)
    finally:
        for one in given[:3]:
            os.close(one)
        theirs.close()
    out, err = bytearray(), bytearray()
    works = ((_drain, (read_out, out)), (_drain, (read_err, err)), (_feed, (write_in, stdin)))
    threads = [threading.Thread(target=work, args=given, daemon=True) for work, given in works]
    end = time.monotonic() + timeout
    with ours:
        for thread in threads:
            thread.start()
        ours.settimeout(timeout)
        process = _number(ours)
        try:
            code = _number(ours)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, timeout) from None
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
        if thread.is_alive():
            raise subprocess.TimeoutExpired(arguments, timeout)
    return subprocess.CompletedProcess(arguments, code, bytes(out), bytes(err))


def _number(told: socket.socket) -> int:
    data = told.recv(8)
    assert len(data) == 8, "the process was never forked, or nobody kept it"
    return int.from_bytes(data, "big", signed=True)


def _drain(descriptor: int, into: bytearray) -> None:
    with open(descriptor, "rb") as stream:
        while chunk := stream.read1():
            into += chunk


def _feed(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as stream:
        stream.write(data)


class _Parent:
    """The process that others are forked from; it ends with the one that started it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                env=_parent_environment(), cwd=Path(__file__).parents[2],
            )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self.control.close()
        self._process.wait()

    @staticmethod
    @cache
    def of(process: int) -> "_Parent":
        """Give this process's own."""
        return _Parent()


@cache
def _parent_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8"}


def _serve(control: socket.socket) -> None:
    """Fork a process for each message; return in the one that is to be the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    while True:
        message, given, _, _ = socket.recv_fds(control, _MOST_BYTES, 4)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            break
        for descriptor in given:
            os.close(descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    control.close()
    *streams, report = given
    command = os.fork()
    if command:
        _keep(command, streams, report)
    os.close(report)
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    arguments, folder, variables, mask = json.loads(message)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        before = getattr(sys, name)  # it remembers whether the parent's was a file
        lines = 1 if name == "stderr" else -1
        made = open(before.fileno(), mode, lines, before.encoding, before.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, made)
    os.chdir(folder)
    os.umask(mask)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv[1:] = arguments
    sys.path[0] = folder  # where `python -m` looks first


def _keep(command: int, streams: list[int], report: int) -> None:
    """Tell of the command's process, and how it ended, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in streams:
        os.close(descriptor)
    os.write(report, command.to_bytes(8, "big", signed=True))
    _, status = os.waitpid(command, 0)
    os.write(report, os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
    os._exit(0)


def _end(code: object) -> None:
    """End at once where an interpreter's own end would only have taken longer; else return."""
    if type(code) is not int:
        return
    threading._shutdown()  # type: ignore[attr-defined]  # both as the interpreter does, in its order
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import ledger.cli

    for found in pkgutil.walk_packages(ledger.cli.__path__, "ledger.cli."):
        importlib.import_module(found.name)
    for library in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    gc.freeze()  # else the end of each process would look at all of it
    _serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        runpy.run_module("ledger", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        _end(ended.code)
        raise
