"""`check`: what is wrong with logs."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.cli.support.log_argument import logs_of
from ledger.cli.support.options import dialect_option, format_option
from ledger.cli.support.output import heard, stdout_text
from ledger.log.diagnostics import Diagnostic
from ledger.reading.reader import MOST_ALIKE
from ledger.reading.whole_log import Log, read_log
from ledger.rules import RULES
from ledger.telling import findings

MANY = 20_000
"""More findings than these and `check` looks for no fixes, which takes twice as long as checking, and seconds then."""


@click.command()
@click.argument("logs", metavar="[LOG]...", nargs=-1)
@dialect_option
@format_option("text", "json", "github", default="text")
@click.option(
    "--select", multiple=True, metavar="CODES", help="Report only these codes (L115) or groups (L1); commas allowed."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave these codes or groups out.")
def check(
    logs: tuple[str, ...], dialect: str | None, format_name: str, select: tuple[str, ...], ignore: tuple[str, ...]
) -> None:
    """Report everything that is wrong with logs.

    LOG is a file, a folder to search, or - for standard input. Exit 1 if any log has an error.

    \b
    Example:
      ledger check .auto/log.jsonl
      ledger check --format json --ignore S407 experiments/
    """
    keep = _filter(select, ignore)
    paths, found = logs_of(logs)
    read = [log for path in paths if (log := _read(path, dialect, keep, whole=format_name == "json"))]
    complete = found and len(read) == len(paths)
    if read or complete or format_name == "json":
        with heard():
            _WRITERS[format_name](read, stdout_text())
    sys.exit(2 if not complete else 0 if all(log.ok for log in read) else 1)


def _read(path: Path | None, dialect: str | None, keep: Callable[[str], bool], *, whole: bool) -> Log | None:
    try:
        log = read_log(path, dialect)
        found = log.diagnostics if path is None else _with_fixes(path, dialect, log.diagnostics, whole=whole)
    except LedgerError as error:
        click.echo(f"ledger: {error}", err=True)
        return None
    return log._replace(diagnostics=[one for one in found if keep(one.code)])


def _with_fixes(path: Path, dialect: str | None, found: list[Diagnostic], *, whole: bool) -> list[Diagnostic]:
    """Look for fixes, where there is anything to fix; standard input cannot be read again for it.

    Text says only how many there are: with very many findings that is not worth the time, unless the `whole` is asked;
    and where not all findings are listed, it is not worth it at all.
    """
    if not found or len(found) > (MOST_ALIKE if whole else MANY):
        return found
    from ledger.repair.log_text import Text
    from ledger.repair.plan import fixable, with_fixes

    return with_fixes(Text.read(path, dialect), found) if fixable(found) else found


def _filter(select: tuple[str, ...], ignore: tuple[str, ...]) -> Callable[[str], bool]:
    wanted, unwanted = _codes(select), _codes(ignore)
    return lambda code: (not wanted or code.startswith(wanted)) and not code.startswith(unwanted or ("-",))


def _codes(values: tuple[str, ...]) -> tuple[str, ...]:
    codes = tuple(code.strip().upper() for value in values for code in value.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in RULES):
            raise click.UsageError(f"no rule has a code like {code}; ledger explain lists them")
    return codes


_WRITERS = {
    "text": findings.diagnostics_text,
    "json": findings.diagnostics_json,
    "github": findings.diagnostics_github,
}
