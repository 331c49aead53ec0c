"""`export`: logs written back from the mirror, over nothing that the mirror knows."""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import click

from ledger.cli.mirrored import kept_files, marks_of, named_sessions, reading_mirror
from ledger.cli.options import db_option, format_option, replace_file, shown
from ledger.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.engine import mirror_path
from ledger.mirror.store import Session


@click.command()
@click.argument("log", required=False)
@click.option("--all", "every", is_flag=True, help="Export every session; needs -o FOLDER.")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="FILE|FOLDER", help="Where to; - is standard output."
)
@format_option("jsonl", default="jsonl")
@db_option
def export(log: str | None, every: bool, output: str, format_name: str, db: str | None) -> None:
    """Write a mirrored log back, byte for byte, from the mirror alone.

    A codex log exported to a folder comes with its run.json. With --all each log gets a folder of its own, in which it
    keeps its relative path. A mirrored log that holds anything else is never replaced, nor is the mirror.

    \b
    Example:
      ledger export autoresearch.jsonl -o copy.jsonl
      ledger export --all -o backup/
    """
    if every and output == "-":
        raise click.UsageError("--all needs -o FOLDER")
    with reading_mirror(db) as raw:
        sessions = named_sessions(raw, (log,) if log else (), every=every)
        if not every and len(sessions) > 1:
            raise click.UsageError(f"{log} means {len(sessions)} sessions; name one, or use --all")
        if output == "-":
            sys.stdout.buffer.writelines(store.stored(raw, sessions[0].id))
            sys.stdout.buffer.flush()
        else:
            _write(list(_copies(raw, sessions, output, every)), kept_files(raw, mirror_path(db)))


class Copy(NamedTuple):
    """Say where bytes go; they are read when they are needed."""

    target: Path
    parts: Callable[[], Iterable[bytes]]


def _copies(raw: sqlite3.Connection, sessions: list[Session], output: str, every: bool) -> Iterator[Copy]:
    """Lay out what to write; only a folder takes run.json too."""
    into_folder = every or Path(output).is_dir() or output.endswith("/")
    common = os.path.commonpath([Path(session.path).parent for session in sessions]) if sessions else ""
    for session in sessions:
        target, path = Path(output), Path(session.path)
        if into_folder:
            target = target / session.key / path.relative_to(common) if every else target / path.name
        yield Copy(target, partial(store.stored, raw, session.id))
        if into_folder and session.run_json is not None:
            yield Copy(target.with_name("run.json"), partial(iter, (session.run_json,)))


def _write(copies: list[Copy], kept: dict[object, str]) -> None:
    """Write copies, none of them if one would replace a file that is kept. What is there already is left alone."""
    wanted = []
    for copy in copies:
        what = next((kept[mark] for mark in marks_of(copy.target) if mark in kept), None)
        if what is None:
            wanted.append(copy)
        elif not _holds(copy):
            name = shown(copy.target)
            raise LedgerError(f"{name} is {what}, which an export never replaces; name another place with -o")
    for target, parts in wanted:
        replace_file(target, partial(_put, parts))


def _put(parts: Callable[[], Iterable[bytes]], file: IO[bytes]) -> None:
    file.writelines(parts())


def _holds(copy: Copy) -> bool:
    """Tell whether a file holds exactly what would be written."""
    if not copy.target.is_file():
        return False
    with copy.target.open("rb") as file:
        return all(file.read(len(part)) == part for part in copy.parts()) and not file.read(1)
