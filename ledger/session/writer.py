"""Append to a log: under its lock, after what others appended was read, and only what the log stays sound with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import create
from ledger.base.locks import lock_of, locked
from ledger.base.paths import show_path
from ledger.dialects import by_name, encode
from ledger.fold.state import State, run_at
from ledger.log.diagnostics import Diagnostic, Severity
from ledger.log.events import Event, Run, Runs
from ledger.log.jsontext import decode
from ledger.log.source import Block
from ledger.reading.reader import Reader
from ledger.session.history import History, sound

Record = Mapping[str, Any]


class Pen:
    """Hold a log that is locked and was read whole; what is appended is folded in at once.

    `warnings` collects what the rules say of the appended records short of an error. A `dry` pen writes nothing.
    """

    def __init__(self, history: History, *, dry: bool = False) -> None:
        self.history = history
        self.warnings: list[Diagnostic] = []
        self._dry = dry

    @property
    def state(self) -> State:
        """The fold, with what was appended."""
        return self.history.state

    def append(self, *records: Record, before: Callable[[int, bytes], object] | None = None) -> list[Run]:
        """Append records as lines, in one write, and give the runs among them.

        `before` is told the log's size and the bytes ahead of the write. Raises LedgerError, nothing being written, if
        a rule calls one of them an error.
        """
        dialect, size = self.history.reader.dialect, len(self.history.content)
        if dialect is None:
            raise LedgerError(f"{show_path(self.history.path)} speaks no known protocol")
        lines = [encode(record) for record in records]
        made = (event for event in self._judge(lines) if isinstance(event, Runs))
        runs = [run_at(event, place) for event in made for place in range(len(event.run))]
        data = b"".join(lines)
        if before is not None:
            before(size, data)
        if not self._dry:
            self.history.extend(data)
        self.history.conclude()
        return runs

    def _judge(self, lines: Sequence[bytes]) -> list[Event]:
        """Read the lines as any reader will."""
        history = self.history
        reader, seen = history.reader, len(history.reader.diagnostics)
        bare = [line[:-1] for line in lines]
        found = history.take(Block(len(history.content), reader.lines + 1, b"".join(lines), bare, True))
        said = [*reader.diagnostics[seen:], *history.ends()]
        if wrong := next((one for one in said if one.is_error), None):
            raise LedgerError(f"the log would not be sound: {wrong.code} {wrong.message}; nothing was written")
        self.warnings += [one for one in said if one.severity is Severity.WARNING]
        return found


@contextmanager
def writing(log: Path | History, *, dry: bool = False) -> Iterator[Pen]:
    """Lock a log, read what is new in it, and give the pen to append with.

    A `dry` pen writes nothing, not even the lock's file. Raises LedgerError for a log with errors, a torn tail among
    them, and for one whose last line is unfinished.
    """
    history = History(log) if isinstance(log, Path) else log
    with nullcontext() if dry else locked(lock_of(history.path)):
        yield Pen(sound(history.renew()), dry=dry)


def start(log: Path, dialect: str, records: Sequence[Record], run_json: bytes | None = None) -> Pen:
    """Make a new log of these records, the first of them its header, durably.

    `run_json` is the log's configuration, if it has one, which stands beside it already. Raises LedgerError if the log
    exists, or a rule calls one of the records an error.
    """
    with locked(lock_of(log)):
        reader = Reader(by_name(dialect))
        if run_json is not None:
            reader.configure(decode(run_json).value, run_json)
        pen = Pen(History.of_none(log, reader), dry=True)
        pen.append(*records)
        create(log, b"".join(map(encode, records)))
        return pen
