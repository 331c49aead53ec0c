"""The mirror and its sessions, as commands that work on sessions find them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ledger.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.engine import mirror_path, open_reader
from ledger.source import canonical, find_logs, run_json_of, session_log, show_path


def existing_mirror(db: str | None) -> Path:
    """Say where the mirror is. Raises LedgerError if there is none yet."""
    path = mirror_path(db)
    if not path.exists():
        raise LedgerError(f"there is no mirror at {show_path(path)} yet; run ledger sync")
    return path


@contextmanager
def reading_mirror(db: str | None) -> Iterator[sqlite3.Connection]:
    """Open the mirror as it is now: what other commands write meanwhile is not seen."""
    with open_reader(existing_mirror(db)) as connection:
        assert connection is not None
        with connection.begin():
            yield store.driver(connection)


def named_sessions(raw: sqlite3.Connection, logs: tuple[str, ...], *, every: bool = False) -> list[store.Session]:
    """Find the sessions that arguments name; without arguments the current folder's."""
    if every and logs:
        raise click.UsageError("name logs, or use --all, not both")
    sessions = store.every(raw)
    if every:
        return sessions
    chosen: list[store.Session] = []
    for name in logs or (str(session_log(Path.cwd())),):
        ids = store.matching(raw, (name,)) or [i for log in _below(name) for i in store.matching(raw, (str(log),))]
        if not ids:
            raise LedgerError(f"{show_path(name)} is not in the mirror; run ledger sync {show_path(name)}")
        chosen += [session for session in sessions if session.id in ids and session not in chosen]
    return chosen


def _below(name: str) -> list[Path]:
    return [path for path in find_logs((name,)) if path is not None] if Path(name).is_dir() else []


def kept_files(raw: sqlite3.Connection, mirror: Path) -> dict[object, str]:
    """Name the files that must not be lost, by all that they are known by."""
    files = {Path(f"{canonical(mirror)}{suffix}"): "the mirror itself" for suffix in ("", "-wal", "-shm", "-journal")}
    for session in store.every(raw):
        if not session.missing:
            files[session.file] = "a mirrored log"
        if session.dialect == "codex" and (beside := run_json_of(session.file)).exists():
            files[beside] = "the run.json of a mirrored log"
    return {mark: what for file, what in files.items() for mark in marks_of(file)}


def marks_of(path: Path) -> list[object]:
    """Give what a file is known by: its place, and if it is there its identity under any name."""
    place = canonical(path)
    try:
        status = place.stat()
    except OSError:
        return [place]
    return [place, (status.st_dev, status.st_ino)]
