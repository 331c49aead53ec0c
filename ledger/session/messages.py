"""The queue of texts that open the next brief: a person's words, and what hooks said (protocols.md 7)."""

import os
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.locks import locked
from ledger.base.paths import cannot_write
from ledger.base.times import iso, now_ms
from ledger.log.jsontext import WHITE, decode, dump
from ledger.log.source import read_small
from ledger.session.files import STEER, STEER_LOCK, Session

USER = "user"
MOST_BYTES = 1 << 20
"""A longer text belongs into a file that the text names."""


class Message(NamedTuple):
    """Hold one text for the next brief, where it came from, and when (ISO-8601, None where nobody noted it)."""

    source: str
    text: str
    at: str | None = None


def add(session: Session, source: str, text: str) -> None:
    """Queue a text, durably; a blank one is nobody's word and is left out.

    Raises LedgerError for a text past `MOST_BYTES`, and where the queue cannot be written.
    """
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # an argument may hold any bytes
    if not text.strip():
        return
    if len(text.encode()) > MOST_BYTES:
        raise LedgerError(f"a text for the brief has at most {MOST_BYTES:,} bytes; put it into a file and name that")
    line = dump({"at": iso(now_ms()), "from": source, "text": text}).encode() + b"\n"
    with locked(session.side(STEER_LOCK)):
        try:
            _append(session, line)
        except OSError as error:
            raise cannot_write(session.side(STEER), error) from None


def pending(session: Session) -> list[Message]:
    """List the queued texts, oldest first, and leave them there. A damaged line is given as it stands, not lost."""
    return list(map(_note, _lines(session)))


def drop(session: Session, told: list[Message]) -> None:
    """Take texts that were told off the queue; what came since stays."""
    with locked(session.side(STEER_LOCK)):
        path, lines = session.side(STEER), _lines(session)
        for note in told:
            if lines and _note(lines[0]) == note:
                lines.pop(0)
        try:
            put(path, b"".join(line + b"\n" for line in lines), durable=True) if lines else path.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(session.side(STEER), error) from None


def _lines(session: Session) -> list[bytes]:
    return [line for line in (read_small(session.side(STEER), 1 << 30) or b"").split(b"\n") if line.strip(WHITE)]


def _append(session: Session, line: bytes) -> None:
    with session.side(STEER).open("a+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            line = line if file.read(1) == b"\n" else b"\n" + line  # a crash may have cut the line before
        try:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), size)
            raise


def _note(line: bytes) -> Message:
    value = decode(line).value
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        source, at = value.get("from"), value.get("at")
        return Message(
            source if isinstance(source, str) else "somebody", value["text"], at if isinstance(at, str) else None
        )
    return Message("a damaged line of the queue", line.decode("utf-8", "replace"))
