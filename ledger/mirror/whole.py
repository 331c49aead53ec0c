"""A mirror as a whole: how large it is, and its sessions copied to a file."""

from collections.abc import Iterator
from pathlib import Path

from ledger.mirror import sides, store
from ledger.mirror.engine import open_writer
from ledger.mirror.place import Place
from ledger.mirror.raw import Raw, driver
from ledger.mirror.server import OWN_SCHEMA
from ledger.mirror.store import Session
from ledger.mirror.sync import ingest_stored


def mirror_size(raw: Raw, place: Place) -> int:
    """Give the bytes that a mirror takes: its file, or its tables with their indexes."""
    if isinstance(place, Path):
        return place.stat().st_size
    sql = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c"
    return int(raw.execute(f"{sql} WHERE relnamespace = {OWN_SCHEMA} AND relkind = 'r'").fetchone()[0])


def copy_sessions(raw: Raw, target: Path) -> Iterator[Session]:
    """Copy all sessions of a server's mirror into a new SQLite mirror, and yield each when it is there."""
    target.unlink()  # an empty file is no new mirror
    with open_writer(target, bulk=True) as connection:
        apart = driver(connection)
        for session in store.every(raw):
            with connection.begin():
                marks = ",".join("?" * len(session))
                apart.execute(f"INSERT INTO session ({', '.join(Session._fields)}) VALUES ({marks})", session)
                start = 0
                for data in store.stored(raw, session.id):
                    apart.execute("INSERT INTO block VALUES (?, ?, ?, ?)", (session.id, start, len(data), data))
                    start += len(data)
                sides.keep(apart, session.id, sides.stored(raw, session.id))
                ingest_stored(apart, session)
            yield session
