"""The mirror's tables. Stored bytes, of logs and side files, are its only data of its own; all else is derived.

A record's `id` is `session << 32 | line`: rows of a session lie together, in file order, without a second index.
"""

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.event import listen

REVISION = "0001"
"""The schema that this version reads and writes; the head of the migrations."""

VERSION_TABLE = "ledger_version"
LINE_BITS = 32

metadata = MetaData()

_ID = BigInteger().with_variant(Integer, "sqlite")  # only an INTEGER is the row's own key there
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")  # ordered by code points everywhere
_ANY_INTEGER = BigInteger().with_variant(Numeric, "postgresql")  # where 64 bits may not do, SQLite takes a double

session = Table(
    "session",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", _TEXT, nullable=False, unique=True),  # the short id shown to people
    Column("path", _TEXT, nullable=False),
    Column("dialect", _TEXT),
    Column("size", BigInteger, nullable=False),  # bytes of terminated lines
    Column("sha256", _TEXT, nullable=False),  # of those bytes
    Column("lines", BigInteger, nullable=False),
    Column("tail_size", BigInteger, nullable=False),  # of an unterminated last line, mirrored provisionally
    Column("pending_bytes", BigInteger, nullable=False),  # bytes of a torn tail that is held back
    Column("state", _TEXT, nullable=False),  # last marker, status of a history, or `none`
    Column("fold", _TEXT, nullable=False),  # the fold's state after the terminated lines, as JSON
    Column("run_json", LargeBinary),
    Column("quarantined", Boolean, nullable=False),
    Column("gone", Boolean, nullable=False),  # the file was missing when last looked for
    Column("synced_ms", BigInteger, nullable=False),
    Column("host", _TEXT),  # the machine that the path is of; null in a file, which is of one machine
    Column("origin", _TEXT),  # git remote and path within the repository, by which other clones know the log
    sqlite_autoincrement=True,  # an id is never given again, so no row can pass to another session
)

block = Table(
    "block",
    metadata,
    Column("session", _ID, nullable=False),
    Column("start", BigInteger, nullable=False),  # offset of the block's first byte in the file
    Column("length", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("session", "start"),
)

segment = Table(
    "segment",
    metadata,
    Column("session", _ID, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("line", BigInteger, nullable=False),  # of its header; 0 without one
    Column("name", _TEXT),
    Column("metric_name", _TEXT),
    Column("unit", _TEXT, nullable=False),
    Column("direction", _TEXT),
    PrimaryKeyConstraint("session", "segment"),
    sqlite_with_rowid=False,
)

run = Table(
    "run",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("segment", Integer, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("length", Integer, nullable=False),
    Column("run", _ANY_INTEGER, nullable=False),
    Column("status", _TEXT, nullable=False),
    Column("metric", Float, nullable=False),
    Column("metric_residue", Float),  # what the nearest double leaves out, where it leaves out something
    Column("commit", _TEXT),
    Column("description", _TEXT),
    Column("at_ms", BigInteger),
    Column("confidence", Float),
    Column("asi", _TEXT),
    Column("extras", _TEXT),  # JSON: unknown keys, and raw values that the typed columns do not give back exactly
    Column("shape", Integer, nullable=False),  # ledger.log.events.Shape
)

run_metric = Table(
    "run_metric",
    metadata,
    Column("run_id", BigInteger, nullable=False),
    Column("name_id", Integer, nullable=False),
    Column("value", Float, nullable=False),
    PrimaryKeyConstraint("run_id", "name_id"),
    sqlite_with_rowid=False,
)

metric_name = Table(
    "metric_name",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", _TEXT, nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("segment", Integer, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("length", Integer, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("state", _TEXT),
    Column("run", _ANY_INTEGER),
    Column("at_ms", BigInteger),
    Column("time_unit", _TEXT),  # `ms` or `s` where at_ms gives the record's timestamp back exactly
    Column("detail", _TEXT, nullable=False),  # JSON: the record's other keys
)

unread = Table(
    "unread",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("start", BigInteger, nullable=False),
    Column("length", Integer, nullable=False),
    Column("kind", _TEXT),  # `blank`, `torn`, the record's kind, or null where nothing could be told
)

diagnostic = Table(
    "diagnostic",
    metadata,
    Column("session", _ID, nullable=False, index=True),
    Column("line", BigInteger, nullable=False),
    Column("column", Integer, nullable=False),
    Column("code", _TEXT, nullable=False),
    Column("name", _TEXT, nullable=False),
    Column("severity", _TEXT, nullable=False),
    Column("message", _TEXT, nullable=False),
    Column("source", _TEXT),  # `run.json` where that is the file at fault
    Column("accepted", Integer),  # the number of the decision that took it as it is
    Column("id", _ID, primary_key=True),
)

side = Table(
    "side",
    metadata,
    Column("session", _ID, nullable=False),
    Column("kind", _TEXT, nullable=False),  # `accepted` or `repairs`
    Column("data", LargeBinary, nullable=False),  # the side file's bytes
    PrimaryKeyConstraint("session", "kind"),
)

acceptance = Table(
    "acceptance",
    metadata,
    Column("session", _ID, nullable=False),
    Column("number", Integer, nullable=False),  # its place among the decisions in force, from 1
    Column("line", BigInteger, nullable=False),  # where its finding stood then
    Column("code", _TEXT, nullable=False),
    Column("source", _TEXT),
    Column("sha256", _TEXT, nullable=False),  # of the line's content
    Column("reason", _TEXT, nullable=False),
    Column("by", _TEXT, nullable=False),
    Column("at", _TEXT, nullable=False),
    PrimaryKeyConstraint("session", "number"),
)

repair = Table(
    "repair",
    metadata,
    Column("session", _ID, nullable=False),
    Column("number", Integer, nullable=False),  # its place among the log's repairs, from 1
    Column("action", _TEXT),  # `repair` or `undo`
    Column("by", _TEXT),
    Column("at", _TEXT),
    Column("before", _TEXT),  # SHA-256 of the log, as that of `after`
    Column("after", _TEXT),
    Column("backup", _TEXT),
    Column("items", _TEXT, nullable=False),  # JSON
    PrimaryKeyConstraint("session", "number"),
)

segment_stat = Table(
    "segment_stat",
    metadata,
    Column("session", _ID, nullable=False),
    Column("segment", Integer, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("keep", Integer, nullable=False),
    Column("discard", Integer, nullable=False),
    Column("crash", Integer, nullable=False),
    Column("checks_failed", Integer, nullable=False),
    Column("other", Integer, nullable=False),
    Column("last_decided", BigInteger),
    Column("first_ms", BigInteger),
    Column("last_ms", BigInteger),
    Column("baseline_id", BigInteger),
    Column("baseline", Float),
    Column("best_id", BigInteger),
    Column("best", Float),
    Column("best_residue", Float),
    Column("confidence", Float),
    PrimaryKeyConstraint("session", "segment"),
    sqlite_with_rowid=False,
)

HASHED = "ALTER TABLE {0} ADD CONSTRAINT {0}_{1}_key EXCLUDE USING hash ({1} WITH =)"
"""How a server keeps texts of any length unique: an ordered index of its takes 2,704 bytes."""

for _table, _column in ((session, "path"), (metric_name, "name")):
    _table.append_constraint(UniqueConstraint(_column).ddl_if(dialect="sqlite"))
    _hash = DDL(HASHED.format(_table.name, _column))  # type: ignore[no-untyped-call]  # SQLAlchemy's own
    listen(_table, "after_create", _hash.execute_if(dialect="postgresql"))

OWN = (block, side)
"""Tables with what the mirror has by itself, whose rows name their session."""

BY_RECORD = ((run, "id"), (run_metric, "run_id"), (event, "id"), (unread, "id"))
"""Derived tables whose rows belong to a line, with the column that says which."""

BY_SESSION = (segment, segment_stat, diagnostic, acceptance, repair)
"""Derived tables whose rows name their session."""


def first_id(session_id: int, line: int = 0) -> int:
    """Give the id of a session's record at a line."""
    return session_id << LINE_BITS | line
