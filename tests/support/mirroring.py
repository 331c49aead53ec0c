"""Mirror logs into real database files, and lay open what a mirror holds."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from sqlalchemy import Connection

from ledger.mirror import queries, schema, store, views
from ledger.mirror.engine import open_writer
from ledger.mirror.ingest import SyncOutcome
from ledger.mirror.location import Location
from ledger.mirror.proof import Proof, verify
from ledger.mirror.queries import Filters
from ledger.mirror.raw import driver
from ledger.mirror.sync_many import sync_logs
from ledger.mirror.sync_one import ingest_stored, sync_log

MORE = int(os.environ.get("LEDGER_EXAMPLES", "1"))
"""How many times as many examples the property tests draw; past 1 they are new ones each time."""

LINE = 2**schema.LINE_BITS - 1


def examples(count: int) -> settings:
    """Draw so many examples, in every run the same; LEDGER_EXAMPLES=4 draws four times as many, others each time."""
    return settings(
        max_examples=count * MORE,
        derandomize=MORE == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


class Mirror:
    """An open mirror."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.raw = driver(connection)
        if isinstance(self.raw, sqlite3.Connection):
            self.raw.execute("PRAGMA synchronous = OFF")  # no test here pulls the plug

    def sync(self, log: Path, **options: Any) -> SyncOutcome:
        return sync_log(self.connection, log, **options)

    def sync_many(self, *logs: Path, **options: Any) -> None:
        for _, outcome in sync_logs(self.connection, logs, **options):
            assert isinstance(outcome, SyncOutcome)

    def session(self, log: Path) -> store.StoredSession:
        found = store.find(self.raw, log)
        assert found is not None, log
        return found

    def rebuild(self, log: Path) -> None:
        with self.connection.begin():
            ingest_stored(self.raw, self.session(log))

    def forget(self, *logs: Path) -> None:
        with self.connection.begin():
            for log in logs:
                if (known := store.find(self.raw, log)) is not None:
                    store.remove(self.raw, known.id)

    def export(self, log: Path) -> bytes:
        return b"".join(store.stored(self.raw, self.session(log).id))

    def verify(self, log: Path) -> Proof:
        return verify(self.raw, self.session(log))

    def rows(self, view: str, log: Path | None = None, **filters: Any) -> list[dict[str, Any]]:
        if log is not None:
            filters["sessions"] = (str(log),)
        known = views.by_name(view)
        return [
            dict(zip(known.columns, row, strict=True)) for row in queries.query(self.raw, known, Filters(**filters))
        ]

    def laid_open(self, log: Path) -> dict[str, Any]:
        """Give everything that the tables hold of a log, but for what differs from one mirror to the next."""
        known = self.session(log)
        base = schema.first_id(known.id)
        row = known._asdict()
        for key in ("id", "key", "path", "synced_ms"):
            del row[key]
        row["fold"] = json.loads(known.fold)
        tables: dict[str, Any] = {"session": row, "bytes": self.export(log)}
        for table in (schema.run, schema.event, schema.unread):
            found = self._select(table.name, "id >= ? AND id < ? ORDER BY id", base, base + LINE + 1)
            tables[table.name] = [(row[0] - base, *row[1:]) for row in found]
        tables["run_metric"] = self.raw.execute(
            "SELECT v.run_id - ?, n.name, v.value FROM run_metric AS v JOIN metric_name AS n ON n.id = v.name_id"
            " WHERE v.run_id >= ? AND v.run_id < ? ORDER BY 1, 2",
            (base, base, base + LINE + 1),
        ).fetchall()
        tables["segment"] = [row[1:] for row in self._select("segment", "session = ? ORDER BY segment", known.id)]
        tables["segment_stat"] = [
            {key: value - base if key in _IDS and value is not None else value for key, value in row.items()}
            for row in self._named("segment_stat", "session = ? ORDER BY segment", known.id)
        ]
        found = self._select("diagnostic", "session = ?", known.id)
        tables["diagnostic"] = sorted(repr(row[1:-1]) for row in found)
        for name, order in (("side", "kind"), ("acceptance", "number"), ("repair", "number")):
            tables[name] = [row[1:] for row in self._select(name, f"session = ? ORDER BY {order}", known.id)]
        return tables

    def _select(self, table: str, where: str, *values: int) -> list[tuple[Any, ...]]:
        return list(self.raw.execute(f"SELECT * FROM {table} WHERE {where}", values).fetchall())

    def _named(self, table: str, where: str, *values: int) -> list[dict[str, Any]]:
        names = [column.name for column in schema.metadata.tables[table].columns if column.name != "session"]
        columns = ", ".join(f'"{name}"' for name in names)
        rows = self.raw.execute(f"SELECT {columns} FROM {table} WHERE {where}", values)
        return [dict(zip(names, row, strict=True)) for row in rows]


_IDS = ("last_decided", "baseline_id", "best_id")


@contextmanager
def mirror_at(path: Location) -> Iterator[Mirror]:
    """Open a mirror for writing; it is made if there is none."""
    with open_writer(path) as connection:
        yield Mirror(connection)


def write(folder: Path, name: str, data: bytes, run_json: object = None) -> Path:
    """Write a log in a folder of its own, with its run.json if it has one."""
    log = folder / name / "events.jsonl"
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(data)
    beside = log.with_name("run.json")
    if run_json is None:
        beside.unlink(missing_ok=True)
    else:
        beside.write_text(json.dumps(run_json, indent=2))
    return log


def plain(path: Path) -> sqlite3.Connection:
    """Open a mirror as anyone would, with nothing of ours."""
    return sqlite3.connect(path, isolation_level=None)
