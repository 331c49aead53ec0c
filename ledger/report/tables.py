"""The tables of a page, as text: written once here, set by the template and set again by a live page's script.

A cell is a text, or `{"text", "line"}` where it leads to the run, or place, of that line.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ledger.base.numbers import text
from ledger.base.text import cut, plain
from ledger.fold.segment import percent
from ledger.report.account import Account
from ledger.report.run_columns import CRASH, KEPT, Columns
from ledger.report.segment_spans import SegmentSpan, StreakSpan, streaks
from ledger.telling.figures import NOTHING, goal, measure, short_in, signed

ROWS = 500
"""A table is no longer than this; the runs are all in their own."""
STREAK_ROWS = 20
SHORTEST_STREAK = 2
MESSAGE_WIDTH = 400
TEXT_WIDTH = 160

Cell = str | dict[str, Any]


def table(heads: Sequence[str], numeric: str, rows: Iterable[Sequence[Cell]], more: str = "") -> dict[str, Any]:
    """Make a table; `numeric` has an `n` for each column of numbers, `c` for code, `.` for text."""
    kinds = {"n": "number", "c": "code", ".": "text"}
    columns = [{"label": head, "kind": kinds[kind]} for head, kind in zip(heads, numeric, strict=True)]
    return {"columns": columns, "rows": [list(row) for row in rows], "more": more}


def tables(account: Account, found: Sequence[SegmentSpan]) -> dict[str, Any]:
    """Make every table of a log's report but that of its runs."""
    return {
        "segments": _segments(account.columns, found),
        "streaks": _streaks(account.columns, found),
        "commits": _commits(account.columns, found),
        "findings": _findings(account),
    }


def _segments(columns: Columns, found: Sequence[SegmentSpan]) -> dict[str, Any]:
    heads = ("segment", "goal", "metric", "runs", "kept", "baseline", "best", "better by", "confidence")
    rows = (_segment(columns, span) for span in found[-ROWS:])
    return table(heads, "n..nnnnnn", rows, _left_out(len(found) - ROWS, "earlier segments"))


def _segment(columns: Columns, span: SegmentSpan) -> list[Cell]:
    one = span.segment
    return [
        str(one.ordinal), cut(goal(one), TEXT_WIDTH), cut(measure(one), TEXT_WIDTH), f"{one.runs:,}",
        f"{one.counts['keep']:,}",
        NOTHING if one.baseline is None else _to_run(columns, span.baseline, text(one.baseline)),
        NOTHING if one.best is None else _to_run(columns, span.best, text(one.best)),
        short_in("%", one.improvement_pct), short_in("×", one.confidence),
    ]  # fmt: skip


def _to_run(columns: Columns, row: int | None, shown: str) -> Cell:
    return shown if row is None else {"text": shown, "line": columns.line[row]}


def _streaks(columns: Columns, found: Sequence[SegmentSpan]) -> dict[str, Any]:
    every = [one for span in found for one in streaks(span, columns) if one.length >= SHORTEST_STREAK]
    longest = sorted(every, key=lambda one: (-one.length, one.first))[:STREAK_ROWS]
    rows = (_streak(columns, one, found[-1]) for one in sorted(longest, key=lambda one: one.first))
    heads = ("segment", "from run", "to run", "failed in a row", "")
    return table(heads, "nnnn.", rows, _left_out(len(every) - STREAK_ROWS, "shorter streaks"))


def _streak(columns: Columns, one: StreakSpan, last: SegmentSpan) -> list[Cell]:
    ends = (_to_run(columns, row, str(columns.run[row])) for row in (one.first, one.last))
    end = "" if not one.current else "still going on" if one.segment == last.segment.ordinal else "to its segment's end"
    return [str(one.segment), *ends, f"{one.length:,}", end]


def _commits(columns: Columns, found: Sequence[SegmentSpan]) -> dict[str, Any]:
    kept = [
        (span, row)
        for span in found
        for row in range(span.first, span.end)
        if columns.status[row] in KEPT and columns.commit[row]
    ]
    rows = (_commit(columns, span, row) for span, row in kept[-ROWS:])
    return table(
        ("commit", "run", "metric", "delta", "description"), "cnnn.", rows,
        _left_out(len(kept) - ROWS, "earlier commits"),
    )  # fmt: skip


def _commit(columns: Columns, span: SegmentSpan, row: int) -> list[Cell]:
    change = None if columns.status[row] == CRASH else percent(columns.metric[row], span.segment.baseline)
    return [
        cut(columns.commit[row], 40), _to_run(columns, row, str(columns.run[row])), columns.value(row),
        NOTHING if change is None else signed(change), cut(columns.description[row], TEXT_WIDTH),
    ]  # fmt: skip


def _findings(account: Account) -> dict[str, Any]:
    found = account.findings.shown()
    runs = set(account.columns.line)
    return table(
        ("line", "severity", "code", "rule", "message"), "..c..",
        (
            [
                {"text": str(one.line), "line": one.line} if one.source is None and one.line in runs
                else _place(one.source, one.line),
                one.severity.value, one.code, one.name, cut(plain(one.message), MESSAGE_WIDTH),
            ]
            for one in found
        ),
        _left_out(account.findings.counts.total() - len(found), "findings; ledger check lists them all"),
    )  # fmt: skip


def _place(source: str | None, line: int) -> str:
    where = str(line) if line else "file"
    return where if source is None else f"{source}:{where}"


def _left_out(count: int, what: str) -> str:
    return f"{count:,} more {what}" if count > 0 else ""


def decisions(account: Account) -> Iterator[tuple[int, str]]:
    """Yield each row that a decision with a reason is about, and that decision in words."""
    if account.reasons:
        for row, number in enumerate(account.columns.run):
            if number in account.reasons:
                action, reason = account.reasons[number]
                yield row, f"{action}: {reason}" if reason else action
