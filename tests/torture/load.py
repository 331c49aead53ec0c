"""Two syncs and four readers at once, while logs are written: no error reaches anybody, and no row is lost."""

import json
import random
import threading
import time
from pathlib import Path

from tests.support import cli
from tests.support.cli import HEADER, lines, run
from tests.support.mirroring import mirror_at
from tests.torture.figures import Figure

LOGS = 6
READERS = (
    ("sql", "SELECT count(*) AS runs FROM runs", "--format", "json"),
    ("runs", "--format", "json", "--sort", "-metric", "--limit", "500"),
    ("sessions", "--format", "json"),
    ("verify", "--all"),
)


def _work(folder: Path, command: tuple[str, ...], end: float, done: list[str], wrong: list[object]) -> None:
    """Run a command again and again, and note whatever a user should not see."""
    seen = 0
    while time.monotonic() < end:
        code, out, err = cli.ledger(folder, *command)
        if code or any(not line.startswith("warning: ") for line in err.splitlines()):
            wrong.append((command, code, out[-300:], err))
        elif command[0] == "sql":
            (now,) = (row["runs"] for row in json.loads(out))
            if now < seen:
                wrong.append((command, f"{seen} runs, and later {now}"))
            seen = now
        done.append(command[0])


def _write(logs: list[Path], end: float) -> int:
    """Append runs to logs, now and then half a line first, as writers do."""
    dice, numbers, written = random.Random(5), dict.fromkeys(logs, 0), 0
    while time.monotonic() < end:
        log = dice.choice(logs)
        numbers[log] += 1
        data = lines(run(numbers[log], dice.random(), metrics={"mem": dice.randrange(9)}))
        cut = dice.choice((0, 0, len(data) // 2))
        with log.open("ab", buffering=0) as file:
            for part in (data[:cut], data[cut:]):
                file.write(part)
                time.sleep(dice.uniform(0, 0.01))
        written += 1
    return written


def crowd(folder: Path, seconds: float) -> Figure:
    """Let them all loose for so long, then hold the mirror to the logs."""
    folder = folder.resolve()
    logs = [
        cli.log(folder / str(number), lines({**HEADER, "name": f"log {number}"}), "autoresearch.jsonl")
        for number in range(LOGS)
    ]
    assert cli.ledger(folder, "sync", ".").code == 0
    done: list[str] = []
    wrong: list[object] = []
    end = time.monotonic() + seconds
    commands = (("sync", "."), ("sync", "."), *READERS)
    threads = [threading.Thread(target=_work, args=(folder, command, end, done, wrong)) for command in commands]
    for thread in threads:
        thread.start()
    written = _write(logs, end)
    for thread in threads:
        thread.join(120)
    assert not wrong, wrong[:3]
    assert set(done) == {command[0] for command in commands}
    assert cli.ledger(folder, "sync", ".").code == 0
    with mirror_at(folder / "mirror.db") as mirror:
        assert len(mirror.rows("runs")) == written
        for log in logs:
            assert mirror.export(log) == log.read_bytes()
            assert mirror.verify(log).ok
    return Figure(
        "two syncs and four readers at once",
        len(done),
        f"{seconds:.0f} s, {written:,} lines written meanwhile, all there",
    )
