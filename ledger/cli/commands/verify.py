"""`verify`: the proof that the mirror lost nothing."""

import gc
import sys

import click
import orjson

from ledger.base.errors import LedgerError
from ledger.cli.support.mirror import named_sessions, reading_mirror
from ledger.cli.support.options import db_option, format_option
from ledger.cli.support.output import heard, shown
from ledger.cli.support.progress import progress
from ledger.mirror import rederived, store
from ledger.mirror.proof import Proof
from ledger.mirror.proof import verify as verify_session
from ledger.mirror.raw import Raw


@click.command()
@click.argument("logs", metavar="[LOG]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Verify every session of the mirror.")
@db_option
@format_option("text", "json", default="text")
def verify(logs: tuple[str, ...], every: bool, db: str | None, format_name: str) -> None:
    """Prove that the mirror lost nothing: bytes by SHA-256, values by rebuilding each record from its columns.

    Every row is also derived from the stored bytes a second time. Exit 1 if a session differs; the first line that
    differs is named. With --all, rows that belong to no session are reported too, with exit 1.

    \b
    Example:
      ledger verify --all
    """
    gc.disable()  # rows make no cycles
    with reading_mirror(db) as raw:
        sessions = named_sessions(raw, logs, every=every)
        proofs: list[Proof] = []
        for outcome in progress((_proof(raw, session) for session in sessions), "verify", len(sessions)):
            if isinstance(outcome, Proof):
                proofs.append(outcome)
            else:
                click.echo(f"ledger: {outcome}", err=True)
        orphans = rederived.orphans(raw) if every else {}
    _report(proofs, format_name)
    if orphans:
        counts = ", ".join(f"{count} in {table}" for table, count in orphans.items())
        click.echo(f"orphaned: rows that belong to no session: {counts}", err=True)
    sys.exit(2 if len(proofs) < len(sessions) else 1 if orphans or not all(proof.ok for proof in proofs) else 0)


def _proof(raw: Raw, session: store.StoredSession) -> Proof | LedgerError:
    try:
        return verify_session(raw, session)
    except LedgerError as error:
        return error


def _report(proofs: list[Proof], format_name: str) -> None:
    with heard():
        if format_name == "json":
            click.echo(orjson.dumps({"logs": list(map(_object, proofs))}, option=orjson.OPT_INDENT_2))
        else:
            for proof in proofs:
                click.echo(_line(proof))


def _object(proof: Proof) -> dict[str, object]:
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


def _line(proof: Proof) -> str:
    if proof.ok:
        waiting = f"{proof.pending_bytes} bytes wait for the next sync" if proof.pending_bytes else ""
        note = "the file is gone; compared with the last sync" if proof.gone else waiting
        return f"ok        {proof.lines:>7} lines  {shown(proof.path)}{f'  ({note})' if note else ''}"
    what = "bytes differ" if not proof.bytes_ok else "values differ"
    at = {None: "", 0: " in run.json"}.get(proof.difference, f" from line {proof.difference} on")
    return f"differs   {proof.lines:>7} lines  {shown(proof.path)}  ({what}{at})"
