"""What is derived from a session's rows by the views' own selects, and how derived rows are dropped again."""

import sqlite3

from ledger.mirror import schema
from ledger.mirror.statistics import SEGMENT_STATS

_COLUMNS = ", ".join(column.name for column in schema.segment_stat.columns)
_SPAN = "{0}session = ? AND {0}segment BETWEEN ? AND ?"

DERIVATION = (
    f"DELETE FROM segment_stat WHERE {_SPAN.format('')}",
    f"INSERT INTO segment_stat ({_COLUMNS}) {SEGMENT_STATS.format(scope='AND ' + _SPAN.format('g.'))}",
)
"""The statements that materialise the statistics of a session's segments: session, first segment, last segment."""


def drop_derived(connection: sqlite3.Connection, session_id: int) -> None:
    """Drop everything derived from a session's bytes."""
    first, end = schema.first_id(session_id), schema.first_id(session_id + 1)
    for table, key in schema.BY_RECORD:
        connection.execute(f"DELETE FROM {table.name} WHERE {key} >= ? AND {key} < ?", (first, end))
    for table in schema.BY_SESSION:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
