"""`sync`, `verify`, `export`, `forget`: between log files and the mirror."""

import gc
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click
import orjson

from ledger import render
from ledger.cli.options import db_option, dialect_option, format_option, heard, logs_of, progress, replace_file, shown
from ledger.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.batch import sync_logs
from ledger.mirror.engine import mirror_path, open_reader, open_writer
from ledger.mirror.ingest import Outcome
from ledger.mirror.sync import mark_gone
from ledger.mirror.verify import Proof
from ledger.mirror.verify import verify as verify_session
from ledger.source import canonical, find_logs, session_log, show_path

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

    A log with errors is refused whole (exit 1); other logs still sync. PATH is a log or a folder to search.

    \b
    Example:
      ledger sync ~/experiments
      ledger sync --quarantine damaged/autoresearch.jsonl
    """
    if "-" in paths:
        raise click.UsageError("sync mirrors files; standard input has no place to come back to")
    gc.disable()  # rows make no cycles, and looking for them costs a fifth of the time
    bulk = any(path.is_file() and path.stat().st_size > _BULK_BYTES for path in map(Path, paths))
    with open_writer(mirror_path(db), bulk=bulk) as connection:
        lost = store.lost(store.driver(connection))
        logs, complete = _logs(paths, {session.path for session in lost})
        outcomes = sync_logs(connection, logs, dialect=dialect, quarantine=quarantine, replace=replace, lost=lost)
        with closing(outcomes):  # its thread ends before the connection does, also on Ctrl-C
            codes = [_sync(outcome) for _, outcome in progress(outcomes, "sync", len(logs))]
        for session in mark_gone(connection):
            click.echo(f"gone: {shown(session.path)} is kept in the mirror", err=True)
    sys.exit(max(codes, default=0) if complete else 2)


def _logs(paths: tuple[str, ...], lost: set[str]) -> tuple[list[Path], bool]:
    """Find the logs to sync, and tell whether all were found; a path that is gone but mirrored is no mistake."""
    there = tuple(path for path in paths if Path(path).exists() or store.path_text(canonical(Path(path))) not in lost)
    found, complete = logs_of(there) if there or not paths else ([], True)
    return [path for path in found if path is not None], complete


def _sync(outcome: Outcome | LedgerError) -> int:
    """Say what was done with one log, and give the exit status that it deserves."""
    if isinstance(outcome, LedgerError):
        click.echo(f"ledger: {outcome}", err=True)
        return 2
    with heard():
        _report(outcome)
    return 1 if outcome.refused else 0


def _report(outcome: Outcome) -> None:
    """Print the one line of a log on stdout; what a person must know beside it goes to stderr."""
    words = f"{outcome.status:<9} {outcome.lines:>7} lines {outcome.runs:>7} runs  {shown(outcome.path)}"
    click.echo(words + ("  (quarantined)" if outcome.quarantined else ""))
    if outcome.refused:
        for line in render.lines_of(outcome.path, [found for found in outcome.diagnostics if found.is_error]):
            click.echo(line, err=True)
        click.echo(f"refused: {shown(outcome.path)}: {outcome.reason}", err=True)
    if outcome.pending:
        waiting = f"{outcome.pending} bytes of an unfinished last line wait for the next sync"
        click.echo(f"warning: {shown(outcome.path)}: {waiting}", err=True)


@click.command()
@click.argument("logs", metavar="[LOG]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Verify every session of the mirror.")
@db_option
@format_option("text", "json", default="text")
def verify(logs: tuple[str, ...], every: bool, db: str | None, format_name: str) -> None:
    """Prove that the mirror lost nothing: bytes by SHA-256, values by rebuilding each record from its columns.

    Exit 1 if a session differs from its log; the first line that differs is named.

    \b
    Example:
      ledger verify --all
    """
    with _mirror(db) as raw:
        sessions = _sessions(raw, logs, every)
        proofs = [proof for session in sessions if (proof := _verify(raw, session))]
    with heard():
        if format_name == "json":
            click.echo(orjson.dumps({"logs": list(map(_proof_object, proofs))}, option=orjson.OPT_INDENT_2))
        else:
            for proof in proofs:
                _report_proof(proof)
    sys.exit(2 if len(proofs) < len(sessions) else 0 if all(proof.ok for proof in proofs) else 1)


@contextmanager
def _mirror(db: str | None) -> Iterator[sqlite3.Connection]:
    path = mirror_path(db)
    with open_reader(path) as connection:
        if connection is None:
            raise LedgerError(f"there is no mirror at {show_path(path)} yet; run ledger sync")
        yield store.driver(connection)


def _verify(raw: sqlite3.Connection, session: store.Session) -> Proof | None:
    try:
        return verify_session(raw, session)
    except LedgerError as error:
        click.echo(f"ledger: {error}", err=True)
        return None


def _proof_object(proof: Proof) -> dict[str, object]:
    return {
        "path": proof.path,
        "ok": proof.ok,
        "bytes": proof.bytes_ok,
        "values": proof.values_ok,
        "sha256_source": proof.sha256_source,
        "sha256_export": proof.sha256_export,
        "lines": proof.lines,
        "pending_bytes": proof.pending_bytes,
        "first_difference": proof.difference,
    }


def _report_proof(proof: Proof) -> None:
    name = shown(proof.path)
    if proof.ok:
        waiting = f"{proof.pending_bytes} bytes wait for the next sync" if proof.pending_bytes else ""
        note = "the file is gone; compared with the last sync" if proof.gone else waiting
        click.echo(f"ok        {proof.lines:>7} lines  {name}{f'  ({note})' if note else ''}")
    else:
        what = "bytes differ" if not proof.bytes_ok else "values differ"
        at = (
            f" from line {proof.difference} on" if proof.difference else " in run.json" if proof.difference == 0 else ""
        )
        click.echo(f"differs   {proof.lines:>7} lines  {name}  ({what}{at})")


def _sessions(raw: sqlite3.Connection, logs: tuple[str, ...], every: bool) -> list[store.Session]:
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
    keeps its relative path.

    \b
    Example:
      ledger export autoresearch.jsonl -o copy.jsonl
      ledger export --all -o backup/
    """
    with _mirror(db) as raw:
        sessions = _sessions(raw, (log,) if log else (), every)
        if every:
            _export_all(raw, sessions, output)
        elif len(sessions) > 1:
            raise click.UsageError(f"{log} means {len(sessions)} sessions; name one, or use --all")
        elif output == "-":
            _export_to_stdout(raw, sessions[0])
        elif Path(output).is_dir() or output.endswith("/"):
            _export_to(raw, sessions[0], Path(output) / Path(sessions[0].path).name)
        else:
            _write_log(raw, sessions[0], Path(output))


def _export_to_stdout(raw: sqlite3.Connection, session: store.Session) -> None:
    out = sys.stdout.buffer
    out.writelines(store.stored(raw, session.id))
    out.flush()


def _export_all(raw: sqlite3.Connection, sessions: list[store.Session], output: str) -> None:
    if output == "-":
        raise click.UsageError("--all needs -o FOLDER")
    common = Path(os.path.commonpath([str(Path(session.path).parent) for session in sessions])) if sessions else Path()
    for session in sessions:
        _export_to(raw, session, Path(output) / session.key / Path(session.path).relative_to(common))


def _export_to(raw: sqlite3.Connection, session: store.Session, target: Path) -> None:
    _write_log(raw, session, target)
    if (data := session.run_json) is not None:
        replace_file(target.with_name("run.json"), lambda file: file.write(data))


def _write_log(raw: sqlite3.Connection, session: store.Session, target: Path) -> None:
    replace_file(target, lambda file: file.writelines(store.stored(raw, session.id)))


@click.command()
@click.argument("log")
@db_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(log: str, db: str | None, yes: bool) -> None:
    """Drop a session from the mirror. The log file is not touched.

    \b
    Example:
      ledger forget old/autoresearch.jsonl
    """
    path = mirror_path(db)
    if not path.exists():
        raise LedgerError(f"there is no mirror at {show_path(path)} yet; run ledger sync")
    with open_writer(path) as connection:
        raw = store.driver(connection)
        for session in _sessions(raw, (log,), every=False):
            name = shown(session.path)
            if not yes and not click.confirm(f"Drop {name} from the mirror?", err=True):
                click.echo("nothing was dropped", err=True)
                continue
            with connection.begin():
                store.remove(raw, session.id)
            click.echo(f"forgotten {name}")
