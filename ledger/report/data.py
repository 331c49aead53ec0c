"""A log's report as one JSON-able structure: what its page is made of, and what a live page fetches to draw it again.

Everything is derived from the log alone, so that the same bytes give the same page; only a limit of minutes asks what
time it is. Keys: `kind`, `title`, `log`, `summary`, `segments`, `charts`, `runs`, `details`, `left_out`,
`decisions`, `secondary`, `tables`. Large columns may be packed (see `packing`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger.base.paths import show_path
from ledger.base.text import cut, plain
from ledger.fold.verdict import Verdict
from ledger.report.account import Account
from ledger.report.headline import summary
from ledger.report.packing import CHUNK_RUNS, ROOM, size_of
from ledger.report.run_columns import LETTERS
from ledger.report.segment_spans import SegmentSpan, figures, shown, spans
from ledger.report.tables import decisions, tables
from ledger.session.files import project_folder


def report(account: Account, verdict: Verdict) -> dict[str, Any]:
    """Give a log's report; `verdict` is judged by the caller, who knows the settings."""
    found = spans(account)
    columns = account.columns
    head = summary(account, shown(found), verdict)
    segments = [figures(span, columns) for span in found]
    runs = columns.data()
    details = columns.details.chunks(ROOM - size_of(runs))
    return {
        "kind": "report",
        "title": cut(head["goal"], 120),
        "log": {
            "name": log_name(account.log.path),
            "dialect": account.log.dialect,
            "lines": account.log.lines,
            "records": account.log.records,
            "ok": account.ok,
        },
        "summary": head,
        "segments": segments,
        "charts": _charts(account, found),
        "runs": runs,
        "details": details,
        "left_out": _left_out(details, runs["cut"]),
        "decisions": {str(row): words for row, words in decisions(account)},
        "secondary": columns.secondary.data(),
        "tables": tables(account, found),
    }


def _left_out(details: Sequence[Any], width: int | None) -> str:
    """Say what a page of very many runs has no room for."""
    parts = []
    if missing := details.count(None):
        parts.append(f"metrics and asi of the first {missing * CHUNK_RUNS:,} runs")
    if width is not None:
        parts.append(f"what is past {width} characters of a description")
    return f"To keep this page small it leaves out {' and '.join(parts)}; the log has it." if parts else ""


def log_name(path: Path | None) -> str:
    """Name a log by its project's folder and its place in it: a report is passed on, its reader's disk is another."""
    if path is None:
        return "standard input"
    folder = project_folder(path)
    return plain(show_path(Path(folder.name) / path.absolute().relative_to(folder)))


def _charts(account: Account, found: Sequence[SegmentSpan]) -> list[dict[str, Any]]:
    """Put the segments that measure the same side by side: one chart a metric, the last one first."""
    groups: dict[tuple[str | None, str, str | None], list[SegmentSpan]] = {}
    for span in found:
        if span.end > span.first:
            one = span.segment
            groups.setdefault((one.metric_name, one.unit, one.direction), []).append(span)
    ordered = sorted(groups.values(), key=lambda group: -group[-1].first)
    return [
        {"segments": [span.segment.ordinal for span in group], "text": _in_words(account, group)} for group in ordered
    ]


def _in_words(account: Account, group: Sequence[SegmentSpan]) -> str:
    """Say what a chart shows, for those who do not see it."""
    columns = account.columns
    rows = [row for span in group for row in range(span.first, span.end)]
    parts = []
    for name, letter in LETTERS.items():
        if count := sum(columns.status[row] == letter for row in rows):
            parts.append(f"{count:,} {name}")
    words = [f"{len(rows):,} {'run' if len(rows) == 1 else 'runs'} ({', '.join(parts)})"]
    for span in group[-3:]:
        if span.baseline is not None:
            words.append(f"segment {span.segment.ordinal} starts at {columns.value(span.baseline)}")
            if span.best is not None:
                words[-1] += f" and reaches {columns.value(span.best)} with run {columns.run[span.best]}"
    name = plain(group[-1].segment.metric_name or "metric")
    return f"{name} by run: {'; '.join(words)}."
