"""What is derived from a session's rows by the views' own selects, and how derived rows are dropped again."""

from functools import cache

from ledger.mirror import schema
from ledger.mirror.raw import Raw
from ledger.mirror.sql_variants import SERVER, SQLITE, render
from ledger.mirror.statistics import SEGMENT_STATS

_COLUMNS = ", ".join(column.name for column in schema.segment_stat.columns)
_SPAN = "{0}session = ? AND {0}segment BETWEEN ? AND ?"


@cache
def derivation(*, server: bool) -> tuple[str, str]:
    """Give the statements that drop and materialise a session's statistics, of its first to its last segment given."""
    select = SEGMENT_STATS.format(scope="WHERE " + _SPAN.format("g."))
    return (
        f"DELETE FROM segment_stat WHERE {_SPAN.format('')}",
        f"INSERT INTO segment_stat ({_COLUMNS}) {render(select, SERVER if server else SQLITE)}",
    )


def drop_derived(connection: Raw, session_id: int) -> None:
    """Drop everything derived from a session's bytes."""
    first, end = schema.first_id(session_id), schema.first_id(session_id + 1)
    for table, key in schema.BY_RECORD:
        connection.execute(f"DELETE FROM {table.name} WHERE {key} >= ? AND {key} < ?", (first, end))
    for table in schema.BY_SESSION:
        connection.execute(f"DELETE FROM {table.name} WHERE session = ?", (session_id,))
