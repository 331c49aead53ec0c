"""The mirror's database: where it is, opened for reading or writing, recognised, created and upgraded."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.mirror import postgres, schema, views
from ledger.mirror.location import Location, show
from ledger.mirror.postgres import OWN_SCHEMA, Server
from ledger.mirror.raw import driver

BUSY_SECONDS = 20

_STATEMENTS = 32
"""Prepared statements that are kept: of those that store rows some take megabytes."""


def _engine(path: Path, mode: str, begin: str, *, query_only: bool = False) -> Engine:
    """Make an engine on one file; `mode` is SQLite's open mode, `begin` how transactions start.

    The driver's own transaction handling is switched off: it would not roll back a failed migration. Raises LedgerError
    for a pipe or a device.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise LedgerError(f"{show_path(path)} is no regular file; name another mirror with --db")
    uri = f"file:{quote(os.fsencode(path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False,
            cached_statements=_STATEMENTS,
        )  # fmt: skip
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cache_size = -24000")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        _synchronise(connection)
        if query_only:
            connection.execute("PRAGMA query_only = ON")
            connection.set_progress_handler(lambda: 0, 1_000_000)  # lets Ctrl-C through while a query runs
        return connection

    engine = create_engine("sqlite+pysqlite://", creator=connect)
    event.listen(engine, "begin", lambda connection: driver(connection).execute(begin))
    return engine


def explain(error: Exception, place: Location) -> LedgerError:
    """Turn a database's failure into a sentence about the mirror."""
    if not isinstance(place, Path):
        return postgres.explain(error, place)
    reason = str(getattr(error, "orig", None) or error)
    name = f"the mirror {show_path(place)}"
    if "locked" in reason or "busy" in reason:
        return LedgerError(f"{name} is locked: another command has been writing for {BUSY_SECONDS} s; try again")
    if "readonly" in reason:
        return LedgerError(f"{name} is read-only; name another with --db")
    if "full" in reason:
        return LedgerError(f"the disk is full; {name} is as it was before")
    if "unable to open" in reason:
        return LedgerError(f"{name} cannot be opened; check the folder and its permissions")
    if "not a database" in reason or "malformed" in reason:
        return LedgerError(f"{name} is no SQLite database, or a damaged one; name another with --db")
    return LedgerError(f"{name} failed: {reason}")


@contextmanager
def translated(place: Location) -> Iterator[None]:
    """Turn what a database's driver raises into a LedgerError about the mirror."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        if getattr(getattr(error, "orig", error), "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from error
        raise explain(error, place) from error
    except postgres.failures() as error:
        raise explain(error, place) from error


@contextmanager
def open_reader(place: Location) -> Iterator[Connection | None]:
    """Open the mirror read-only; None if there is none yet. Raises LedgerError if it cannot be read or is no mirror."""
    if isinstance(place, Path) and not place.exists():
        yield None
        return
    with translated(place):
        if isinstance(place, Path):
            engine = _engine(place, _reading_mode(place), "BEGIN", query_only=True)
        else:
            engine = postgres.engine(place, reading=True)
        try:
            with engine.connect() as connection:
                yield connection if _is_current(connection, place) else None
        finally:
            engine.dispose()


def _reading_mode(path: Path) -> str:
    """Say how to open a mirror for reading, which `query_only` then makes sure of.

    SQLite must be able to write, to undo what a killed writer left and to clear away its own files. In a folder that
    nobody may write to, a mirror at rest is read as it stands.
    """
    beside = any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-journal"))
    return "rw" if beside or os.access(path.parent, os.W_OK) else "ro&immutable=1"


@contextmanager
def open_writer(place: Location, *, bulk: bool = False) -> Iterator[Connection]:
    """Open the mirror for writing: created if there is none, upgraded if it is older. Raises LedgerError otherwise.

    A file has a write-ahead log, so that readers and writers do not wait for each other. A large first load (`bulk`)
    goes without, since it would be written twice while nobody reads; it gets one in the end, or by `write_ahead`.
    """
    with translated(place):
        engine = _file_engine(place) if isinstance(place, Path) else postgres.engine(place, reading=False)
        try:
            with engine.connect() as connection:
                version = _version(connection, place)
                connection.rollback()
                if version is None:
                    if not bulk:
                        write_ahead(connection)
                    create(connection)
                else:
                    if version != schema.REVISION:
                        _refuse_newer(version, place)
                        upgrade(connection)
                    write_ahead(connection)  # an interrupted first load may have left it out
                yield connection
                if version is None and bulk:
                    write_ahead(connection)
        finally:
            engine.dispose()


def _file_engine(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"cannot make the folder {show_path(path.parent)}: {error.strerror}") from None
    return _engine(path, "rwc", "BEGIN IMMEDIATE")


def write_ahead(connection: Connection) -> None:
    """Give a mirror its write-ahead log, for good; it does without where another holds it or its file system cannot."""
    raw = driver(connection)  # outside of any transaction
    if isinstance(raw, Server):
        return
    with suppress(sqlite3.OperationalError):
        raw.execute("PRAGMA journal_mode = WAL")
    _synchronise(raw)


def _synchronise(raw: sqlite3.Connection) -> None:
    """With a write-ahead log a power cut may cost the last sync, never the mirror; so spare each commit its wait."""
    if raw.execute("PRAGMA journal_mode").fetchone() == ("wal",):
        raw.execute("PRAGMA synchronous = NORMAL")


def _version(connection: Connection, place: Location) -> str | None:
    """Read the schema's revision; None for an empty database. Raises LedgerError for any other database."""
    made = connection.exec_driver_sql(_MADE if isinstance(place, Path) else _MADE_THERE).all()
    names = {name for kind, name in made if kind == "table"}
    if len(names) < len(made):  # they would do as they like whenever ledger writes
        raise LedgerError(f"{show(place)} has triggers, which ledger never makes; name another mirror with --db")
    if schema.VERSION_TABLE in names and "session" in names:
        return str(connection.exec_driver_sql(f"SELECT version_num FROM {schema.VERSION_TABLE}").scalar_one_or_none())
    if names if isinstance(place, Path) else names & schema.metadata.tables.keys():
        raise LedgerError(f"{show(place)} is a database, but no mirror of ledger; name another with --db")
    return None


_MADE = "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger')"
_MADE_THERE = f"""
SELECT 'table', relname FROM pg_class WHERE relnamespace = {OWN_SCHEMA} AND relkind IN ('r', 'p', 'v')
UNION ALL SELECT 'trigger', tgname FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
WHERE c.relnamespace = {OWN_SCHEMA} AND NOT tgisinternal
  AND relname IN ({", ".join(f"'{name}'" for name in schema.metadata.tables)})
"""


def _refuse_newer(version: str, place: Location) -> None:
    if not version.isdigit() or int(version) > int(schema.REVISION):
        raise LedgerError(
            f"the mirror {show(place)} has schema {version}, this version of ledger knows {schema.REVISION}:"
            " it was made by a newer one; update ledger, or name another with --db"
        )


def _is_current(connection: Connection, place: Location) -> bool:
    """Tell whether there is a mirror, on a server. Raises LedgerError for a file that is empty, and an old mirror."""
    version = _version(connection, place)
    connection.rollback()
    if version is None and isinstance(place, Path):
        raise LedgerError(f"{show_path(place)} is an empty database; run ledger sync to fill it")
    if version not in (None, schema.REVISION):
        _refuse_newer(str(version), place)
        raise LedgerError(
            f"the mirror {show(place)} has schema {version}, this version of ledger needs {schema.REVISION};"
            " run ledger db upgrade"
        )
    return version is not None


def create(connection: Connection) -> None:
    """Create tables and views in an empty database, as the migrations would, and stamp it with their head.

    A test holds both ways to the same schema. This one spares every first sync the import of Alembic.
    """
    raw = driver(connection)
    with connection.begin():
        if isinstance(raw, Server):
            raw.lock_schema()
            made = f"SELECT count(*) FROM pg_class WHERE oid = to_regclass('{schema.VERSION_TABLE}')"
        else:
            made = "SELECT count(*) FROM sqlite_master"
        if raw.execute(made).fetchone()[0]:
            return  # another process was faster
        schema.metadata.create_all(connection)
        create_views(connection)
        connection.exec_driver_sql(
            f"CREATE TABLE {schema.VERSION_TABLE} (version_num VARCHAR(32) NOT NULL,"
            f" CONSTRAINT {schema.VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
        )
        raw.execute(f"INSERT INTO {schema.VERSION_TABLE} VALUES (?)", (schema.REVISION,))


def drop_views(connection: Connection) -> None:
    """Drop every view of a file, ours or not: a migration cannot alter a table under one. On a server only ours."""
    if isinstance(driver(connection), Server):
        names = [view.name for view in views.VIEWS]
    else:
        names = list(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'view'").scalars())
    for name in names:
        connection.exec_driver_sql('DROP VIEW IF EXISTS "{}"'.format(name.replace('"', '""')))


def create_views(connection: Connection) -> None:
    """Create every view anew."""
    raw = driver(connection)
    for statement in views.create_statements(server=isinstance(raw, Server)):
        raw.execute(statement)


def upgrade(connection: Connection) -> None:
    """Bring the schema to the newest revision in one transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    raw = driver(connection)
    with connection.begin():
        if isinstance(raw, Server):
            raw.lock_schema()
        drop_views(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        create_views(connection)


def migrations_folder() -> Path:
    """Find the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_migrations"
    return inside if inside.is_dir() else package.parent / "migrations"
