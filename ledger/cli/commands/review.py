"""`review`: findings that a person takes as they are."""

from pathlib import Path
from typing import Any

import click
import orjson

from ledger.base.errors import LedgerError
from ledger.base.locks import lock_of, locked
from ledger.base.text import counted, plain
from ledger.base.times import iso, now_ms
from ledger.cli.support.log_argument import one_log
from ledger.cli.support.options import dialect_option, format_option
from ledger.cli.support.output import heard, shown, stdout_text
from ledger.log.diagnostics import Diagnostic
from ledger.log.source import check_kind, decisions_of
from ledger.reading import accepted
from ledger.reading.accepted import Acceptance
from ledger.reading.side_files import add_record, whoami
from ledger.repair.log_text import Text
from ledger.rules import RULES
from ledger.telling.findings import safe

_log_argument = click.argument("log", metavar="LOG")
_codes_argument = click.argument("codes", metavar="CODE[@LINE]...", nargs=-1, required=True)


@click.group()
def review() -> None:
    """Accept findings as they are, so that they no longer stop check, sync or the loop.

    Decisions stand in NAME.accepted.jsonl beside the log. Commit that file with the log. Each decision is bound to the
    content of one line, and ends when the line changes.

    \b
    Example:
      ledger review accept .auto/log.jsonl R203@7 --reason "the old script wrote kept for keep"
      ledger review list .auto/log.jsonl
    """


@review.command()
@_log_argument
@_codes_argument
@click.option("--reason", required=True, metavar="TEXT", help="Why it may stay; shown wherever the finding is.")
@dialect_option
def accept(log: str, codes: tuple[str, ...], reason: str, dialect: str | None) -> None:
    """Accept all findings of a code, or those at one line.

    \b
    Example:
      ledger review accept .auto/log.jsonl L106@12 --reason "the run is lost"
    """
    path = _path(log)
    asked = [_asked(code) for code in codes]
    if not reason.strip():
        raise click.UsageError("give a --reason that says why the finding may stay")
    with locked(lock_of(path)):
        found = [one for pair in asked for one in _findings(path, dialect, *pair)]
        made = _decide(path, found, reason.strip())
    count = counted(len(made), "finding")
    click.echo(f"accepted {count} of {shown(path)}; commit {shown(decisions_of(path))} with it")


def _asked(text: str) -> tuple[str, int | None]:
    """Take `CODE` or `CODE@LINE` apart."""
    code, at, line = text.partition("@")
    if code.upper() not in RULES:
        raise click.UsageError(f"no rule has the code {code}; ledger explain lists them")
    if at and not (line.isascii() and line.isdigit()):
        raise click.UsageError(f"{text!r} names no line: write CODE@LINE, like L106@12")
    return code.upper(), int(line) if at else None


def _path(log: str | None) -> Path:
    path = one_log(log)
    if path is None:
        raise click.UsageError("decisions stand beside a file; name a log, not standard input")
    check_kind(path)
    return path


def _findings(path: Path, dialect: str | None, code: str, line: int | None) -> list[Diagnostic]:
    where = "" if line is None else f" at line {line}"
    found = [one for one in Text.read(path, dialect).diagnostics if one.code == code and line in (None, one.line)]
    if not found:
        raise LedgerError(f"{shown(path)} has no finding {code}{where}")
    if code == accepted.TORN_TAIL:
        raise LedgerError(
            "an unfinished last line cannot be accepted, since the next record would end up on it; wait for its"
            " writer, or see ledger repair"
        )
    return found


def _decide(path: Path, found: list[Diagnostic], reason: str) -> list[Diagnostic]:
    """Write down what is accepted and was not yet, and give it."""
    known, keys = accepted.read(path), accepted.keys_of(path, found)
    by, at = whoami(), iso(now_ms()) or ""
    fresh = [one for one in found if keys[one.source, one.line, one.code] not in known]
    made = {keys[one.source, one.line, one.code]: one.line for one in reversed(fresh)}
    for key, line in sorted(made.items(), key=lambda pair: pair[1]):
        record = accepted.record_of("accept", Acceptance(key, line, reason, by, at))
        add_record(path, accepted.WHAT, record)
    return fresh


@review.command(name="list")
@click.argument("log", required=False)
@dialect_option
@format_option("text", "json", default="text")
def list_decisions(log: str | None, dialect: str | None, format_name: str) -> None:
    """List what is accepted, and whether it is still found.

    \b
    Example:
      ledger review list .auto/log.jsonl
    """
    path = _path(log)
    rows = [_row(decision, line) for decision, line in _standing(path, dialect)]
    with heard():
        if format_name == "json":
            click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        for row in rows if format_name == "text" else ():
            click.echo(_line(path, row), file=stdout_text())


def _standing(path: Path, dialect: str | None) -> list[tuple[Acceptance, int | None]]:
    """Give each decision with the first line that it is about now; None if its finding is gone."""
    decisions = accepted.read(path)
    found = Text.read(path, dialect).diagnostics if decisions else []
    at: dict[accepted.Key, int] = {}
    for (_, line, _), key in sorted(accepted.keys_of(path, found).items(), key=lambda pair: -pair[0][1]):
        at[key] = line
    return [(decision, at.get(key)) for key, decision in decisions.items()]


def _row(decision: Acceptance, line: int | None) -> dict[str, Any]:
    texts = {"reason": decision.reason, "by": decision.by, "at": decision.at}
    return {
        "code": decision.key.code,
        "line": decision.line if line is None else line,
        "source": decision.key.source,
        "found": line is not None,
        **{key: text.encode("utf-8", "replace").decode() for key, text in texts.items()},
    }


def _line(path: Path, row: dict[str, Any]) -> str:
    where = shown(path if row["source"] is None else path.with_name(plain(row["source"])))
    gone = "" if row["found"] else ", no longer found"
    made = f"{plain(row['by'])}, {plain(row['at'])[:10]}{gone}"
    return f"{safe(where)}:{row['line']}: {row['code']} {plain(row['reason'])} ({made})"


@review.command()
@_log_argument
@_codes_argument
@dialect_option
def drop(log: str, codes: tuple[str, ...], dialect: str | None) -> None:
    """Take decisions back: the findings count again.

    \b
    Example:
      ledger review drop .auto/log.jsonl L106@12
    """
    path = _path(log)
    asked = [_asked(code) for code in codes]
    with locked(lock_of(path)):
        standing = _standing(path, dialect)
        for code, line in asked:
            chosen = [one for one, now in standing if one.key.code == code and line in (None, now or one.line)]
            if not chosen:
                raise LedgerError(
                    f"no accepted finding {code} of {shown(path)} is there to drop; see ledger review list"
                )
            for decision in chosen:
                dropped = decision._replace(by=whoami(), at=iso(now_ms()) or "")
                add_record(path, accepted.WHAT, accepted.record_of("drop", dropped))
    click.echo(f"dropped {', '.join(codes)} of {shown(path)}")
