"""Findings that a person took as they are: decisions beside the log, each bound to the content of one line.

A decision holds for as long as a line of that content has that finding, wherever it stands by then; once the line is
changed it means nothing any more. An accepted finding does not stop `check`, `sync` or the loop.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.log.diagnostics import Diagnostic
from ledger.log.source import LogFile, decisions_of, open_log, read_small
from ledger.reading.side_files import records

WHAT = "accepted"
"""What the side file with decisions is called."""
TORN_TAIL = "L115"


class Key(NamedTuple):
    """Say what a decision is bound to: a code, the file at fault (None: the log), and the SHA-256 of the line.

    Where a finding is about a file as a whole, it is the hash of all of it.
    """

    code: str
    source: str | None
    sha256: str


class Acceptance(NamedTuple):
    """Hold an accepted finding. `line` is where it stood then; `at` is ISO-8601 text, UTC."""

    key: Key
    line: int
    reason: str
    by: str
    at: str


Decisions = Mapping[Key, Acceptance]


def read(log: Path) -> dict[Key, Acceptance]:
    """Read the decisions in force beside a log. Raises LedgerError for a line that is none."""
    path = decisions_of(log)
    return in_force(path, read_small(path) or b"")


def in_force(path: Path, data: bytes) -> dict[Key, Acceptance]:
    """Read the decisions in force from the bytes of their file. Raises LedgerError for a line that is none."""
    found: dict[Key, Acceptance] = {}
    for number, record in records(path, data):
        decision = _decision(record)
        if decision is None:
            raise LedgerError(
                f"{show_path(path)}:{number} is no decision: it needs the action (accept or drop), a code, the line's"
                " sha256 and a reason; mend or remove the line"
            )
        if record["action"] == "drop":
            found.pop(decision.key, None)
        else:
            found[decision.key] = decision
    return found


def _decision(record: Mapping[str, Any]) -> Acceptance | None:
    action, source, line = record.get("action"), record.get("source"), record.get("line", 0)
    texts = [record.get(key, "") for key in ("code", "sha256", "reason", "by", "at")]
    if action not in ("accept", "drop") or not all(isinstance(text, str) for text in texts):
        return None
    if type(line) is not int or not (source is None or isinstance(source, str)):
        return None
    code, sha256, reason, by, at = texts
    if not code or not sha256 or not (reason or action == "drop"):
        return None
    return Acceptance(Key(code, source, sha256), line, reason, by, at)


def record_of(action: str, decision: Acceptance) -> dict[str, Any]:
    """Make the record of a decision that is made (`accept`) or taken back (`drop`)."""
    code, source, sha256 = decision.key
    made = {"action": action, "code": code, "line": decision.line, "sha256": sha256}
    if source is not None:
        made["source"] = source
    if action == "accept":
        made["reason"] = decision.reason
    return {**made, "by": decision.by, "at": decision.at}


def mark(
    log: Path, found: Sequence[Diagnostic], decisions: Decisions | None = None, content: bytes | None = None
) -> list[Diagnostic]:
    """Give the findings, each accepted one with its reason; the log is read for that unless its content is given.

    Raises LedgerError if the decisions cannot be read.
    """
    made = read(log) if decisions is None else decisions
    codes = {key.code for key in made}
    asked = [one for one in found if one.code in codes]
    if not asked:
        return list(found)
    keys = keys_of(log, asked, content)
    reasons = {place: made[key].reason for place, key in keys.items() if key in made}
    return [one._replace(accepted=reasons.get((one.source, one.line, one.code))) for one in found]


def keys_of(
    log: Path, found: Iterable[Diagnostic], content: bytes | None = None
) -> dict[tuple[str | None, int, str], Key]:
    """Give what decisions on these findings would be bound to, by file, line and code."""
    wanted: dict[str | None, set[int]] = {}
    places = {(one.source, one.line, one.code) for one in found}
    for source, line, _ in places:
        wanted.setdefault(source, set()).add(line)
    hashes = {
        (source, line): sha for source, lines in wanted.items() for line, sha in _hashes(log, source, lines, content)
    }
    return {(source, line, code): Key(code, source, hashes[source, line]) for source, line, code in places}


def _hashes(log: Path, source: str | None, lines: set[int], content: bytes | None = None) -> Iterable[tuple[int, str]]:
    if source is not None:
        data = read_small(log.with_name(source)) or b""
        yield from ((line, hash_of(data, line)) for line in lines)
        return
    found: dict[int, str] = {}
    with open_log(log) if content is None else LogFile(None, BytesIO(content), len(content)) as file:
        for block in file.blocks():
            for line in lines.intersection(range(block.first_line, block.first_line + len(block.lines))):
                found[line] = hashlib.sha256(block.lines[line - block.first_line]).hexdigest()
    for line in lines:
        yield line, found.get(line, file.hash.hexdigest())


def hash_of(data: bytes, line: int) -> str:
    """Hash a line of a small file as decisions do, all of it where it has no such line."""
    split = data.split(b"\n")
    return hashlib.sha256(split[line - 1] if 0 < line <= len(split) else data).hexdigest()
