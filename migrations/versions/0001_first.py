"""Create the mirror's tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ANY_INTEGER = sa.BigInteger().with_variant(sa.Numeric, "postgresql")


def upgrade() -> None:
    """Create every table; the views come after the migrations."""
    server = op.get_bind().dialect.name == "postgresql"

    def unique(column: str) -> list[sa.UniqueConstraint]:
        return [] if server else [sa.UniqueConstraint(column)]

    op.create_table(
        "session",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("path", _TEXT, nullable=False),
        sa.Column("dialect", _TEXT),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("sha256", _TEXT, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
        sa.Column("tail_size", sa.BigInteger, nullable=False),
        sa.Column("pending_bytes", sa.BigInteger, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("fold", _TEXT, nullable=False),
        sa.Column("run_json", sa.LargeBinary),
        sa.Column("quarantined", sa.Boolean, nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
        sa.Column("synced_ms", sa.BigInteger, nullable=False),
        sa.Column("host", _TEXT),
        sa.Column("origin", _TEXT),
        sa.UniqueConstraint("key"),
        *unique("path"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "block",
        sa.Column("session", _ID, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session", "start"),
    )
    op.create_table(
        "segment",
        sa.Column("session", _ID, nullable=False),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("name", _TEXT),
        sa.Column("metric_name", _TEXT),
        sa.Column("unit", _TEXT, nullable=False),
        sa.Column("direction", _TEXT),
        sa.PrimaryKeyConstraint("session", "segment"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("run", _ANY_INTEGER, nullable=False),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("metric", sa.Float, nullable=False),
        sa.Column("metric_residue", sa.Float),
        sa.Column("commit", _TEXT),
        sa.Column("description", _TEXT),
        sa.Column("at_ms", sa.BigInteger),
        sa.Column("confidence", sa.Float),
        sa.Column("asi", _TEXT),
        sa.Column("extras", _TEXT),
        sa.Column("shape", sa.Integer, nullable=False),
    )
    op.create_table(
        "run_metric",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("name_id", sa.Integer, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "metric_name",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", _TEXT, nullable=False),
        *unique("name"),
    )
    op.create_table(
        "event",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("state", _TEXT),
        sa.Column("run", _ANY_INTEGER),
        sa.Column("at_ms", sa.BigInteger),
        sa.Column("time_unit", _TEXT),
        sa.Column("detail", _TEXT, nullable=False),
    )
    op.create_table(
        "unread",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("kind", _TEXT),
    )
    op.create_table(
        "diagnostic",
        sa.Column("session", _ID, nullable=False, index=True),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("column", sa.Integer, nullable=False),
        sa.Column("code", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("severity", _TEXT, nullable=False),
        sa.Column("message", _TEXT, nullable=False),
        sa.Column("source", _TEXT),
        sa.Column("accepted", sa.Integer),
        sa.Column("id", _ID, primary_key=True),
    )
    op.create_table(
        "side",
        sa.Column("session", _ID, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session", "kind"),
    )
    op.create_table(
        "acceptance",
        sa.Column("session", _ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("code", _TEXT, nullable=False),
        sa.Column("source", _TEXT),
        *(sa.Column(name, _TEXT, nullable=False) for name in ("sha256", "reason", "by", "at")),
        sa.PrimaryKeyConstraint("session", "number"),
    )
    op.create_table(
        "repair",
        sa.Column("session", _ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        *(sa.Column(name, _TEXT) for name in ("action", "by", "at", "before", "after", "backup")),
        sa.Column("items", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("session", "number"),
    )
    op.create_table(
        "segment_stat",
        sa.Column("session", _ID, nullable=False),
        sa.Column("segment", sa.Integer, nullable=False),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("runs", "keep", "discard", "crash", "checks_failed", "other")
        ),
        *(sa.Column(name, sa.BigInteger) for name in ("last_decided", "first_ms", "last_ms", "baseline_id")),
        sa.Column("baseline", sa.Float),
        sa.Column("best_id", sa.BigInteger),
        sa.Column("best", sa.Float),
        sa.Column("best_residue", sa.Float),
        sa.Column("confidence", sa.Float),
        sa.PrimaryKeyConstraint("session", "segment"),
        sqlite_with_rowid=False,
    )
    if server:  # its ordered indexes take texts of 2,704 bytes at most
        for table, column in (("session", "path"), ("metric_name", "name")):
            op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_key EXCLUDE USING hash ({column} WITH =)")
