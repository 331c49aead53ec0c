"""What people decided about a log, mirrored with it: the bytes of its side files, and the rows that they amount to."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ledger.log.jsontext import dump
from ledger.log.source import read_small
from ledger.mirror import store
from ledger.mirror.raw import Raw, written_for
from ledger.reading.accepted import Key, hash_of, in_force
from ledger.reading.side_files import records, side_file

_KINDS = ("accepted", "repairs")

_CONSIDERED = """SELECT d.id, d.code, d.source, d.line, coalesce(
  (SELECT start FROM run WHERE id = d.session << 32 | d.line),
  (SELECT start FROM event WHERE id = d.session << 32 | d.line),
  (SELECT start FROM unread WHERE id = d.session << 32 | d.line)
) AS start
FROM diagnostic AS d WHERE d.session = ? AND d.code IN (SELECT code FROM acceptance WHERE session = d.session)
ORDER BY start"""

_BLOCK_AT = "SELECT start, [[bytes data]] FROM block WHERE session = ? AND start <= ? ORDER BY start DESC LIMIT 1"


def changed(raw: Raw, session_id: int, log: Path) -> bool:
    """Tell whether the files beside a log are other ones than those mirrored."""
    return _beside(log) != stored(raw, session_id)


def take(raw: Raw, session_id: int, log: Path, *, new: bool = False) -> bool:
    """Mirror the files beside a log, in the caller's transaction, and tell whether they are other ones than before.

    The log's own rows must be complete; of a `new` session nothing was mirrored before. Raises LedgerError for a file
    that cannot be read.
    """
    now, before = _beside(log), {} if new else stored(raw, session_id)
    if now != before:
        keep(raw, session_id, now)
    if now or before:
        derive(raw, session_id, log)
    return now != before


def keep(raw: Raw, session_id: int, files: Mapping[str, bytes]) -> None:
    """Store the bytes of a session's side files, by kind, in place of those that it had."""
    raw.execute("DELETE FROM side WHERE session = ?", (session_id,))
    raw.executemany("INSERT INTO side VALUES (?, ?, ?)", [(session_id, *file) for file in files.items()])


def stored(raw: Raw, session_id: int) -> dict[str, bytes]:
    """Give the bytes of a session's side files, by kind."""
    rows = raw.execute(written_for(raw, "SELECT kind, [[bytes data]] FROM side WHERE session = ?"), (session_id,))
    return {kind: data for kind, data in rows if kind in _KINDS}


def derive(raw: Raw, session_id: int, log: Path, blocks: Raw | None = None) -> None:
    """Derive what a session's side files say: decisions, repairs, and which of its findings are accepted.

    `log` is where the log is, or was; `blocks` is the mirror that holds its bytes, if it is another one. Raises
    LedgerError for a line of them that cannot be read.
    """
    raw.execute("DELETE FROM acceptance WHERE session = ?", (session_id,))
    raw.execute("DELETE FROM repair WHERE session = ?", (session_id,))
    raw.execute("UPDATE diagnostic SET accepted = NULL WHERE session = ? AND accepted IS NOT NULL", (session_id,))
    held = stored(raw, session_id)
    if data := held.get("repairs"):
        rows = [(session_id, *row) for row in _repairs(side_file(log, "repairs"), data)]
        raw.executemany("INSERT INTO repair VALUES (?,?,?,?,?,?,?,?,?)", rows)
    if not (data := held.get("accepted")):
        return
    numbers = {}
    for number, (key, made) in enumerate(in_force(side_file(log, "accepted"), data).items(), 1):
        numbers[key] = number
        values = (session_id, number, made.line, *key, made.reason, made.by, made.at)
        raw.execute("INSERT INTO acceptance VALUES (?,?,?,?,?,?,?,?,?)", values)
    found = [(numbers.get(key), row) for row, key in _keys(raw, session_id, blocks or raw)]
    raw.executemany("UPDATE diagnostic SET accepted = ? WHERE id = ?", found)


def _repairs(path: Path, data: bytes) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a log's repairs, each with its number first."""
    texts = ("action", "by", "at", "before", "after", "backup")
    for number, (_, record) in enumerate(records(path, data), 1):
        values = (record.get(name) for name in texts)
        yield number, *(value if isinstance(value, str) else None for value in values), dump(record.get("items", []))


def _beside(log: Path) -> dict[str, bytes]:
    """Read the files beside a log. Nearly always there are none, which must cost next to nothing."""
    there = [kind for kind in _KINDS if os.path.exists(f"{log}.{kind}.jsonl")]  # noqa: PTH110 - too long a name is none
    found = {kind: read_small(side_file(log, kind)) for kind in there}
    return {kind: data for kind, data in found.items() if data is not None}


def _keys(raw: Raw, session_id: int, blocks: Raw) -> Iterator[tuple[int, Key]]:
    """Yield the findings that decisions may be about, by row, with what such a decision is bound to."""
    whole: str | None = None
    (run_json,) = raw.execute("SELECT run_json FROM session WHERE id = ?", (session_id,)).fetchone()
    begin, data, block_at = 0, b"", written_for(blocks, _BLOCK_AT)
    for row, code, source, line, start in raw.execute(_CONSIDERED, (session_id,)).fetchall():
        if source is not None:
            digest = hash_of(run_json or b"", line)
        elif start is None:  # it is about the log as a whole
            digest = whole = whole or store.sha256(blocks, session_id)
        else:
            if not begin <= start < begin + len(data):
                begin, data = blocks.execute(block_at, (session_id, start)).fetchone() or (start, b"")
            digest = hashlib.sha256(data[start - begin :].partition(b"\n")[0]).hexdigest()
        yield row, Key(code, source, digest)
