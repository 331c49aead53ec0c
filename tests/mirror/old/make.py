"""Make a mirror of the samples in the schema of this version, small enough to keep: python -m tests.mirror.old.make

Once a revision is released its file is never made again: that later versions upgrade it is what the tests hold.
"""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from ledger.mirror import schema
from ledger.mirror.engine import open_writer
from ledger.mirror.raw import driver
from ledger.mirror.sync_one import sync_log
from tests.support import deciding

HERE = Path(__file__).parent
SAMPLES = HERE.parents[2] / "samples"
ELSEWHERE = "/home/ada/experiments"
"""Where the mirror says that its logs are; nobody has them there."""


def make(target: Path) -> None:
    """Mirror all samples, the damaged one too, and write the mirror to one file without free space."""
    with tempfile.TemporaryDirectory() as folder, open_writer(Path(folder) / "mirror.db") as connection:
        raw = driver(connection)
        samples = Path(shutil.copytree(SAMPLES, Path(folder).resolve() / "samples"))
        logs = sorted(samples.rglob("*.jsonl"))
        damaged = samples / "damaged" / "autoresearch.jsonl"
        deciding.accept(damaged, "L106", "S405")
        deciding.note_repair(damaged)
        for log in logs:
            sync_log(connection, log, quarantine=True)
        raw.execute("UPDATE session SET path = replace(path, ?, ?)", (str(samples), ELSEWHERE))
        raw.execute("UPDATE session SET key = printf('%08x', id * 65537), synced_ms = 0")
        target.unlink(missing_ok=True)
        raw.execute("VACUUM INTO ?", (str(target),))
    with closing(sqlite3.connect(target)) as made:
        made.execute("PRAGMA page_size = 1024")  # most tables fill no page of the usual size
        made.execute("VACUUM")


if __name__ == "__main__":
    make(HERE / f"{schema.REVISION}.db")
