"""`ledger serve` as a command: how it starts, what it says, how it ends."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import ledger, log
from tests.support.serving import served


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_interrupted(tmp_path: Path, number: int):
    log(tmp_path)
    with served(tmp_path, ".", TMPDIR=str(tmp_path)) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/" and server.sessions()
        assert [one.name for one in tmp_path.glob("ledger-*/mirror.db")] == ["mirror.db"]
        assert server.end(number) == (130, "\nledger: interrupted\n")
    assert not list(tmp_path.glob("ledger-*"))


def test_only_this_machine_is_listened_to(tmp_path: Path):
    with served(tmp_path, ".") as server:
        for address in ("127.0.0.2", "::1"):
            with pytest.raises(OSError), socket.create_connection((address, server.port), timeout=2):  # noqa: PT011
                pass


def test_a_port_that_is_taken(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ledger(tmp_path, "serve", ".", "--port", port)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"ledger: port {port} is taken; name another with --port, or --port 0 for a free one\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nowhere",), "cannot read nowhere: no such file or folder"),
        (("-",), "standard input cannot be followed"),
        ((".", "--port", "65536"), "65536 is not in the range"),
        ((".", "--port", "-1"), "-1 is not in the range"),
        (("--db", "autoresearch.jsonl", "--port", "0"), "is no SQLite database"),
        (("--db", "mysql://x/y", "--port", "0"), "is kept in SQLite or PostgreSQL"),
    ],
)
def test_mistakes_in_the_call(tmp_path: Path, arguments: tuple[str, ...], reason: str):
    log(tmp_path)
    done = ledger(tmp_path, "serve", *arguments)
    assert done.code == 2 and done.out == "" and reason in done.err and "Traceback" not in done.err


def test_without_its_extra(tmp_path: Path):
    """The module is hidden in a fresh process, as it would be where the extra is not installed."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "waitress.py").write_text("raise ModuleNotFoundError(\"No module named 'waitress'\", name='waitress')")
    environment = {**os.environ, "PYTHONPATH": str(hidden)}
    done = subprocess.run(
        [sys.executable, "-m", "ledger", "serve", "."], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ledger: ledger serve needs its extra: pip install 'autoresearch-ledger[web]'\n"
