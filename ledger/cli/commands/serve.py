"""`serve`: the reports as live pages, to this machine alone."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.cli.support.options import db_option
from ledger.cli.support.output import extra_needed
from ledger.log.source import STDIN

if TYPE_CHECKING:
    from ledger.serve.catalog import Catalog

PORT = 8765


@click.command()
@click.argument("logs", nargs=-1, metavar="[LOG|DIR]...")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to listen; 0 takes a free port.",
)
@db_option
def serve(logs: tuple[str, ...], port: int, db: str | None) -> None:
    """Show an index of sessions, their reports and their comparison as pages that follow the logs as they grow.

    Without arguments it shows the mirror's sessions. Otherwise it shows the named logs, and all logs that are, or will
    be, in the named folders. It changes nothing, and answers this machine alone. It prints its address when it is
    ready; Ctrl-C ends it. Needs pip install 'autoresearch-ledger[web]'.

    \b
    Example:
      ledger serve
      ledger serve experiments/ --port 8000
    """
    places = [_place(log) for log in logs]
    with extra_needed("web", "ledger serve", "waitress"):
        from ledger.serve.http import serve as run
    run(_catalog(places, db), port, click.echo)


def _place(log: str) -> Path:
    """Find what an argument names, which must be there."""
    if log == STDIN:
        raise click.UsageError("standard input cannot be followed; name a log or a folder")
    path = canonical(Path(log))
    if not path.exists():
        raise LedgerError(f"cannot read {show_path(log)}: no such file or folder")
    return path


def _catalog(places: list[Path], db: str | None) -> "Catalog":
    from ledger.mirror.location import mirror_location
    from ledger.serve.catalog import MirroredLogs, NamedLogs

    if places:
        return NamedLogs(places)
    mirrored = MirroredLogs(mirror_location(db))
    mirrored.entries()  # a file that is no mirror is told now
    return mirrored
