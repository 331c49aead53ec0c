"""Run the migrations on the connection that ledger hands over; the transaction is ledger's."""

from alembic import context

from ledger.mirror.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=False,  # the caller's transaction holds it all
)
context.run_migrations()
