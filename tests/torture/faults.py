"""Commands cut short: killed, interrupted, or out of disk, at random moments and at every size."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.cli import COMMAND, environment
from tests.torture.figures import Figure
from tests.torture.scenes import Scene

_STARTING = 0.9  # of the time that a command takes to start, in which there is nothing to cut short
_LONGER, _SHORTER = 1.03, 0.9  # a machine with other work is now faster, now slower


def start(scene: Scene, *arguments: str, limit: int | None = None) -> "subprocess.Popen[str]":
    """Start a command in a scene; none of its files may grow past `limit` bytes."""

    def bounded() -> None:
        import resource

        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=scene.folder,
        env=environment(scene.folder, **scene.variables()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=bounded,  # noqa: PLW1509 - no thread runs here
    )


def _seconds(scene: Scene, *arguments: str) -> float:
    began = time.perf_counter()
    with start(scene, *arguments) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return time.perf_counter() - began


class _Moments:
    """Choose moments when a command is at work, three in four; at the others it has just ended."""

    def __init__(self, scene: Scene, dice: random.Random) -> None:
        self._dice = dice
        self._starting = min(_seconds(scene, "--version") for _ in range(3)) * _STARTING
        scene.reset()
        self._whole = max(_seconds(scene, *scene.command), self._starting)

    def next(self) -> float:
        """Give seconds from the command's start."""
        return self._dice.uniform(self._starting, self._whole)

    def learn(self, *, ended: bool) -> None:
        """Take into account whether the command had ended by itself at the last moment."""
        self._whole = max(self._starting, self._whole * (_SHORTER if ended else _LONGER))


def _told(counts: "Counter[bool]") -> str:
    return f"{counts[False]} as before, {counts[True]} as after"


def kill(scene: Scene, times: int, seed: int = 1) -> Figure:
    """Kill a command at random moments: what is there is as before or as after it, and the next run completes it."""
    counts: Counter[bool] = Counter()
    moments, cut = _Moments(scene, random.Random(seed)), 0
    while cut < times:
        scene.reset()
        with start(scene, *scene.command) as process:
            time.sleep(moments.next())
            process.kill()
            _, err = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), (process.returncode, err)
        moments.learn(ended=process.returncode == 0)
        if process.returncode == 0:
            continue
        cut += 1
        counts[scene.check()] += 1
        scene.complete()
    return Figure(f"`kill -9` during {scene.name}", cut, _told(counts))


def interrupt(scene: Scene, times: int, seed: int = 2) -> Figure:
    """Interrupt a command at random moments: the same, with exit status 130, one sentence and no traceback."""
    counts: Counter[bool] = Counter()
    moments, stopped = _Moments(scene, random.Random(seed)), 0
    while stopped < times:
        scene.reset()
        with start(scene, *scene.command) as process:
            time.sleep(moments.next())
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        if process.returncode in (1, -signal.SIGINT) and "/ledger/" not in err:
            continue  # Python was still starting, or ending, and none of ours was there to hear it
        assert "Traceback" not in err, err
        assert process.returncode in (0, 130), (process.returncode, err)
        moments.learn(ended=process.returncode == 0)
        if process.returncode == 0:
            continue
        assert err.endswith("ledger: interrupted\n"), err
        stopped += 1
        counts[scene.check()] += 1
        scene.complete()
    return Figure(f"Ctrl-C during {scene.name}", stopped, f"exit status 130; {_told(counts)}")


def _said(process: "subprocess.Popen[str]") -> None:
    """Hold a command that met a full disk to have said so in sentences."""
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1, 2), (process.returncode, err)
    assert "Traceback" not in err, err
    assert process.returncode == 0 or err, "it failed and did not say why"
    assert all(line.startswith(("ledger: ", "warning: ")) for line in err.splitlines()), err


def no_growth(scene: Scene, times: int, seed: int = 3) -> Figure:
    """Let no file grow past some size, from nothing to plenty."""
    counts: Counter[bool] = Counter()
    dice = random.Random(seed)
    scene.reset()
    most = 8 << 20  # more than any file of a scene grows to
    for turn in range(times):
        scene.reset()
        limit = most * turn * turn // max(1, times - 1) ** 2
        with start(scene, *scene.command, limit=dice.randint(limit // 2, limit)) as process:
            _said(process)
        counts[scene.check()] += 1
        scene.complete()
    return Figure(f"files that cannot grow during {scene.name}", times, _told(counts))


@contextmanager
def small_disk(folder: Path, megabytes: int = 48) -> Iterator[None]:
    """Mount a small file system on a folder. Raises OSError where that is not allowed."""
    options = f"size={megabytes}m,mode=0777"
    command = ["mount", "-t", "tmpfs", "-o", options, "ledger-torture", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise PermissionError(done.stderr.decode().strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def full_disk(scene: Scene, times: int, seed: int = 4) -> Figure:
    """Run a command on a file system with little room, from none to plenty. Raises OSError if it cannot be mounted."""
    counts: Counter[bool] = Counter()
    dice = random.Random(seed)
    with small_disk(scene.folder):
        for turn in range(times):
            scene.reset()
            ballast = scene.folder / "ballast"
            _fill(ballast, room=dice.randint(0, 4096 * 2 ** (turn % 11)))
            with start(scene, *scene.command) as process:
                _said(process)
            ballast.unlink()
            counts[scene.check()] += 1
            scene.complete()
        scene.folder.joinpath("ballast").unlink(missing_ok=True)
    return Figure(f"a full disk during {scene.name}", times, _told(counts))


def _fill(ballast: Path, room: int) -> None:
    """Fill a file system up to so many bytes."""
    descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    size = 0
    try:
        for piece in (1 << 20, 4096):
            try:
                while True:
                    size += os.write(descriptor, bytes(piece))
            except OSError:
                pass
        os.ftruncate(descriptor, max(0, size - room))
    finally:
        os.close(descriptor)
