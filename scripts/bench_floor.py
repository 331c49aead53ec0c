"""The floor of scripts/bench: a bare loop that parses, hashes and stores logs, in one transaction, the collector off.

A program of its own, so that it starts as a command does. Usage: bench_floor.py DATABASE LOG...
"""

import gc
import hashlib
import sqlite3
import sys
from pathlib import Path
from typing import Any

import orjson

TABLES = {
    "line": "log INTEGER, number INTEGER, data BLOB",
    "segment": "log INTEGER, line INTEGER, name TEXT, metric TEXT, unit TEXT, direction TEXT",
    "run": "log INTEGER, line INTEGER, segment INTEGER, run INTEGER, status TEXT, metric REAL, commit_hash TEXT,"
    " description TEXT, at REAL, confidence REAL, asi TEXT",
    "metric": "log INTEGER, line INTEGER, name TEXT, value REAL",
}
BATCH = 10_000


def main(database: str, *logs: str) -> None:
    """Store the logs: a row a raw line, the typed rows and the metric values."""
    gc.disable()
    db = sqlite3.connect(database, isolation_level=None)
    rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
    lines, segments, runs, metrics = rows.values()

    def flush() -> None:
        for table, pending in rows.items():
            if pending:
                db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(pending[0]))})", pending)
                pending.clear()

    for table, columns in TABLES.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
    db.execute("BEGIN")
    for log, path in enumerate(logs):
        digest = hashlib.sha256()
        with Path(path).open("rb") as file:
            for number, data in enumerate(file, 1):
                digest.update(data)
                r = orjson.loads(data)
                lines.append((log, number, data))
                if "type" in r:
                    segments.append((log, number, r["name"], r["metricName"], r["metricUnit"], r["bestDirection"]))
                else:
                    asi = orjson.dumps(r["asi"]).decode()
                    what = r["commit"], r["description"], r["timestamp"], r["confidence"], asi
                    runs.append((log, number, r["segment"], r["run"], r["status"], r["metric"], *what))
                    metrics.extend((log, number, name, value) for name, value in r["metrics"].items())
                if len(lines) == BATCH:
                    flush()
    flush()
    db.execute("COMMIT")


if __name__ == "__main__":
    main(*sys.argv[1:])
