"""What is derived from a session's rows by the views' own selects, and how derived rows are dropped again."""

import sqlite3

from ledger.mirror import schema
from ledger.mirror.views import SEGMENT_STATS


def derivation(session_id: int, first: int, last: int) -> tuple[str, str]:
    """Give the statements that materialise the statistics of a session's segments from `first` to `last`."""
    columns = ", ".join(column.name for column in schema.segment_stat.columns)
    span = f"session = {session_id} AND {{0}}segment BETWEEN {first} AND {last}"
    return (
        f"DELETE FROM segment_stat WHERE {span.format('')}",
        f"INSERT INTO segment_stat ({columns}) {SEGMENT_STATS.format(scope='AND g.' + span.format('g.'))}",
    )


def drop_derived(connection: sqlite3.Connection, session_id: int) -> None:
    """Drop everything derived from a session's bytes."""
    first, end = schema.first_id(session_id), schema.first_id(session_id + 1)
    for table, key in schema.BY_RECORD:
        connection.execute(f"DELETE FROM {table.name} WHERE {key} >= ? AND {key} < ?", (first, end))
    for table in schema.BY_SESSION:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
