"""Run the real command line in a process of its own, and the small logs that its tests share."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.support import forking

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
COMMAND = (sys.executable, "-m", "ledger")
_MOST_SECONDS = 60

HEADER = {"type": "config", "name": "speed", "metricName": "total_ms", "metricUnit": "ms", "bestDirection": "lower"}


class Result(NamedTuple):
    """Hold what a command did: its exit status, and what it wrote where."""

    code: int
    out: str
    err: str


def ledger(folder: Path, *arguments: object, stdin: bytes = b"", **variables: str) -> Result:
    """Run a command in a folder, whose `mirror.db` is the mirror; `variables` are set in its environment."""
    words, env = list(map(str, arguments)), environment(folder, **variables)
    done = forking.run(words, folder, env, stdin, _MOST_SECONDS) if forking.fits(env) else None
    return fresh(folder, *words, stdin=stdin, **variables) if done is None else _result(done)


def fresh(folder: Path, *arguments: object, stdin: bytes = b"", **variables: str) -> Result:
    """Run a command in an interpreter of its own, which has yet to load everything."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env=environment(folder, **variables),
        input=stdin,
        capture_output=True,
        timeout=_MOST_SECONDS,
        check=False,
    )
    return _result(done)


def _result(done: "subprocess.CompletedProcess[bytes]") -> Result:
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def mirror_of(folder: Path) -> str:
    """Say where the mirror of a folder's commands is; tests of servers put another in its place."""
    return str(folder / "mirror.db")


@contextmanager
def mirrors_at(place: Callable[[Path], str]) -> Iterator[None]:
    """Let commands use the mirrors that are at another place."""
    with patch(f"{__name__}.mirror_of", place):
        yield


def interrupted(folder: Path, *arguments: object) -> Result:
    """Run a command that computes without end, interrupt it once it is at work, and say how it ended."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=folder, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        while process.poll() is None and not _is_at_work(process.pid):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return Result(process.returncode, out.decode(), err.decode())


def _is_at_work(process: int) -> bool:
    """Tell whether a process has computed for longer than any start takes; where that cannot be seen, wait."""
    try:
        times = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        time.sleep(3)
        return True
    return sum(map(int, times[11:13])) > 1.5 * os.sysconf("SC_CLK_TCK")


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Give a command's whole environment: nothing of a developer's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    ours = {"HOME": str(folder), "LEDGER_DB": mirror_of(folder), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    return {**kept, **ours, **variables}


def run(number: int, metric: float, status: str = "keep", **more: Any) -> dict[str, Any]:
    """Make a run's record, a second after the run before it."""
    plain = {"run": number, "commit": "abc1234" if status == "keep" else "", "metric": metric, "status": status}
    return {**plain, "description": f"idea {number}", "timestamp": 1_700_000_000_000 + 1000 * number, **more}


def lines(*records: object) -> bytes:
    """Write records as a log; bytes stand for a line as it is."""
    parts = (one if isinstance(one, bytes) else json.dumps(one, separators=(",", ":")).encode() for one in records)
    return b"".join(part + b"\n" for part in parts)


SOUND = lines(HEADER, run(1, 100, metrics={"mem": 5}), run(2, 104.5, "discard", metrics={"mem": 6}), run(3, 90))
"""A sound log: its baseline is 100, its best 90; run 3 lacks a secondary metric, which is one warning."""
BAD = lines(HEADER, run(1, 100), b'{"run":2,"metric":NaN}')
"""A log with one error, L106 at 3:19."""


def log(folder: Path, data: bytes = SOUND, name: str = "autoresearch.jsonl") -> Path:
    """Write a log and give its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def assert_refused(done: Result, *words: str) -> None:
    """Hold a command to have failed in one sentence that has these words."""
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("ledger: ") and done.err.count("\n") == 1, done.err
    assert all(word in done.err for word in words), done.err
