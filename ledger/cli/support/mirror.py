"""The mirror and its sessions, as commands that work on sessions find them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.dialects import by_name
from ledger.log.source import find_logs, session_log
from ledger.mirror import store
from ledger.mirror.engine import open_reader
from ledger.mirror.location import Location, mirror_location, show
from ledger.mirror.raw import Raw, driver


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


def named_sessions(raw: Raw, logs: tuple[str, ...], *, every: bool = False) -> list[store.StoredSession]:
    """Find the sessions that arguments name; without arguments the current folder's."""
    if every and logs:
        raise click.UsageError("name logs, or use --all, not both")
    sessions = store.every(raw)
    if every:
        return sessions
    chosen: list[store.StoredSession] = []
    for name in logs or (str(session_log(Path.cwd())),):
        ids = store.matching(raw, (name,)) or [i for log in _below(name) for i in store.matching(raw, (str(log),))]
        if not ids:
            raise LedgerError(f"{show_path(name)} is not in the mirror; run ledger sync {show_path(name)}")
        chosen += [session for session in sessions if session.id in ids and session not in chosen]
    return chosen


def _below(name: str) -> list[Path]:
    return [path for path in find_logs((name,)) if path is not None] if Path(name).is_dir() else []


def kept_files(raw: Raw, mirror: Location) -> dict[object, str]:
    """Name the files that must not be lost, by all that they are known by."""
    suffixes = ("", "-wal", "-shm", "-journal") if isinstance(mirror, Path) else ()
    files = {Path(f"{canonical(Path(str(mirror)))}{suffix}"): "the mirror itself" for suffix in suffixes}
    for session in store.every(raw):
        if session.foreign:
            continue
        if not session.missing:
            files[session.file] = "a mirrored log"
        config = by_name(session.dialect).loop().config_name if session.dialect else ""
        if config and (beside := session.file.with_name(config)).exists():
            files[beside] = f"the {config} of a mirrored log"
    return {mark: what for file, what in files.items() for mark in marks_of(file)}


def marks_of(path: Path) -> list[object]:
    """Give what a file is known by: its place, and if it is there its identity under any name."""
    place = canonical(path)
    try:
        status = place.stat()
    except OSError:
        return [place]
    return [place, (status.st_dev, status.st_ino)]
