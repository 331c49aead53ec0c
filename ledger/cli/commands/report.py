"""`report`: a page to look at, of one log or of the mirrored sessions against each other."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.base.times import now_ms, parse_iso
from ledger.cli.support.log_argument import one_log
from ledger.cli.support.options import db_option, dialect_option
from ledger.cli.support.output import shown, write_bytes
from ledger.log.source import STDIN, open_log, run_json_of

_DATABASE = b"SQLite format 3\0"

Data = Mapping[str, Any]


@click.command()
@click.argument("log", required=False)
@click.option("--compare", is_flag=True, help="Hold the mirrored sessions of one metric against each other.")
@click.option(
    "--session",
    "sessions",
    multiple=True,
    metavar="PATH|ID|NAME",
    help="A mirrored session instead of LOG; with --compare only these, repeatable.",
)
@click.option("--metric", metavar="NAME", help="With --compare: only this metric.")
@click.option("--since", metavar="TIME", help="With --compare: only sessions active at or after this time (UTC).")
@click.option(
    "--until",
    metavar="TIME",
    help="With --compare: only sessions active at or before this time (UTC); a date means the whole day.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Where to; - is standard output, the default unless that is a terminal."
)
@dialect_option
@db_option
def report(
    log: str | None, compare: bool, sessions: tuple[str, ...], metric: str | None, since: str | None,
    until: str | None, output: str | None, dialect: str | None, db: str | None,
) -> None:  # fmt: skip
    """Write a log, or a comparison of sessions, as one HTML page that needs no network.

    It reads LOG itself; without LOG, the current folder's session. If a log has errors, its page says so and shows what
    could be read, and the exit status is 1. --compare reads the mirror.

    \b
    Example:
      ledger report autoresearch.jsonl -o report.html
      ledger report --session speed -o report.html
      ledger report --compare --metric total_ms -o compare.html
    """
    target = _target(output)
    if compare:
        refused = {"LOG": log, "--dialect": dialect}
        make = partial(_comparison, db, sessions, metric, since, until)
    else:
        refused = {"--metric": metric, "--since": since, "--until": until}
        make = partial(_mirrored, db, sessions, log, dialect) if sessions else partial(_log, log, dialect)
    if wrong := [name for name, value in refused.items() if value is not None]:
        raise click.UsageError(f"{wrong[0]} {'says nothing to' if compare else 'needs'} --compare")
    sys.exit(_write(target, make))


def _target(output: str | None) -> Path | None:
    """Say where the page goes; None is standard output, which must be asked for where that is a terminal."""
    if output is None and sys.stdout.isatty():
        raise click.UsageError("name a file for the page: -o report.html")
    return None if output in (None, STDIN) else Path(output or "")


def _write(target: Path | None, make: Callable[[], tuple[Data, list[Path]]]) -> int:
    """Make the page's data, then open its file; give the exit status, 1 for a log with errors."""
    from ledger.report.page import render

    data, sources = make()
    if target is not None:
        _check_place(target, sources)
    write_bytes(target, render(data))
    if data.get("log", {}).get("ok", True):
        return 0
    click.echo(f"ledger: {data['log']['name']} has errors; the page shows what could be read", err=True)
    return 1


def _check_place(target: Path, sources: list[Path]) -> None:
    """Raise LedgerError if the page would replace a log or a mirror."""
    place = canonical(target)
    kept = place.suffix == ".jsonl" or place.name == "run.json" or place in map(canonical, sources)
    if not kept and place.is_file():
        with place.open("rb") as file:
            kept = file.read(len(_DATABASE)) == _DATABASE
    if kept:
        raise LedgerError(
            f"{shown(target)} is no place for a page: it may hold a log or a mirror; name another with -o"
        )


def _log(argument: str | None, dialect: str | None) -> tuple[Data, list[Path]]:
    """Read a log and make its report."""
    from ledger.report.account import read, verdict_on
    from ledger.report.data import report as made

    path = one_log(argument)
    with open_log(path) as file:
        account = read(file, path, dialect)
    return made(account, verdict_on(account, path, now_ms())), [] if path is None else [path, run_json_of(path)]


def _mirrored(db: str | None, names: tuple[str, ...], log: str | None, dialect: str | None) -> tuple[Data, list[Path]]:
    """Make the report of a mirrored session, from the bytes that the mirror holds."""
    from ledger.cli.support.mirror import named_sessions, reading_mirror
    from ledger.report.account import verdict_on
    from ledger.report.data import report as made
    from ledger.report.from_mirror import read_stored

    if log is not None:
        raise click.UsageError("name a log or a --session, not both")
    with reading_mirror(db) as raw:
        found = named_sessions(raw, names)
        if len(found) > 1:
            raise click.UsageError(f"{', '.join(names)} means {len(found)} sessions; name one, or --compare them")
        account = read_stored(raw, found[0], dialect)
    path = None if found[0].away else found[0].file
    return made(account, verdict_on(account, path, now_ms())), [found[0].file]


def _comparison(
    db: str | None, names: tuple[str, ...], metric: str | None, since: str | None, until: str | None
) -> tuple[Data, list[Path]]:
    """Make the comparison of what the filters leave; nothing, where there is no mirror yet."""
    from ledger.cli.support.mirror import mirror_or_none
    from ledger.mirror.queries import Filters
    from ledger.report.comparison import compare

    filters = Filters(names, metric, None, _moment(since), _moment(until, last=True))
    with mirror_or_none(db) as raw:
        return compare(raw, filters), []


def _moment(text: str | None, *, last: bool = False) -> int | None:
    """Read a time; a bare date's last moment is that day's last millisecond."""
    if text is None:
        return None
    read = parse_iso(text)
    if read is None:
        raise click.UsageError(f"{text!r} is no ISO-8601 time, such as 2026-05-06 or 2026-05-06T12:00Z")
    return read[0] + (86_400_000 - 1 if last and "T" not in text and " " not in text else 0)
