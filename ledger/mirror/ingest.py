"""One log's events read into rows, from where its reading stands to its end."""

import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from ledger.accepted import Decisions, mark
from ledger.accepted import read as read_decisions
from ledger.diagnostics import Diagnostic, Severity
from ledger.events import Unread
from ledger.mirror import foldtext, store
from ledger.mirror.ahead import Ahead, Step, steps
from ledger.mirror.rows import RowWriter, writing
from ledger.mirror.store import Session
from ledger.reader import MOST_ALIKE, TORN, Reader
from ledger.source import LogFile

_TORN_TAIL = "L115"


class Outcome(NamedTuple):
    """Say what a sync did with one log.

    `status` is new, grown, unchanged, replaced, moved, waiting or refused; `reason` says why it was not taken.
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
    """Take a file's blocks into a session that is new, or whose fold the reader goes on from."""

    def __init__(
        self, raw: sqlite3.Connection, file: LogFile, reader: Reader, session: Session, *, quarantine: bool,
        store_blocks: bool = True, ahead: Ahead | None = None,
    ) -> None:  # fmt: skip
        self._raw = raw
        self._file = file
        self._reader = reader
        self._session = session
        self._quarantine = quarantine
        self._store_blocks = store_blocks
        self._ahead = ahead
        self._found: list[Diagnostic] = []
        self._known = known_errors(raw, session)
        self._errors = len(self._known)
        self._kept: Counter[bool] = Counter()  # findings in hand, errors and others: not all that a log may have
        self._decisions: Decisions | None = None  # read when the first error is met
        self._accepted = False

    def go(self, status: str, undecided: tuple[int, list[str], bool] | None) -> Outcome:
        """Write rows until the file ends; the caller's transaction is to be rolled back where this was refused."""
        session, reader = self._session, self._reader
        size, lines, tail, pending = session.size, session.lines, 0, 0
        digest, fold = session.sha256, None
        with writing(self._raw, session.id) as writer:
            if reader.state.segment is not None and not size:
                writer.segment(reader.state)  # a codex log's segment stands in its run.json
            for step, hashed in self._ahead.steps if self._ahead else steps(self._file, reader, size, lines):
                block, fold = step.block, step.fold
                if not self._take(step, writer):
                    pending = len(block.data)
                elif block.terminated:
                    size, lines, digest = size + len(block.data), lines + len(block.lines), hashed
                else:
                    tail = len(block.data)
            reader.finish(undecided)
            self._file.check_unchanged()
            self._drain(writer)
            self._accept()
            if not self._failed:
                writer.finish(reader.state)
        if self._failed:
            reason = "it has errors; see ledger check, or use --quarantine to mirror it anyway"
            if not any(found.is_error for found in self._found):
                reason = "its mirrored lines have errors already; use --quarantine to mirror it further"
            return self._outcome("refused", lines=lines, reason=reason)
        if size + tail == 0 and pending:
            return self._outcome("waiting", pending=pending, reason="its only line is unfinished")
        quarantined = self._errors > 0  # a fact about the bytes; whether a person accepted them is none
        store.update(
            self._raw,
            session._replace(
                dialect=reader.dialect.name if reader.dialect else None,
                size=size,
                sha256=digest,
                lines=lines,
                tail_size=tail,
                pending_bytes=pending,
                state=reader.state.status,
                fold=fold or foldtext.dump(reader.state),
                quarantined=quarantined,
                gone=False,
                synced_ms=time.time_ns() // 1_000_000,
            ),
        )
        if status == "grown" and size + tail == session.size:
            status = "unchanged"
        runs = store.count_runs(self._raw, session.id)
        return self._outcome(
            status, lines=lines + bool(tail), runs=runs, pending=pending, quarantined=quarantined and not self._accepted
        )

    def _outcome(self, status: str, **values: Any) -> Outcome:
        found = sorted(self._found, key=lambda d: (d.source is None, d.line, d.column))
        return Outcome(Path(self._session.path), status, diagnostics=tuple(found))._replace(**values)

    @property
    def _failed(self) -> bool:
        if not self._errors or self._quarantine or self._accepted:
            return False
        if self._decisions is None:
            self._decisions = read_decisions(self._file.path) if self._file.path is not None else {}
        return not self._decisions  # where there are some, only the end shows whether they cover every error

    def _accept(self) -> None:
        """Tell whether a person accepted every error; if not, the log has failed."""
        if self._failed or not self._errors or self._file.path is None:
            return
        decisions = read_decisions(self._file.path) if self._decisions is None else self._decisions
        self._found = mark(self._file.path, self._found, decisions)
        errors = [*mark(self._file.path, self._known, decisions), *self._found]
        in_hand = len(self._known) <= MOST_ALIKE and self._errors == len(self._known) + self._kept[True]
        self._accepted = in_hand and not any(one.is_error for one in errors)
        self._decisions = {}

    def _take(self, step: Step, writer: RowWriter) -> bool:
        """Write a block's rows, unless the log is refused anyway; false for a torn tail, which is held back."""
        for event, state in step.events:
            if isinstance(event, Unread) and event.kind == TORN and not self._quarantine:
                self._drain(writer)
                return False
            if not self._failed:
                writer.event(event, state)
        self._drain(writer)
        if self._store_blocks and not self._failed:
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
            if not self._failed:
                writer.finding(found)
        self._reader.diagnostics.clear()


def known_errors(raw: sqlite3.Connection, session: Session) -> list[Diagnostic]:
    """Give the errors that are mirrored of a session already, or one more than MOST_ALIKE of them."""
    sql = (
        'SELECT line, "column", code, name, message, source FROM diagnostic WHERE session = ? AND severity = ? LIMIT ?'
    )
    rows = raw.execute(sql, (session.id, Severity.ERROR.value, MOST_ALIKE + 1))
    return [
        Diagnostic(line, column, code, name, Severity.ERROR, message, source)
        for line, column, code, name, message, source in rows
    ]
