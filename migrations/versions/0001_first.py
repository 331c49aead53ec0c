"""Create the mirror's tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create every table; the views come after the migrations."""
    op.create_table(
        "session",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("path", sa.Text, nullable=False, unique=True),
        sa.Column("dialect", sa.Text),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
        sa.Column("tail_size", sa.BigInteger, nullable=False),
        sa.Column("pending_bytes", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("fold", sa.Text, nullable=False),
        sa.Column("run_json", sa.LargeBinary),
        sa.Column("quarantined", sa.Boolean, nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
        sa.Column("synced_ms", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "block",
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session", "start"),
    )
    op.create_table(
        "segment",
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("metric_name", sa.Text),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("direction", sa.Text),
        sa.PrimaryKeyConstraint("session", "segment"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("run", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("metric", sa.Float, nullable=False),
        sa.Column("metric_residue", sa.Float),
        sa.Column("commit", sa.Text),
        sa.Column("description", sa.Text),
        sa.Column("at_ms", sa.BigInteger),
        sa.Column("confidence", sa.Float),
        sa.Column("asi", sa.Text),
        sa.Column("extras", sa.Text),
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
        sa.Column("name", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "event",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text),
        sa.Column("run", sa.BigInteger),
        sa.Column("at_ms", sa.BigInteger),
        sa.Column("time_unit", sa.Text),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_table(
        "unread",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text),
    )
    op.create_table(
        "diagnostic",
        sa.Column("session", sa.Integer, nullable=False, index=True),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("column", sa.Integer, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("accepted", sa.Integer),
        sa.Column("id", sa.Integer, primary_key=True),
    )
    op.create_table(
        "side",
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session", "kind"),
    )
    op.create_table(
        "acceptance",
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("line", sa.BigInteger, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("source", sa.Text),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("sha256", "reason", "by", "at")),
        sa.PrimaryKeyConstraint("session", "number"),
    )
    op.create_table(
        "repair",
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("action", "by", "at", "before", "after", "backup")),
        sa.Column("items", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("session", "number"),
    )
    op.create_table(
        "segment_stat",
        sa.Column("session", sa.Integer, nullable=False),
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
