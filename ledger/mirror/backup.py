"""A mirror as a whole: how large it is, and its sessions copied to a file."""

from collections.abc import Iterator
from pathlib import Path

from ledger.mirror import side_rows, store
from ledger.mirror.engine import open_writer
from ledger.mirror.location import Location
from ledger.mirror.postgres import OWN_SCHEMA
from ledger.mirror.raw import Raw, driver
from ledger.mirror.store import StoredSession
from ledger.mirror.sync_one import ingest_stored


def mirror_size(raw: Raw, place: Location) -> int:
    """Give the bytes that a mirror takes: its file, or its tables with their indexes."""
    if isinstance(place, Path):
        return place.stat().st_size
    sql = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c"
    return int(raw.execute(f"{sql} WHERE relnamespace = {OWN_SCHEMA} AND relkind = 'r'").fetchone()[0])


def copy_sessions(raw: Raw, target: Path) -> Iterator[StoredSession]:
    """Copy all sessions of a server's mirror into a new SQLite mirror, and yield each when it is there."""
    target.unlink()  # an empty file is no new mirror
    with open_writer(target, bulk=True) as connection:
        apart = driver(connection)
        for session in store.every(raw):
            with connection.begin():
                marks = ",".join("?" * len(session))
                apart.execute(f"INSERT INTO session ({', '.join(StoredSession._fields)}) VALUES ({marks})", session)
                start = 0
                for data in store.stored(raw, session.id):
                    apart.execute("INSERT INTO block VALUES (?, ?, ?, ?)", (session.id, start, len(data), data))
                    start += len(data)
                side_rows.keep(apart, session.id, side_rows.stored(raw, session.id))
                ingest_stored(apart, session)
            yield session
