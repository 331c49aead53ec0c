"""Where the mirror is: a SQLite file, or a database of a PostgreSQL server, whose password is never shown."""

import os
from pathlib import Path

from platformdirs import user_data_path
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path

Location = Path | URL
"""A file, or the address of a database on a server."""


def mirror_location(option: str | None) -> Location:
    """Say where the mirror is: the option, else $LEDGER_DB, else the user's data folder.

    Raises LedgerError for an address that names neither a file nor a PostgreSQL database.
    """
    named = option or os.environ.get("LEDGER_DB")
    if not named:
        return user_data_path("ledger") / "mirror.db"
    file = named.removeprefix("sqlite:///").removeprefix("sqlite+pysqlite:///")
    if file == named and "://" in named:
        return _address(named)
    if file in ("", ":memory:"):
        raise LedgerError("the mirror must be a file: give --db a path")
    return Path(file).expanduser().absolute()


def _address(named: str) -> URL:
    scheme = named.split("://", 1)[0]
    if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise LedgerError(
            f"a mirror is kept in SQLite or PostgreSQL, and {show_path(scheme)} is neither: give --db a path, or an"
            " address such as postgresql://user@host/database"
        )
    try:
        url = make_url(named)
    except (ArgumentError, ValueError):
        url = None
    if url is None or not url.database or "@" in (url.host or ""):  # part of a password, which would be shown
        raise LedgerError(
            "the mirror's address cannot be read; it should be like postgresql://user@host/database, and an @ in a"
            " password is written %40"
        )
    if isinstance(password := url.query.get("password"), str):
        url = url.set(password=password).difference_update_query(["password"])
    return url.set(drivername="postgresql+psycopg")


def show(place: Location) -> str:
    """Write where a mirror is, for people: without any password."""
    if isinstance(place, Path):
        return show_path(place)
    kept = {name: value for name, value in place.query.items() if name in ("host", "port")}
    shown = place.set(drivername="postgresql", query=kept)._replace(password=None)
    return show_path(shown.render_as_string(hide_password=False))
