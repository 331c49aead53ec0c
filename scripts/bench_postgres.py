#!/usr/bin/env python3
"""Measure `ledger sync` into PostgreSQL against a bare COPY of the same rows, and what questions cost over many runs.

It starts a server of its own, with fsync on and nothing else tuned. Programs run as subprocesses and are timed from
start to exit; a number is the median of interleaved rounds. Exit 1 if the limit is missed.

Example: python scripts/bench_postgres.py; python scripts/bench_postgres.py --questions 1000000
"""

import argparse
import importlib.machinery
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import postgres  # noqa: E402 - the checkout is not installed

LEDGER = str(Path(sys.executable).parent / "ledger")
LIMIT = 1.8
SESSIONS = 2000
TABLES = {
    "run": "id bigint, segment int, start bigint, length int, run numeric, status text, metric double precision,"
    ' metric_residue double precision, "commit" text, description text, at_ms bigint, confidence double precision,'
    " asi text, extras text, shape int",
    "run_metric": "run_id bigint, name_id int, value double precision",
}
KEYS = {"run": "id", "run_metric": "run_id, name_id"}


def floor(url: str, path: str, keyed: str) -> None:
    """Read a log, parse each line with orjson, and COPY its run rows and metric rows, in one transaction."""
    import orjson
    import psycopg

    runs: list[tuple[Any, ...]] = []
    metrics: list[tuple[Any, ...]] = []
    names: dict[str, int] = {}
    with psycopg.connect(url) as db:
        for table, columns in TABLES.items():
            db.execute(f"CREATE TABLE {table} ({columns}{f', PRIMARY KEY ({KEYS[table]})' if keyed else ''})")

        def flush() -> None:
            for table, rows in (("run", runs), ("run_metric", metrics)):
                with db.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                rows.clear()

        start = 0
        with Path(path).open("rb") as file:
            for number, data in enumerate(file, 1):
                r = orjson.loads(data)
                if "type" not in r:
                    key, asi = 1 << 32 | number, orjson.dumps(r["asi"]).decode()
                    what = r["commit"], r["description"], r["timestamp"], r["confidence"], asi, None, 0
                    runs.append((key, r["segment"], start, len(data), r["run"], r["status"], r["metric"], None, *what))
                    metrics += [
                        (key, names.setdefault(name, len(names)), float(value)) for name, value in r["metrics"].items()
                    ]
                    if len(runs) == 10_000:
                        flush()
                start += len(data)
        flush()


def bench() -> Any:
    """Load scripts/bench, which knows how the logs are made."""
    loader = importlib.machinery.SourceFileLoader("bench", str(ROOT / "scripts" / "bench"))
    spec = importlib.util.spec_from_loader("bench", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench"] = module
    loader.exec_module(module)
    return module


def timed(*words: object, url: str = "") -> float:
    """Run a program and give the seconds that it took."""
    started = time.perf_counter()
    subprocess.run(list(map(str, words)), env={**os.environ, "LEDGER_DB": url}, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def sync(server: postgres.Postgres, folder: Path, runs: int, repeat: int) -> bool:
    """Measure the first sync of one log; print the ratios, and tell whether the limit is kept."""
    made = bench()
    log = made.write(folder / "autoresearch.jsonl", made.log(runs))
    seconds: dict[str, list[float]] = {"bare COPY": [], "bare COPY, with keys": [], "sync": []}
    for _ in range(repeat):
        for name, times in seconds.items():
            url = server.database(filled=name == "sync")
            if name == "sync":
                times.append(timed(LEDGER, "sync", log, url=url))
                size = int(server.sql("SELECT pg_database_size(current_database())", postgres.database_of(url)))
            else:
                times.append(timed(sys.executable, __file__, "--floor", url, log, "keys" if "keys" in name else ""))
            server.sql(f"DROP DATABASE {postgres.database_of(url)}")
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    print(f"{runs:,} runs, a log of {log.stat().st_size / runs:.0f} bytes a run; the database has {size / runs:.0f}.")
    for name, median in medians.items():
        ratio = medians["sync"] / median
        print(f"{name:<22} {median:6.2f} s   sync is {ratio:.2f} times that")
    return medians["sync"] <= LIMIT * medians["bare COPY"]


def questions(server: postgres.Postgres, folder: Path, runs: int) -> None:
    """Print what each question over many sessions costs, in PostgreSQL and in SQLite, with the server's plans."""
    made = bench()
    for number in range(SESSIONS):
        made.write(folder / f"{number // 100:02}/{number:04}/autoresearch.jsonl", made.log(runs // SESSIONS, number))
    url, file = server.database(), str(folder / "mirror.db")
    print(f"sync of {SESSIONS} logs: server {timed(LEDGER, 'sync', folder, url=url):.1f} s,", end=" ")
    print(f"file {timed(LEDGER, 'sync', folder, url=file):.1f} s")
    database = postgres.database_of(url)
    server.sql("ANALYZE", database)
    for table in ("block", "run", "run_metric", "event", "segment_stat", "session"):
        size = server.sql(f"SELECT pg_total_relation_size('{table}')", database)
        print(f"{table:<14} {int(size) / runs:7.1f} bytes a run")
    print(f"all, SQLite    {Path(file).stat().st_size / runs:7.1f} bytes a run")
    for words in (
        *((view,) for view in ("sessions", "segments", "best", "streaks", "compare")),
        *(("runs", "--limit", "100"), ("runs", "--session", folder / "00/0007/autoresearch.jsonl")),
        ("runs", "--sort=-metric", "--limit", "10"),
    ):
        asked = (LEDGER, *words, "--format", "json")
        there, here = (statistics.median(timed(*asked, url=one) for _ in range(3)) for one in (url, file))
        print(f"{' '.join(map(str, words))[-60:]:<40} server {there:6.2f} s   file {here:6.2f} s")
    for view in ("sessions", "compare", "streaks"):
        print(
            f"\n{view}:\n" + server.sql(f"SET jit = off; EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM {view}", database)
        )


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--floor"]:
        floor(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200_000, help="runs of the log (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds to take the median of (default: %(default)s)")
    parser.add_argument("--questions", type=int, metavar="RUNS", help=f"ask over so many runs in {SESSIONS} sessions")
    options = parser.parse_args()
    if (reason := postgres.why_not()) is not None:
        parser.error(reason)
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as name, postgres.running(careless=False) as server:
        folder = Path(name).resolve()
        if options.questions:
            questions(server, folder, options.questions)
        elif not sync(server, folder, options.runs, options.repeat):
            sys.exit(1)


if __name__ == "__main__":
    main()
