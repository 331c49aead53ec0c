"""A log read for a page: its fold, its runs as columns, and what else its records say that a reader wants to see."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.numbers import Number, is_number
from ledger.base.text import plain
from ledger.fold.segment import Segment
from ledger.fold.state import State
from ledger.fold.verdict import Verdict
from ledger.log.diagnostics import Diagnostic, Severity
from ledger.log.events import Decision, Event, Header, Lifecycle, Runs
from ledger.log.source import LogFile
from ledger.reading.reader import Reader
from ledger.reading.whole_log import Log, events, judged, open_reader
from ledger.report.run_columns import LETTERS, Columns
from ledger.session.files import of_log
from ledger.session.standing import judge_session

Judge = Callable[[list[Diagnostic]], list[Diagnostic]]
"""Put findings in order, those that a person accepted marked as such."""

SHOWN_FINDINGS = 500
"""As many errors, and as many other findings, are listed; all are counted."""


_AT_ONCE = 10_000
"""Findings that are judged together: for each lot the log is read again where there are decisions."""


class Findings:
    """Count what the rules found and keep the first of it."""

    def __init__(self) -> None:
        self.counts: Counter[Severity] = Counter()
        self._kept: dict[bool, list[Diagnostic]] = {True: [], False: []}

    def take(self, found: list[Diagnostic]) -> None:
        """Take the next findings."""
        for one in found:
            self.counts[one.severity] += one.accepted is None
            kept = self._kept[one.is_error]
            if len(kept) < SHOWN_FINDINGS:
                reason = "" if one.accepted is None else f" (accepted: {one.accepted})"
                kept.append(one._replace(message=f"{one.message}{reason}"))

    def shown(self) -> list[Diagnostic]:
        """List those kept in the order of their lines."""
        return judged(None, self._kept[True] + self._kept[False])


class Account(NamedTuple):
    """Hold a log that was read: `starts` is each segment's first row, `targets` what a segment wants to reach.

    `reasons` has the latest decision on a run and why it was taken, `ending` the last word of who ran the session.
    """

    log: Log
    columns: Columns
    starts: dict[int, int]
    targets: dict[int, Number]
    reasons: dict[int, tuple[str, str]]
    ending: list[str]
    findings: Findings

    @property
    def state(self) -> State:
        """The fold."""
        return self.log.state

    @property
    def ok(self) -> bool:
        """Whether the log has no error."""
        return not self.findings.counts[Severity.ERROR]

    def segments(self) -> list[Segment]:
        """List the segments, the current one last."""
        return [*self.state.closed, self.state.current()]


def read(
    file: LogFile, path: Path | None, dialect: str | None = None, run_json: bytes | None = None,
    judge: Judge | None = None,
) -> Account:  # fmt: skip
    """Read an open log with every rule; what cannot be read is a finding and left out.

    `path` is where the log is, or was, None for standard input; `run_json` goes with a log that has no path.
    `judge` marks the findings that a person accepted, if the decisions are not to be read beside the log.
    """
    judge = judge or partial(judged, path)
    reader, undecided = open_reader(file, dialect, run_json)
    empty = Log(path, None, 0, 0, reader.state, [])
    account = Account(empty, Columns(), {}, {}, {}, [], Findings())
    for event in events(file, reader):
        _note(account, event)
        if len(reader.diagnostics) >= _AT_ONCE:
            _take_findings(account, judge, reader)
    reader.finish(undecided)
    file.check_unchanged()
    _take_findings(account, judge, reader)
    if reader.state.folding.decides_later:  # each result has the status that its decisions left it with
        results = reader.state.results
        account.columns.status[:] = [LETTERS[results[number].status] for number in account.columns.run]
    target: Any = (reader.state.replay.config or {}).get("target")
    if is_number(target):
        account.targets[0] = target
    name = reader.dialect.name if reader.dialect else None
    return account._replace(log=Log(path, name, reader.lines, reader.records, reader.state, []))


def _take_findings(account: Account, judge: Judge, reader: Reader) -> None:
    """Take what was found, those that a person accepted marked as such."""
    if reader.diagnostics:
        account.findings.take(judge(reader.diagnostics))
        reader.diagnostics.clear()


def _note(account: Account, event: Event) -> None:
    """Take an event that was folded."""
    segment = account.state.segment
    if isinstance(event, Runs):
        account.starts.setdefault(segment.ordinal if segment else 0, len(account.columns))
        account.columns.add(event)
    elif isinstance(event, Header) and segment is not None:
        account.targets.pop(segment.ordinal, None)  # of a header that this one replaces
        target: Any = event.detail.get("target")
        if is_number(target):
            account.targets[segment.ordinal] = target
    elif isinstance(event, Decision):
        reason = _text(event.detail.get("reason"))
        if event.action == "stop":
            account.ending[:] = [f"stop: {reason}"]
        else:
            account.reasons[event.run] = (event.action, reason)
    elif isinstance(event, Lifecycle):
        account.ending[:] = [f"{event.kind}: {_text(event.detail.get('reason', event.detail.get('note')))}"]


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def verdict_on(account: Account, path: Path | None, now_ms: int) -> Verdict:
    """Judge a log by its project's settings; `path` None means that there are none. `now_ms` is UTC milliseconds."""
    return judge_session(account.state, None if path is None else of_log(path), None, now_ms)
