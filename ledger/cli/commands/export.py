"""`export`: logs written back, a view's rows, a workbook or Parquet files, over nothing that the mirror knows."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from ledger.base.errors import LedgerError
from ledger.base.files import write_output
from ledger.cli.support.mirror import kept_as, kept_files, mirror_or_none, named_sessions, reading_mirror
from ledger.cli.support.options import db_option, format_option
from ledger.cli.support.output import extra_needed, shown, stdout_text, write_bytes
from ledger.cli.support.progress import progress
from ledger.cli.support.rows import filter_options, filters, write_rows
from ledger.exports import FORMATS
from ledger.mirror import queries, store
from ledger.mirror.location import mirror_location
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.store import StoredSession
from ledger.mirror.views import VIEWS
from ledger.mirror.views import by_name as view_by_name

_FORMATS = ("jsonl", "xlsx", *(name for name in FORMATS if name not in ("jsonl", "table")), "parquet")


@click.command()
@click.argument("log", required=False)
@click.option("--all", "every", is_flag=True, help="Export every log; needs -o FOLDER.")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="FILE|FOLDER", help="Where to; - is standard output."
)
@format_option(*_FORMATS, default="jsonl")
@click.option("--view", type=click.Choice([view.name for view in VIEWS]), help="Export the rows of this view.")
@click.option("--bom", is_flag=True, help="Begin csv or tsv with a byte order mark, by which Excel knows UTF-8.")
@filter_options
@db_option
def export(
    log: str | None, every: bool, output: str, format_name: str, view: str | None, bom: bool, db: str | None,
    **narrowing: Any,
) -> None:  # fmt: skip
    """Write a mirrored log back, byte for byte; or a view's rows; or a workbook or Parquet files of everything.

    A codex log exported to a folder comes with its run.json. With --all each log gets a folder of its own, in which it
    keeps its relative path. A mirrored log that holds anything else is never replaced, nor is the mirror.

    --view and --format xlsx take all sessions, or those of LOG and of the filters. A workbook has a sheet for each of
    sessions, segments, best, runs, metrics, compare and findings, and a chart for each session; in it --status filters
    runs alone.

    --format parquet brings a folder of Parquet files up to date: every view, or the one of --view, in folders by the
    name of the metric. What was exported before stays as it is, unless its log was rewritten or forgotten.

    \b
    Example:
      ledger export autoresearch.jsonl -o copy.jsonl
      ledger export --all -o backup/
      ledger export --format xlsx -o summary.xlsx
      ledger export --format parquet -o lake/
      ledger export --view runs --format csv --bom --status keep -o kept.csv
    """
    asked = Asked(log, every, output, format_name, view, bom, db, filters(**narrowing))
    if format_name == "xlsx":
        _export_workbook(asked)
    elif format_name == "parquet":
        _export_lake(asked)
    elif view is not None:
        _export_rows(asked, view)
    else:
        _export_logs(asked)


class Asked(NamedTuple):
    """Hold what the command line says."""

    log: str | None
    every: bool
    output: str
    format_name: str
    view: str | None
    bom: bool
    db: str | None
    filters: Filters

    def refuse(self, *reasons: tuple[bool, str]) -> None:
        """Raise click.UsageError with the first reason that holds."""
        for holds, reason in reasons:
            if holds:
                raise click.UsageError(reason)

    def narrowed(self, raw: Raw) -> Filters:
        """Give the filters, which LOG is one of."""
        if self.log is None:
            return self.filters
        return self.filters._replace(sessions=tuple(one.key for one in named_sessions(raw, (self.log,))))

    def file(self, raw: Raw | None) -> Path:
        """Say which file to write. Raises LedgerError if it is a folder, or one that an export never replaces."""
        target = Path(self.output)
        if target.is_dir() or self.output.endswith("/"):
            raise LedgerError(f"{shown(target)} is a folder; name a file in it with -o")
        if raw is not None and (what := kept_as(target, kept_files(raw, mirror_location(self.db)))):
            raise _never(target, what)
        return target


def _export_workbook(asked: Asked) -> None:
    from ledger.exports.workbook.book import STEPS, write

    asked.refuse(
        (asked.view is not None, "a workbook has a sheet for each view: leave --view out"),
        (asked.every, "--all is for logs: a workbook has every session anyway"),
        (asked.bom, "--bom is for csv and tsv"),
        (bool(asked.filters.sort) or asked.filters.limit is not None, "--sort and --limit need --view"),
        (asked.log is not None and bool(asked.filters.sessions), "name the log, or use --session, not both"),
    )
    if asked.output == "-" and sys.stdout.isatty():
        raise LedgerError("a workbook is nothing to read here; name a file with -o, such as -o summary.xlsx")
    with mirror_or_none(asked.db) as raw:
        wanted = asked.filters if raw is None else asked.narrowed(raw)

        def put(file: IO[bytes]) -> None:
            for _ in progress(write(raw, wanted, file), "writing sheets", STEPS):
                pass

        if asked.output == "-":
            put(sys.stdout.buffer)
        else:
            write_output(asked.file(raw), put)


def _export_lake(asked: Asked) -> None:
    asked.refuse(
        (asked.output == "-", "parquet needs -o FOLDER"),
        (asked.every, "--all is for logs: parquet has every session anyway"),
        (asked.log is not None or asked.filters != Filters(), "parquet is of whole views: only --view narrows it"),
        (asked.bom, "--bom is for csv and tsv"),
    )
    with extra_needed("parquet", "parquet", "pyarrow"):
        from ledger.exports.lake.update import write
    names = [view.name for view in VIEWS] if asked.view is None else [asked.view]
    with mirror_or_none(asked.db) as raw:
        if raw is not None:
            for _ in progress(write(raw, Path(asked.output), names), "writing views", len(names)):
                pass


def _export_rows(asked: Asked, name: str) -> None:
    asked.refuse(
        (asked.every, "--all is for logs: a view has every session anyway"),
        (asked.bom and asked.format_name not in ("csv", "tsv"), "--bom is for csv and tsv"),
        (asked.log is not None and bool(asked.filters.sessions), "name the log, or use --session, not both"),
    )
    view = view_by_name(name)
    with mirror_or_none(asked.db) as raw:
        rows: queries.Rows = iter(()) if raw is None else queries.query(raw, view, asked.narrowed(raw))
        if asked.output != "-":

            def put(file: IO[bytes]) -> None:
                text = io.TextIOWrapper(file, "utf-8", newline="")
                text.write("\ufeff" if asked.bom else "")
                FORMATS[asked.format_name](view.columns, rows, text)
                text.detach()

            write_output(asked.file(raw), put)
            return
        if asked.bom:
            stdout_text().write("\ufeff")
        write_rows(asked.format_name, view.columns, rows)


def _export_logs(asked: Asked) -> None:
    log, every, output = asked.log, asked.every, asked.output
    asked.refuse(
        (asked.format_name != "jsonl", f"{asked.format_name} is for rows: say which with --view, such as --view runs"),
        (asked.bom, "--bom is for csv and tsv"),
        (asked.filters != Filters(), "a log is exported whole: filters need --view or --format xlsx"),
        (every and output == "-", "--all needs -o FOLDER"),
    )
    with reading_mirror(asked.db) as raw:
        sessions = named_sessions(raw, (log,) if log else (), every=every)
        if not every and len(sessions) > 1:
            raise click.UsageError(f"{log} means {len(sessions)} sessions; name one, or use --all")
        if output == "-":
            write_bytes(None, store.stored(raw, sessions[0].id))
        else:
            _write(list(_copies(raw, sessions, output, every)), kept_files(raw, mirror_location(asked.db)))


class Copy(NamedTuple):
    """Say where bytes go; they are read when they are needed."""

    target: Path
    parts: Callable[[], Iterable[bytes]]


def _copies(raw: Raw, sessions: list[StoredSession], output: str, every: bool) -> Iterator[Copy]:
    """Lay out what to write; only a folder takes run.json too."""
    into_folder = every or Path(output).is_dir() or output.endswith("/")
    common = os.path.commonpath([session.file.parent for session in sessions]) if sessions else ""
    for session in sessions:
        target, path = Path(output), session.file
        if into_folder:
            target = target / session.key / path.relative_to(common) if every else target / path.name
        yield Copy(target, partial(store.stored, raw, session.id))
        if into_folder and session.run_json is not None:
            yield Copy(target.with_name("run.json"), partial(iter, (session.run_json,)))


def _write(copies: list[Copy], kept: dict[object, str]) -> None:
    """Write copies, none of them if one would replace a file that is kept. What is there already is left alone."""
    wanted = []
    for copy in copies:
        what = kept_as(copy.target, kept)
        if what is None:
            wanted.append(copy)
        elif not _holds(copy):
            raise _never(copy.target, what)
    for target, parts in wanted:
        write_bytes(target, parts())


def _never(target: Path, what: str) -> LedgerError:
    return LedgerError(f"{shown(target)} is {what}, which an export never replaces; name another place with -o")


def _holds(copy: Copy) -> bool:
    """Tell whether a file holds exactly what would be written."""
    if not copy.target.is_file():
        return False
    with copy.target.open("rb") as file:
        return all(file.read(len(part)) == part for part in copy.parts()) and not file.read(1)
