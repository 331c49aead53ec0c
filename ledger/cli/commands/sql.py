"""`sql`: a question to the mirror as a person typed it."""

import click

from ledger.cli.support.mirror import mirror_or_none
from ledger.cli.support.options import db_option
from ledger.cli.support.rows import rows_format_option, write_rows
from ledger.cli.support.watch import watched
from ledger.exports import HELD
from ledger.mirror import adhoc


@click.command()
@click.argument("statement")
@db_option
@rows_format_option
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=30, show_default=True, metavar="SECONDS",
    help="Stop a statement that computes for longer; 0: never.",
)  # fmt: skip
def sql(statement: str, db: str | None, format_name: str, timeout: float) -> None:
    """Run a SELECT on the mirror. The connection is read-only: the database refuses everything else.

    \b
    Example:
      ledger sql "SELECT path, count(*) AS findings FROM findings GROUP BY path"
    """
    with mirror_or_none(db, snapshot=False) as raw, watched(timeout) as watch:
        columns, rows = adhoc.select(raw, statement, timeout) if raw is not None else ((), iter(()))
        if format_name in HELD:
            rows = adhoc.held(rows)
        if columns or format_name == "json":  # any other format would write an empty header
            write_rows(format_name, columns, watch.until_read(rows))
