"""Read a whole log: from its file to its dialect, its fold and everything that is wrong with it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ledger.dialects import by_name, recognise
from ledger.dialects.base import Dialect
from ledger.fold.state import State
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Event
from ledger.log.jsontext import WHITE, decode
from ledger.log.source import LogFile, decisions_of, open_log, read_small, run_json_of
from ledger.reading.reader import Reader, decode_bounded, is_error

Undecided = tuple[int, list[str], bool]


class Log(NamedTuple):
    """Hold what reading a log gave. `path` is None for standard input; `lines` counts physical lines."""

    path: Path | None
    dialect: str | None
    lines: int
    records: int
    state: State
    diagnostics: list[Diagnostic]

    @property
    def ok(self) -> bool:
        """Whether the log has no error but what a person accepted."""
        return not any(diagnostic.is_error for diagnostic in self.diagnostics)


def read_log(path: Path | None, dialect: str | None = None) -> Log:
    """Read a log (None: standard input) with every rule; `dialect` overrides recognition.

    Raises LedgerError only if the file cannot be read at all, or is rewritten meanwhile.
    """
    with open_log(path) as file:
        reader, undecided = open_reader(file, dialect)
        for _ in events(file, reader):
            pass
        reader.finish(undecided)
        file.check_unchanged()
    found = judged(path, reader.diagnostics)
    return Log(path, reader.dialect.name if reader.dialect else None, reader.lines, reader.records, reader.state, found)


def judged(path: Path | None, found: list[Diagnostic], content: bytearray | None = None) -> list[Diagnostic]:
    """Put a log's findings in order, those that a person accepted marked as such; `content` is the log's, if known."""
    found = sorted(found, key=lambda d: (d.source is None, d.line, d.column))
    if not found or path is None or not _has_decisions(path):
        return found
    from ledger.reading.accepted import mark  # few logs have decisions beside them, so only these pay for it

    return mark(path, found, content=None if content is None else bytes(content))


def _has_decisions(path: Path) -> bool:
    try:
        return decisions_of(path).exists()
    except OSError:  # a name that is too long for a side file has none
        return False


def open_reader(file: LogFile, dialect: str | None, run_json: bytes | None = None) -> tuple[Reader, Undecided | None]:
    """Recognise a log and make its reader; the file is left at its start.

    The run.json that some protocols have is read too: from beside the file, or as given for a log without a path.
    """
    known, undecided = _recognise(file, dialect)
    reader = Reader(known)
    if known is not None and known.run_json is not None:
        _take_run_json(file, reader, run_json)
    return reader, undecided


def events(file: LogFile, reader: Reader, offset: int = 0, first_line: int = 1) -> Iterator[Event]:
    """Yield the file's events from where it stands."""
    for block in file.blocks(offset, first_line):
        yield from reader.read(block)


def _recognise(file: LogFile, dialect: str | None) -> tuple[Dialect | None, Undecided | None]:
    """Find the dialect by the first readable record, and what to say if there is none."""
    first, binary = 0, False
    torn_only = True
    with closing(file.peek()) as peeked:
        for number, line, terminated in peeked:
            if terminated and not line.strip(WHITE):
                continue
            first = first or number
            binary = binary or b"\0" in line
            torn_only = torn_only and not terminated
            if dialect is not None:
                break
            if (record := _record(line)) is not None:
                known = recognise(record)
                return known, None if known else (first, list(record), binary)
    if dialect is not None:
        return by_name(dialect), None if first else (0, [], False)
    return None, None if first and torn_only else (first, [], binary)


def _record(line: bytes) -> dict[str, Any] | None:
    """Read a line's object, if it can be read without a doubt."""
    value, notes = decode_bounded(line)
    return value if isinstance(value, dict) and not any(map(is_error, notes)) else None


def _take_run_json(file: LogFile, reader: Reader, given: bytes | None) -> None:
    data = reader.run_json = given if file.path is None else read_small(run_json_of(file.path))
    if data is None:
        reader.fault_run_json("there is no run.json beside the history")
        return
    if not data.strip():
        reader.fault_run_json("run.json is empty")
        return
    value, notes = decode(data)
    for note in notes:
        reader.note_run_json(note, data)
    if any(note.kind == "bom" or is_error(note) for note in notes):
        return
    if isinstance(value, dict):
        reader.configure(value, data)
    else:
        reader.fault_run_json("run.json holds no object")
