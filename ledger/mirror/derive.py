"""What is derived from a session's rows by the views' own selects, and how derived rows are dropped again."""

import sqlite3

from ledger.mirror import schema
from ledger.mirror.views import SEGMENT_STATS


def derive(connection: sqlite3.Connection, session_id: int, first_segment: int) -> None:
    """Materialise a session's segment statistics, from a segment on."""
    connection.execute("DELETE FROM segment_stat WHERE session = ? AND segment >= ?", (session_id, first_segment))
    columns = ", ".join(column.name for column in schema.segment_stat.columns)
    scope = f"AND g.session = {session_id} AND g.segment >= {first_segment}"
    connection.execute(f"INSERT INTO segment_stat ({columns}) {SEGMENT_STATS.format(scope=scope)}")


def drop_derived(connection: sqlite3.Connection, session_id: int) -> None:
    """Drop everything derived from a session's bytes."""
    first, end = schema.first_id(session_id), schema.first_id(session_id + 1)
    for table, key in schema.BY_RECORD:
        connection.execute(f"DELETE FROM {table.name} WHERE {key} >= ? AND {key} < ?", (first, end))
    for table in schema.BY_SESSION:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
