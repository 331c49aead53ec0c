"""A session's log, read once: its fold, every run of every segment, and its bytes, which grow by what is appended."""

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from ledger.base.errors import LedgerError
from ledger.base.files import append, append_to
from ledger.base.paths import show_path
from ledger.fold.segment import Segment
from ledger.fold.state import State, run_at
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Event, Run, Runs
from ledger.log.jsontext import decode, load
from ledger.log.source import Block, LogFile, decisions_of, open_log, run_json_of
from ledger.reading.reader import Reader
from ledger.reading.whole_log import Log, Undecided, judged, open_reader

_UNFINISHED = ("L115", "L116")

_Stamp = tuple[int, int, int, int, int]


class History:
    """Hold a log that was read whole; `content` is its bytes, `chapters` the runs of each segment, as columns.

    It stays what the file is: `renew` reads what others appended, `extend` appends. Whatever else became of the file,
    it is read anew. Raises LedgerError where the file cannot be read.
    """

    log: Log
    reader: Reader

    def __init__(self, path: Path, dialect: str | None = None) -> None:
        self.path = path
        self.content = bytearray()
        self.chapters: dict[int, list[Runs]] = {}
        self._stated = dialect
        self._undecided: Undecided | None = None
        self._hash = sha256()  # of the content
        self._file: LogFile | None = None
        self._keeps_open = False
        self._stamps: tuple[_Stamp | None, ...] | None = None  # None: the fold is of no use any more

    @classmethod
    def of_none(cls, path: Path, reader: Reader) -> Self:
        """Give the history of a log that is yet to be made, and that `reader` is to read."""
        made = cls(path)
        made._begin(reader, None)
        made.conclude()
        return made

    @property
    def state(self) -> State:
        """The fold."""
        return self.reader.state

    def segments(self) -> list[Segment]:
        """List the segments, the current one last."""
        return [*self.state.closed, self.state.current()]

    def runs(self, segment: int | None = None) -> list[Run]:
        """List the runs of a segment (None: the current one) in file order, each with its effective status."""
        ordinal = self.state.current().ordinal if segment is None else segment
        found = [run_at(runs, place) for runs in self.chapters.get(ordinal, ()) for place in range(len(runs.run))]
        results = self.state.results
        return [run._replace(status=results[run.run].status) for run in found] if results else found

    def last(self) -> Run | None:
        """Give the log's last run; None where there is none."""
        return next(latest(self), None)

    def line(self, run: Run) -> bytes:
        """Give the line of a run as it stands in the log, without its newline."""
        return bytes(self.content[run.place.offset : run.place.offset + run.place.size]).rstrip(b"\n")

    def header(self) -> dict[str, Any] | None:
        """Give the record that opened the current segment; None if there is none."""
        line = self.state.current().line
        value = decode(bytes(self.content).split(b"\n", line)[line - 1]).value if line else None
        return value if isinstance(value, dict) else None

    def renew(self, *, thoroughly: bool = False) -> Self:
        """Take in what became of the file since, and give the history back.

        What its size, times and place on the disk show is enough, but for a program that wants to deceive: who calls
        `thoroughly` has every byte compared.
        """
        stamps = self._stamps_now()
        if stamps == self._stamps and not thoroughly:
            return self
        try:
            file = self._opened(stamps[0])
            status = file.restart()
            if not (self._goes_on(stamps) and file.skip(len(self.content)) == self._hash.digest()):
                file.restart()
                self._begin(*open_reader(file, self._stated))
            for block in file.blocks(len(self.content), self.reader.lines + 1):
                self.take(block)
            file.check_unchanged()
            self._hash, self._stamps = file.hash.copy(), (_stamp(status), *stamps[1:])
            self.conclude()
        except BaseException:
            self._stamps = None
            raise
        finally:
            if not self._keeps_open:
                self.close()
        return self

    def take(self, block: Block) -> list[Event]:
        """Fold lines that follow the content, and give their events."""
        self._stamps = None
        found = []
        for event in self.reader.read(block):
            found.append(event)
            if isinstance(event, Runs) and self.state.segment is not None:
                self.chapters.setdefault(self.state.segment.ordinal, []).append(event)
        self.content += block.data
        return found

    def extend(self, data: bytes) -> None:
        """Append lines that were taken already, durably; the caller holds the lock. Raises as `append` does."""
        size = len(self.content) - len(data)
        if self._file is not None and self._file.appends:
            status = append_to(self._file.fileno(), self.path, data, size)
        else:
            status = append(self.path, data, size)
        self._hash.update(data)
        if status.st_size == len(self.content):
            self._stamps = (_stamp(status), *self._stamps_now()[1:])

    def ends(self) -> list[Diagnostic]:
        """List what only the end of the log shows."""
        found = self.reader.diagnostics
        count = len(found)
        self.reader.finish(self._undecided)
        ends = found[count:]
        del found[count:]
        return ends

    def conclude(self) -> None:
        """Say what the log is by now, and what is wrong with it."""
        reader = self.reader
        name = reader.dialect.name if reader.dialect else None
        found = judged(self.path, [*reader.diagnostics, *self.ends()], self.content)
        self.log = Log(self.path, name, reader.lines, reader.records, reader.state, found)

    def close(self) -> None:
        """Close the file; what was read of it stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self, reader: Reader, undecided: Undecided | None) -> None:
        self.reader, self._undecided = reader, undecided
        self.content.clear()
        self.chapters.clear()

    def _opened(self, there: _Stamp | None) -> LogFile:
        """Give the file at the log's path, open: the one that is, unless another took its place."""
        if self._file is not None and (there is None or there[:2] != _stamp(os.fstat(self._file.fileno()))[:2]):
            self.close()
        if self._file is None:
            self._file = open_log(self.path, appends=self._keeps_open)
        return self._file

    def _goes_on(self, now: tuple[_Stamp | None, ...]) -> bool:
        """Tell whether the file, as its stamps show it, may be what was read and more, which the reader can read on."""
        before = self._stamps
        if before is None or before[0] is None or now[0] is None:
            return False
        same = (before[0][:2], *before[1:]) == (now[0][:2], *now[1:])
        return same and self.reader.dialect is not None and self.content.endswith(b"\n")

    def _stamps_now(self) -> tuple[_Stamp | None, ...]:
        """Look at the log and the files beside it that say how it is read."""
        found: list[_Stamp | None] = []
        for path in (self.path, run_json_of(self.path), decisions_of(self.path)):
            try:
                found.append(_stamp(path.stat()))
            except OSError:
                found.append(None)
        return tuple(found)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read(path: Path, dialect: str | None = None) -> History:
    """Read a log with every rule and keep its runs. Raises LedgerError if the file cannot be read at all."""
    return History(path, dialect).renew()


@contextmanager
def kept_open(path: Path) -> Iterator[History]:
    """Give the history of a log, to be renewed first, whose file stays open for who reads and appends many times."""
    history = History(path)
    history._keeps_open = True
    try:
        yield history
    finally:
        history.close()


def secondary_names(history: History) -> list[str]:
    """List the secondary metrics of the current segment's runs, in the order they came.

    A protocol that does not know them has them among a run's other keys.
    """
    segment = history.state.current()
    if segment.names:
        return list(segment.names)
    extras = (text for runs in history.chapters.get(segment.ordinal, ()) for text in runs.extras)
    kept = [load(text).get("metrics") for text in extras if text and '"metrics"' in text]
    return list(dict.fromkeys(name for metrics in kept if isinstance(metrics, dict) for name in metrics))


def sound(history: History) -> History:
    """Give the history back. Raises LedgerError if nothing may be appended: after an error or an unfinished line.

    An error that a person accepted is none; an unfinished line stays one, since the next record would end up on it.
    """
    log = history.log
    if not log.ok:
        first = next(found for found in log.diagnostics if found.is_error)
        where = f"{show_path(log.path or '-')}:{first.line}:{first.column}"
        raise LedgerError(
            f"nothing is written to a log with errors: {where}: {first.code} {first.message};"
            " run ledger repair to see what can be done about it"
        )
    if any(found.code in _UNFINISHED for found in log.diagnostics):
        name = show_path(log.path or "-")
        raise LedgerError(
            f"the last line of {name} has no newline, so its writer may still be at it; if nobody is, end it:"
            f" printf '\\n' >> {name}"
        )
    return history


def latest(history: History, segment: int | None = None, statuses: Container[str] | None = None) -> Iterator[Run]:
    """Yield the runs of a segment (None: of the whole log), the last first, each with its effective status.

    `statuses` leaves out the runs of any other.
    """
    results = history.state.results
    for ordinal in sorted(history.chapters, reverse=True) if segment is None else (segment,):
        for runs in reversed(history.chapters.get(ordinal, [])):
            for place in range(len(runs.run) - 1, -1, -1):
                status = results[runs.run[place]].status if results else runs.status[place]
                if statuses is None or status in statuses:
                    yield run_at(runs, place)._replace(status=status)
