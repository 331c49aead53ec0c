"""`import`: a table of experiments turned into a log that says where it came from."""

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.cli.support.output import shown, write_bytes
from ledger.cli.support.overwriting import check_overwriting
from ledger.cli.support.rows import moment
from ledger.cli.support.values import TEXT
from ledger.fold.segment import STATUSES
from ledger.importing import Imported, ImportOptions, TableFile, read
from ledger.importing.run_rows import SKIP
from ledger.log.source import STDIN, open_log, read_small, run_json_of
from ledger.reading.whole_log import read_log
from ledger.telling import findings


def _words(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read `--status`: what words of the table come to."""
    found = {}
    for value in values:
        word, _equals, status = value.rpartition("=")
        if not word or status not in (*STATUSES, SKIP):
            raise click.BadParameter(f"{value!r} is not WORD=STATUS, the status one of {', '.join((*STATUSES, SKIP))}")
        found[word.strip().lower()] = status
    return found


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="LOG", default=STDIN, show_default=True, help="Where to; - is standard output.")
@click.option("--direction", type=click.Choice(("lower", "higher")), help="Which metric is better.")
@click.option("--metric", type=TEXT, metavar="NAME", help="What the metric is called [default: its column's name].")
@click.option("--unit", type=TEXT, metavar="UNIT", help="What the metric counts.")
@click.option("--name", type=TEXT, metavar="NAME", help="What the session is called [default: the file's name].")
@click.option("--timestamp", "at_ms", metavar="TIME", callback=moment, help="When runs without a time were made (UTC).")
@click.option("--utc", is_flag=True, help="Read times without an offset as UTC.")
@click.option(
    "--status", "words", multiple=True, metavar="WORD=STATUS", callback=_words,
    help="What a word of the table counts as, or skip for a row that is no run; repeatable.",
)  # fmt: skip
def import_(file: str, output: str, **said: Any) -> None:
    """Make an autoresearch log of a table: results.tsv, a table of iterations, or what ledger exported as CSV.

    Nothing is guessed. What the table does not say has to come from an option, or stays out; numbers keep their digits,
    and what the protocol has no place for stands as it was in "imported" of its run. The header names the file and its
    SHA-256. If rows cannot be imported, all of them are reported, and nothing is written.

    \b
    Example:
      ledger import results.tsv --direction lower -o autoresearch.jsonl
      ledger import iterations.tsv --metric coverage --status hook-blocked=skip -o autoresearch.jsonl
      ledger import lines.csv -o again.jsonl
    """
    path = None if file == STDIN else Path(file)
    with open_log(path) as opened:
        data = b"".join(block.data for block in opened.blocks())
        opened.check_unchanged()
    made = read(TableFile.of("standard input" if path is None else shown(path.name), data), ImportOptions(**said))
    if isinstance(made, Imported):
        _write(made, path, None if output == STDIN else Path(output))
        return
    for line, message in made:
        click.echo(f"{STDIN if path is None else shown(path)}:{line}: {message}", err=True)
    click.echo("refused: nothing was written", err=True)
    sys.exit(1)


def _write(made: Imported, path: Path | None, target: Path | None) -> None:
    """Write the log if it is sound, and say on standard error what a person should know of it."""
    if target is not None:
        _check_place(target, path, made.data)
    notes = made.notes + _judged(made.data, target)
    write_bytes(target, [made.data])
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _check_place(target: Path, path: Path | None, data: bytes) -> None:
    """Raise LedgerError for the table itself, a mirror, or a log that says anything else."""
    if path is not None and canonical(target) == canonical(path):
        raise LedgerError(f"{shown(target)} is the table itself; name another file with -o")
    if target.is_dir():
        raise LedgerError(f"{shown(target)} is a folder; name a file in it with -o")
    if not (target.is_file() and target.read_bytes() == data):
        check_overwriting(target)


def _judged(data: bytes, target: Path | None) -> list[str]:
    """Say what the rules find in a log, short of an error. Ends the command with status 1 where there is one.

    A codex history is read with the run.json in the folder that it goes to, which no table holds.
    """
    run_json = None if target is None else read_small(run_json_of(target))
    with tempfile.TemporaryDirectory(prefix="ledger-import-") as folder:
        path = Path(folder) / "autoresearch.jsonl"
        path.write_bytes(data)
        if run_json is not None:
            run_json_of(path).write_bytes(run_json)
        log = read_log(path)
    if not log.ok:
        for line in findings.lines_of(None, [found for found in log.diagnostics if found.is_error]):
            click.echo(f"of the log {line}", err=True)
        click.echo("refused: the log would not be sound, and nothing was written", err=True)
        sys.exit(1)
    counts = sorted(Counter(found.code for found in log.diagnostics).items())
    told = ", ".join(f"{code} ({count:,})" for code, count in counts)
    return [f"the log is sound; ledger check finds {told} in it"] if told else []
