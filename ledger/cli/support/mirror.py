"""The mirror, opened as commands need it, and the sessions in it that their arguments name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.dialects import by_name, names
from ledger.log.source import run_json_of
from ledger.mirror import store
from ledger.mirror.engine import open_reader, open_writer
from ledger.mirror.location import Location, mirror_location, show
from ledger.mirror.raw import Raw, driver
from ledger.mirror.sync_one import sync_log
from ledger.reading.discovery import find_logs
from ledger.session.files import log_here


def existing_mirror(db: str | None) -> Location:
    """Say where the mirror is. Raises LedgerError if there is none yet."""
    place = mirror_location(db)
    if isinstance(place, Path):
        there = place.exists()
    else:
        with open_reader(place) as connection:
            there = connection is not None
    if not there:
        raise _none_yet(place)
    return place


def _none_yet(place: Location) -> LedgerError:
    return LedgerError(f"there is no mirror at {show(place)} yet; run ledger sync")


@contextmanager
def reading_mirror(db: str | None) -> Iterator[Raw]:
    """Open the mirror as it is now: what other commands write meanwhile is not seen."""
    place = mirror_location(db)
    with open_reader(place) as connection:
        if connection is None:
            raise _none_yet(place)
        with connection.begin():
            yield driver(connection)


@contextmanager
def mirror_or_none(db: str | None, *, snapshot: bool = True) -> Iterator[Raw | None]:
    """Open the mirror, as a snapshot as it is now; None, with a note on standard error, if there is none yet."""
    with open_reader(mirror_location(db)) as connection:
        if connection is None:
            click.echo(f"note: there is no mirror at {show(mirror_location(db))} yet; run ledger sync", err=True)
            yield None
        elif not snapshot:
            yield driver(connection)
        else:
            with connection.begin():
                yield driver(connection)


def named_sessions(raw: Raw, logs: tuple[str, ...], *, every: bool = False) -> list[store.StoredSession]:
    """Find the sessions that arguments name; without arguments the current folder's."""
    if every and logs:
        raise click.UsageError("name logs, or use --all, not both")
    sessions = store.every(raw)
    if every:
        return sessions
    chosen: list[store.StoredSession] = []
    for name in logs or (str(log_here(Path.cwd())),):
        ids = store.matching(raw, (name,))
        if not ids and Path(name).is_dir():
            ids = store.matching(raw, tuple(str(log) for log in find_logs((name,)) if log is not None))
        if not ids:
            raise LedgerError(f"{show_path(name)} is not in the mirror; run ledger sync {show_path(name)}")
        chosen += [session for session in sessions if session.id in ids and session not in chosen]
    return chosen


def follow(log: Path, db: str | None) -> str | None:
    """Take a log's new content, if the mirror holds the log; give what stood in the way, None if nothing did."""
    try:
        path = mirror_location(db)
        if isinstance(path, Path) and not path.exists():
            return None
        with open_writer(path) as connection:
            known = store.find(driver(connection), log)
            if known is None:
                return None
            outcome = sync_log(connection, log, replace=True, quarantine=known.quarantined)
    except LedgerError as error:
        return str(error)
    return outcome.reason if outcome.refused or outcome.status == "waiting" else None


def kept_files(raw: Raw, mirror: Location) -> dict[object, str]:
    """Name the files that must not be lost, by all that they are known by."""
    suffixes = ("", "-wal", "-shm", "-journal") if isinstance(mirror, Path) else ()
    files = {Path(f"{canonical(Path(str(mirror)))}{suffix}"): "the mirror itself" for suffix in suffixes}
    for session in store.every(raw):
        if session.foreign:
            continue
        if not session.missing:
            files[session.file] = "a mirrored log"
        configured = session.dialect in names() and by_name(session.dialect).run_json is not None
        if configured and (beside := run_json_of(session.file)).exists():
            files[beside] = "the run.json of a mirrored log"
    return {mark: what for file, what in files.items() for mark in _marks_of(file)}


def kept_as(target: Path, kept: dict[object, str]) -> str | None:
    """Say what a file is that must not be lost; None for any other."""
    return next((kept[mark] for mark in _marks_of(target) if mark in kept), None)


def _marks_of(path: Path) -> list[object]:
    """Give what a file is known by: its place, and if it is there its identity under any name."""
    place = canonical(path)
    try:
        status = place.stat()
    except OSError:
        return [place]
    return [place, (status.st_dev, status.st_ino)]
