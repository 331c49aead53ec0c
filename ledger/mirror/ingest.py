"""One log's events read into rows, from where its reading stands to its end."""

import time
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Unread
from ledger.log.source import LogFile
from ledger.mirror import foldtext, side_rows, store
from ledger.mirror.prefetch import Prefetched, ReadBlock, read_blocks
from ledger.mirror.raw import Raw
from ledger.mirror.row_writer import RowWriter, writing
from ledger.mirror.store import StoredSession
from ledger.reading import accepted
from ledger.reading.reader import MOST_ALIKE, TORN, Reader
from ledger.reading.whole_log import Undecided, judged

_TORN_TAIL = "L115"


class SyncOutcome(NamedTuple):
    """Say what a sync did with one log.

    `status` is new, grown, unchanged, updated (only what people decided about it), replaced, moved, waiting or refused;
    `reason` says why it was not taken.
    `runs` counts the session's runs, `pending` the bytes of a torn tail that is held back. `diagnostics` are at most
    the first MOST_ALIKE errors, and as many other findings.
    """

    path: Path
    status: str
    lines: int = 0
    runs: int = 0
    pending: int = 0
    quarantined: bool = False
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the log was left as the mirror had it."""
        return self.status == "refused"


class Ingestion:
    """Take a file's blocks into a session that is new, or whose fold the reader goes on from.

    `errors` counts those of a session that goes on.
    """

    def __init__(
        self, raw: Raw, file: LogFile, reader: Reader, session: StoredSession, *, quarantine: bool,
        store_blocks: bool = True, prefetched: Prefetched | None = None, errors: int = 0,
    ) -> None:  # fmt: skip
        self._raw = raw
        self._file = file
        self._reader = reader
        self._session = session
        self._quarantine = quarantine
        self._store_blocks = store_blocks
        self._before = session.size
        self._tail = self._pending = 0
        self._fold: str | None = None
        self._prefetched = prefetched
        self._found: list[Diagnostic] = []
        self._errors = errors
        self._kept: Counter[bool] = Counter()  # findings in hand, errors and others: not all that a log may have

    def go(self, status: str, undecided: Undecided | None) -> SyncOutcome:
        """Write rows until the file ends; the caller's transaction is to be rolled back where this was refused."""
        with writing(self._raw) as writer:
            self.take(writer, undecided, new=status == "new")
            if not self.failed:
                writer.finish()
        return self.settle(status)

    def take(self, writer: RowWriter, undecided: Undecided | None, *, new: bool) -> None:
        """Give the writer all rows until the file ends, or until the log is refused."""
        reader, size, lines = self._reader, self._session.size, self._session.lines
        writer.begin(self._session.id, new=new)
        if reader.state.segment is not None and not size:
            writer.segment(reader.state)  # run.json has made it
        blocks = self._prefetched.blocks if self._prefetched else read_blocks(self._file, reader, size, lines)
        for step, hashed in blocks:
            block = step.block
            self._fold = step.fold
            if not self._take(step, writer):
                self._pending = len(block.data)
            elif block.terminated:
                size, lines = size + len(block.data), lines + len(block.lines)
                self._session = self._session._replace(size=size, lines=lines, sha256=hashed)
            else:
                self._tail = len(block.data)
        reader.finish(undecided)
        self._file.check_unchanged()
        self._drain(writer)
        writer.end(reader.state)

    def settle(self, status: str) -> SyncOutcome:
        """Write the session's row when its other rows are stored, and say what came of the log."""
        reader, session, before = self._reader, self._session, self._before
        if self.failed:
            return self._refused()
        if session.size + self._tail == 0 and self._pending:
            return self._outcome("waiting", pending=self._pending, reason="its only line is unfinished")
        runs = store.update(
            self._raw,
            session._replace(
                dialect=reader.dialect.name if reader.dialect else None,
                tail_size=self._tail,
                pending_bytes=self._pending,
                state=reader.state.status,
                fold=self._fold or foldtext.dump(reader.state),
                quarantined=self._errors > 0,  # a fact about the bytes; whether a person accepted them is none
                gone=False,
                synced_ms=time.time_ns() // 1_000_000,
            ),
        )
        reviewed = self._review(new=status == "new")
        unaccepted = store.count_errors(self._raw, session.id)[1] if self._errors else 0
        if unaccepted and not self._quarantine:
            return self._refused()
        if status == "grown" and session.size + self._tail == before:
            status = "updated" if reviewed else "unchanged"
        lines, quarantined = session.lines + bool(self._tail), unaccepted > 0
        return self._outcome(status, lines=lines, runs=runs, pending=self._pending, quarantined=quarantined)

    def _refused(self) -> SyncOutcome:
        """Refuse the log for its errors; those that a person accepted are none."""
        if self._errors and self._file.path is not None:
            self._found = accepted.mark(self._file.path, self._found)
        reason = "it has errors; see ledger check, or use --quarantine to mirror it anyway"
        if not any(found.is_error for found in self._found):
            reason = "its mirrored lines have errors already; use --quarantine to mirror it further"
        return self._outcome("refused", lines=self._session.lines, reason=reason)

    def _review(self, *, new: bool) -> bool:
        """Take what people decided about the log, and tell whether that is news."""
        if self._file.path is not None:
            return side_rows.take(self._raw, self._session.id, self._file.path, new=new)
        side_rows.derive(self._raw, self._session.id, self._session.file)
        return False

    def _outcome(self, status: str, **values: Any) -> SyncOutcome:
        return SyncOutcome(self._session.file, status, diagnostics=tuple(judged(None, self._found)), **values)

    @property
    def failed(self) -> bool:
        """Whether the log is refused whatever comes."""
        return self._errors > 0 and not self._quarantine and not self._reviewed

    @cached_property
    def _reviewed(self) -> bool:
        """Whether errors may be accepted; only the end shows if all of them are."""
        return self._file.path is not None and bool(accepted.read(self._file.path))

    def _take(self, step: ReadBlock, writer: RowWriter) -> bool:
        """Write a block's rows, unless the log is refused anyway; false for a torn tail, which is held back."""
        for event, state in step.events:
            if isinstance(event, Unread) and event.kind == TORN and not self._quarantine:
                self._drain(writer)
                return False
            if not self.failed:
                writer.event(event, state)
        self._drain(writer)
        if self._store_blocks and not self.failed:
            writer.block(step.block)
        return True

    def _drain(self, writer: RowWriter) -> None:
        """Take the reader's findings over. A torn tail that is held back is none of what is mirrored."""
        for found in self._reader.diagnostics:
            if found.code == _TORN_TAIL and not self._quarantine:
                continue
            self._errors += found.is_error
            if self._kept[found.is_error] < MOST_ALIKE:
                self._kept[found.is_error] += 1
                self._found.append(found)
            if not self.failed:
                writer.finding(found)
        self._reader.diagnostics.clear()
