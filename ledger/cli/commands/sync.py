"""`sync`: logs into the mirror."""

import gc
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.cli.support.log_argument import logs_of
from ledger.cli.support.options import db_option, dialect_option
from ledger.cli.support.output import heard, shown
from ledger.cli.support.progress import progress
from ledger.mirror import store
from ledger.mirror.engine import open_writer, write_ahead
from ledger.mirror.ingest import SyncOutcome
from ledger.mirror.location import mirror_location
from ledger.mirror.raw import driver
from ledger.mirror.sync_many import sync_logs
from ledger.mirror.sync_one import mark_gone
from ledger.telling import findings

_BULK_BYTES = 16 * 1024 * 1024


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@db_option
@dialect_option
@click.option(
    "--quarantine", is_flag=True, help="Mirror logs with errors too: good records as rows, bad lines as bytes."
)
@click.option("--replace", is_flag=True, help="Take the new content of logs whose mirrored lines were rewritten.")
def sync(paths: tuple[str, ...], db: str | None, dialect: str | None, quarantine: bool, replace: bool) -> None:
    """Mirror logs into the database, reading only what was appended.

    A log with errors that nobody accepted is refused whole (exit 1); other logs still sync. What people decided about a
    log is mirrored with it. PATH is a log or a folder to search. Many may sync into one database of a PostgreSQL server
    at once.

    \b
    Example:
      ledger sync ~/experiments
      ledger sync --quarantine damaged/autoresearch.jsonl
      ledger sync . --db postgresql://ada@db.example.org/experiments
    """
    if "-" in paths:
        raise click.UsageError("sync mirrors files; standard input has no place to come back to")
    gc.disable()  # rows make no cycles, and looking for them costs a fifth of the time
    bulk = any(map(os.path.isdir, paths or ".")) or _are_large(map(Path, paths))
    with open_writer(mirror_location(db), bulk=bulk) as connection:
        lost = store.lost(driver(connection))
        logs, complete = _logs(paths, {store.path_text(session.file) for session in lost})
        if not _are_large(logs):
            write_ahead(connection)
        synced = sync_logs(connection, logs, dialect=dialect, quarantine=quarantine, replace=replace, lost=lost)
        with closing(synced), closing(progress(synced, "sync", len(logs))) as outcomes:
            codes = [_sync(outcome) for _, outcome in outcomes]  # threads end before the connection, also on Ctrl-C
        for session in mark_gone(connection):
            click.echo(f"gone: {shown(session.path)} is kept in the mirror", err=True)
    sys.exit(max(codes, default=0) if complete else 2)


def _are_large(logs: Iterable[Path]) -> bool:
    """Tell whether it is a large load to mirror logs."""
    return sum(map(_size, logs)) > _BULK_BYTES


def _size(path: Path) -> int:
    """Give a log's size; of one that cannot be read it is told when that is tried."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _logs(paths: tuple[str, ...], lost: set[str]) -> tuple[list[Path], bool]:
    """Find the logs to sync, and tell whether all were found; a path that is gone but mirrored is no mistake."""
    there = tuple(path for path in paths if Path(path).exists() or store.path_text(canonical(Path(path))) not in lost)
    found, complete = logs_of(there) if there or not paths else ([], True)
    return [path for path in found if path is not None], complete


def _sync(outcome: SyncOutcome | LedgerError) -> int:
    """Say what was done with one log, what a person must know beside it on stderr, and give its exit status."""
    if isinstance(outcome, LedgerError):
        click.echo(f"ledger: {outcome}", err=True)
        return 2
    words = f"{outcome.status:<9} {outcome.lines:>7} lines {outcome.runs:>7} runs  {shown(outcome.path)}"
    with heard():
        click.echo(words + ("  (quarantined)" if outcome.quarantined else ""))
    if outcome.refused:
        for line in findings.lines_of(outcome.path, [found for found in outcome.diagnostics if found.is_error]):
            click.echo(line, err=True)
        click.echo(f"refused: {shown(outcome.path)}: {outcome.reason}", err=True)
    if outcome.pending:
        waiting = f"{outcome.pending} bytes of an unfinished last line wait for the next sync"
        click.echo(f"warning: {shown(outcome.path)}: {waiting}", err=True)
    return 1 if outcome.refused else 0
