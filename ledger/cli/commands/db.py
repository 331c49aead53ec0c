"""`db`: the mirror as a database."""

import sqlite3
from contextlib import closing
from pathlib import Path

import click
import orjson

from ledger.base.errors import LedgerError
from ledger.base.files import output_file
from ledger.base.paths import show_path
from ledger.cli.support.mirror import existing_mirror, kept_as, kept_files
from ledger.cli.support.options import db_option
from ledger.cli.support.progress import progress
from ledger.mirror import schema, store
from ledger.mirror.backup import copy_sessions, mirror_size
from ledger.mirror.datasette import metadata as described
from ledger.mirror.engine import open_reader, open_writer
from ledger.mirror.location import mirror_location, show
from ledger.mirror.raw import Raw, driver
from ledger.mirror.sync_one import ingest_stored
from ledger.telling.findings import safe


@click.group()
def db() -> None:
    """Look after the mirror.

    \b
    Example:
      ledger db info
    """


@db.command()
@db_option
def path(db: str | None) -> None:
    """Print where the mirror is.

    \b
    Example:
      sqlite3 "$(ledger db path)" "SELECT * FROM best"
    """
    click.echo(show(mirror_location(db)))


@db.command()
@db_option
def info(db: str | None) -> None:
    """Print what the mirror holds.

    \b
    Example:
      ledger db info
    """
    where = mirror_location(db)
    with open_reader(where) as connection:
        if connection is None:
            click.echo(f"mirror      {show(where)}\n            does not exist yet; ledger sync makes it")
            return
        raw = driver(connection)
        click.echo(f"mirror      {show(where)}")
        click.echo(f"schema      {schema.REVISION}")
        click.echo(f"size        {mirror_size(raw, where):,} bytes")
        for word, sql in _COUNTED.items():
            click.echo(f"{word:<11} {raw.execute(sql).fetchone()[0]:,}")


_COUNTED = {
    "sessions": "SELECT count(*) FROM session",
    "gone": "SELECT count(*) FROM session WHERE gone",
    "quarantined": "SELECT count(*) FROM session WHERE quarantined",
    "segments": "SELECT count(*) FROM segment",
    "lines": "SELECT coalesce(sum(lines), 0) FROM session",
    "runs": "SELECT count(*) FROM run",
    "bytes": "SELECT coalesce(sum(size + tail_size), 0) FROM session",
}


@db.command()
@db_option
def upgrade(db: str | None) -> None:
    """Bring the mirror to this version's schema; make it if there is none.

    \b
    Example:
      ledger db upgrade
    """
    with open_writer(mirror_location(db)):
        click.echo(f"{show(mirror_location(db))} has schema {schema.REVISION}")


@db.command()
@db_option
def rebuild(db: str | None) -> None:
    """Derive every row anew from the stored bytes; no log file is read.

    \b
    Example:
      ledger db rebuild
    """
    with open_writer(existing_mirror(db)) as connection:
        raw = driver(connection)

        def derive(session: store.StoredSession) -> None:
            with connection.begin():
                if current := store.claim(raw, session.id):  # another command may have changed it meanwhile
                    ingest_stored(raw, current)

        sessions = store.every(raw)
        for _ in progress(map(derive, sessions), "rebuild", len(sessions)):
            pass
    click.echo(f"rebuilt {len(sessions)} sessions")


@db.command()
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write.")
@db_option
def backup(output: str, db: str | None) -> None:
    """Copy the mirror to a SQLite file, safely while others use it.

    For a mirror on a server, the file holds the same sessions, and every row is derived anew from their bytes. To back
    up the server's database itself, use pg_dump.

    \b
    Example:
      ledger db backup -o mirror-copy.db
    """
    source, target = mirror_location(db), Path(output)
    if target.is_dir():
        raise click.UsageError(f"{output} is a folder; name a file in it")
    with open_reader(source) as connection:
        if connection is None:
            raise LedgerError(f"there is no mirror at {show(source)} yet; run ledger sync")
        raw = driver(connection)
        if what := kept_as(target, kept_files(raw, source)):
            raise LedgerError(f"{show_path(target)} is {what}; name another file")
        with output_file(target) as file:
            _copy(raw, Path(file.name))
    click.echo(f"wrote {show_path(target)}")


def _copy(raw: Raw, target: Path) -> None:
    if isinstance(raw, sqlite3.Connection):
        with closing(sqlite3.connect(target)) as copy:
            raw.backup(copy)
    else:
        for _ in progress(copy_sessions(raw, target), "backup", len(store.every(raw))):
            pass


@db.command()
@db_option
def metadata(db: str | None) -> None:
    """Print metadata for Datasette 0.65: what views and columns mean, their order, and queries to begin with.

    It holds the mirror's name, so print it again after a move. Datasette only reads the mirror, and its pages show
    what is synced meanwhile. Give it the mirror without -i: that would miss what is still in the write-ahead log. Where
    Datasette may not write to the mirror's folder, give it a copy made by ledger db backup, with -i. A large mirror may
    need --setting sql_time_limit_ms 10000.

    \b
    Datasette shows the mirror with it after these commands:
      ledger db metadata > metadata.json
      datasette "$(ledger db path)" --metadata metadata.json

    \b
    Example:
      ledger db metadata
    """
    where = mirror_location(db)
    if not isinstance(where, Path):
        raise LedgerError("Datasette reads SQLite files: make one of this mirror with ledger db backup")
    name = safe(where.stem)
    click.echo(orjson.dumps(described(name), option=orjson.OPT_INDENT_2).decode())
