"""The connection that rows are read and written on: SQLite's own, or a server that is spoken to in the same way."""

import sqlite3
from typing import cast

from sqlalchemy import Connection

from ledger.mirror.postgres import Server
from ledger.mirror.sql_variants import SERVER, SQLITE, render

Raw = sqlite3.Connection | Server


def driver(connection: Connection) -> Raw:
    """Give the driver's own connection, on which rows are read and written in bulk."""
    own = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        return cast("sqlite3.Connection", own)
    assert own is not None
    return Server(own)


def written_for(raw: Raw, template: str) -> str:
    """Write a statement as its database has it; see sql_variants."""
    return render(template, SERVER if isinstance(raw, Server) else SQLITE)
