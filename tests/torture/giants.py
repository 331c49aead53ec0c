"""Logs of great size, each in a way of its own, and what reading them costs."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from tests.support.cli import COMMAND, HEADER, environment, lines, run
from tests.torture.figures import Figure

HEAD = lines(HEADER)
RUN = lines(run(1, 1))
OPEN = RUN[:-2]
"""A run whose object is still open."""


class Giant(NamedTuple):
    """Say how a giant is written, how large it is in full and in short, and which exit statuses are right."""

    name: str
    make: Callable[[IO[bytes], int], object]
    full: int
    short: int
    check: int
    sync: int

    def write(self, path: Path, size: int) -> None:
        """Write the log, beginning with a sound header."""
        with path.open("wb") as file:
            file.write(HEAD)
            self.make(file, size)


class Cost(NamedTuple):
    """Hold what a command took."""

    command: str
    seconds: float  # of computing, since other processes may be at work too
    megabytes: float


def _blank(file: IO[bytes], count: int) -> None:
    for _ in range(count // 10_000):
        file.write(b"\n" * 10_000)
    file.write(RUN)


def _garbage(file: IO[bytes], count: int) -> None:
    for _ in range(count // 10_000):
        file.write(b"x\n" * 10_000)


def _line(file: IO[bytes], size: int) -> None:
    file.write(OPEN + b',"x":"' + b"a" * (size - len(OPEN) - len(b',"x":""}')) + b'"}\n')


def _members(count: int) -> bytes:
    return b",".join(b'"%d":%d' % (number, number % 10) for number in range(count))


def _keys(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b"," + _members(count) + b"}\n")


def _metrics(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b',"metrics":{' + _members(count) + b"}}\n")


def _equal_keys(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b',"k":1' * count + b"}\n")


def _distinct_duplicates(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b"".join(b',"%d":1,"%d":1' % (number, number) for number in range(count)) + b"}\n")


def _no_numbers(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b',"metrics":{' + b",".join(b'"%d":""' % number for number in range(count)) + b"}}\n")


def _arrays(file: IO[bytes], depth: int) -> None:
    file.write(OPEN + b',"asi":' + b"[" * depth + b"\n" + RUN)


def _objects(file: IO[bytes], depth: int) -> None:
    file.write(OPEN + b',"asi":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}\n" + RUN)


def _digits(file: IO[bytes], count: int) -> None:
    file.write(OPEN + b',"x":' + b"9" * count + b"}\n")


MEBI = 1 << 20
MOST = 600
"""Megabytes of memory that no giant may need, whatever its size."""
LONGEST = {"check": 90, "sync": 180, "verify": 360}
"""Seconds of computing that none may take."""

GIANTS = (
    Giant("10 million blank lines", _blank, 10_000_000, 50_000, 0, 0),
    Giant("3 million lines of garbage", _garbage, 3_000_000, 20_000, 1, 1),
    Giant("a line of 16 MiB", _line, 16 * MEBI, 16 * MEBI, 0, 0),
    Giant("a line of 200 MiB", _line, 200 * MEBI, 20 * MEBI, 1, 1),
    Giant("1,000,000 keys", _keys, 1_000_000, 100_000, 0, 0),
    Giant("1,000,000 secondary metrics", _metrics, 1_000_000, 50_000, 0, 0),
    Giant("1,000,000 equal keys", _equal_keys, 1_000_000, 50_000, 1, 1),
    Giant("500,000 keys twice each", _distinct_duplicates, 500_000, 20_000, 1, 1),
    Giant("1,000,000 metrics that are texts", _no_numbers, 1_000_000, 50_000, 0, 0),
    Giant("5,000,000 open brackets", _arrays, 5_000_000, 500_000, 1, 1),
    Giant("2,000,000 nested objects", _objects, 2_000_000, 200_000, 1, 1),
    Giant("a number of 10,000,000 digits", _digits, 10_000_000, 1_000_000, 1, 1),
)


_MEASURED = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
"""A small process between ours and the command: Linux counts the peak of who starts a process as that process's own."""


def costs(giant: Giant, folder: Path, size: int) -> Iterator[Cost]:
    """Check and sync a giant, and verify it if it is taken; hold each to its exit status, and yield what it took."""
    giant.write(folder / "autoresearch.jsonl", size)
    commands = (("check", giant.check), ("sync", giant.sync), ("verify", 0))
    for command, expected in commands if giant.sync == 0 else commands[:2]:
        with (folder / "said").open("w+b") as said:
            done = subprocess.run(
                [sys.executable, "-c", _MEASURED, *COMMAND, command],
                cwd=folder, env=environment(folder), stdout=subprocess.PIPE, stderr=said, check=True,
            )  # fmt: skip
            said.seek(0)
            text = said.read(2000).decode("utf-8", "replace")
        code, seconds, peak = json.loads(done.stdout)
        assert code == expected and "Traceback" not in text, (giant.name, command, text)
        memory = peak / (MEBI if sys.platform == "darwin" else 1 << 10)
        assert memory < MOST and seconds < LONGEST[command], (giant.name, command, memory, seconds)
        yield Cost(command, seconds, memory)


def read(folder: Path, giant: Giant, *, short: bool = False) -> Figure:
    """Read a giant, and say what it took."""
    told = [
        f"{cost.command} {cost.seconds:.0f} s, {cost.megabytes:,.0f} MB"
        for cost in costs(giant, folder, giant.short if short else giant.full)
    ]
    return Figure(giant.name, 1, f"{'taken' if giant.sync == 0 else 'refused'}: {'; '.join(told)}")
