"""The workbook's sheets in order, filled from the mirror session by session."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError

from ledger.base.times import iso
from ledger.exports.workbook.charts import Goal, Plot, Track
from ledger.exports.workbook.charts import write as write_charts
from ledger.exports.workbook.sheet import Column, Sheet, Styles, put_text
from ledger.fold.segment import KEPT
from ledger.mirror import queries
from ledger.mirror.queries import Filters
from ledger.mirror.raw import Raw
from ledger.mirror.views import by_name

STEPS = 10
"""What `write` yields: nine sheets, and the file."""

_KINDS = {
    "at": "time", "first_at": "time", "last_at": "time",
    "improvement_pct": "percent", "delta_pct": "percent", "keep_rate": "ratio",
}  # fmt: skip
_RUNS = (
    "path", "line", "segment", "run", "status", "metric", "metric_name", "unit", "delta_pct", "best_so_far", "is_best",
    "commit", "description", "at", "confidence", "metric_exact", "kept", "not_kept",
)  # fmt: skip
"""The view's columns; `metric_name` and `unit`; the exact metric where a double is not; what the charts show."""

_PLACES = {name: place for place, name in enumerate(_RUNS)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NOTES = {
    "Sheets": """Each is what the query of its name gives, such as ledger sessions; a full sheet has a second.""",
    "Times": """UTC, as date-times; one before March 1900, which no spreadsheet has, as ISO-8601 text.""",
    "Percentages": """Cells hold ratios: 10.0% is 0.1. improvement_pct is positive where the best is better than the
        baseline; delta_pct has the sign of the change.""",
    "Numbers": """Doubles, with all their digits. Where no double is a run's metric, metric_exact has it as text. An
        integer past 9,007,199,254,740,992 is text too.""",
    "Text": """Never a formula or a link. A control character is shown as its picture, such as ␛ for escape; a text past
        32,767 characters ends in [cut].""",
    "Runs": """kept and not_kept have the metric once more, for the charts; a crash measured nothing, and has none.""",
    "Metrics": """The secondary metrics of the runs in Runs, a row a value.""",
    "Whole logs": """ledger export LOG writes a log back, byte for byte.""",
}
"""How to read the sheets."""


def write(raw: Raw | None, filters: Filters, file: IO[bytes]) -> Iterator[str]:
    """Write the workbook to a file, and yield each sheet's name once it is filled; the last is the file.

    `raw` None is a mirror that is not there: every sheet has its header. The same mirror gives the same bytes. A sheet
    is what the query of its name gives with these filters, but for three: `Metrics` has those of the runs in `Runs`;
    `status` is the runs' alone; where a query knows no metric or time, the sheet is of the sessions in `Sessions`.
    Raises LedgerError for a session that is not in the mirror.
    """
    with tempfile.TemporaryDirectory(prefix="ledger-xlsx-") as folder:  # XlsxWriter leaves its files where it fails
        whole = Path(folder) / "whole.xlsx"  # a zip file needs to seek, and a pipe or a device cannot
        book = Workbook(whole, {
            "constant_memory": True, "tmpdir": folder, "use_zip64": True,
            "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False,
        })  # fmt: skip
        book.set_properties({"title": "Experiments", "created": _newest_sync(raw)})
        yield from _Writer(raw, filters, book).go()
        try:
            book.close()
        except FileCreateError as error:
            raise error.args[0] from None  # an OSError, such as a full disk
        with whole.open("rb") as made:
            shutil.copyfileobj(made, file)
        yield "file"


def _newest_sync(raw: Raw | None) -> datetime:
    """Say how new the mirror is: the workbook's own date, so that it tells nothing but what the mirror does."""
    found = raw.execute("SELECT max(synced_ms) FROM session").fetchone()[0] if raw is not None else None
    return (_EPOCH + timedelta(milliseconds=found or 0)).replace(tzinfo=None)


class _Writer:
    """Fill the sheets."""

    def __init__(self, raw: Raw | None, filters: Filters, book: Workbook) -> None:
        self._raw, self._filters, self._book = raw, filters, book
        self._styles = Styles(book)
        self._goals = {(row["path"], row["segment"]): Goal(row["metric_name"], row["unit"], row["direction"])
                       for row in self._named("segments", Filters(filters.sessions))}  # fmt: skip
        self._sessions = self._named("sessions", Filters(filters.sessions))

    def go(self) -> Iterator[str]:
        """Fill sheet after sheet, and yield each one's name."""
        shown = filters = self._filters._replace(status=None)
        for title in ("Sessions", "Segments", "Best"):
            self._view(title, filters)
            yield title
        plots = self._runs()
        yield "Runs"
        metrics = iter(()) if self._raw is None else queries.run_metrics(self._raw, self._filters)
        self._table("Metrics", by_name("metrics").columns, metrics)
        yield "Metrics"
        if (filters.metric, filters.since_ms, filters.until_ms) != (None, None, None):
            keys = [row["session"] for row in self._named("sessions", filters)]
            shown = Filters(tuple(keys)) if keys else Filters(limit=0)
        self._view("Compare", shown._replace(metric=filters.metric))
        yield "Compare"
        self._view("Findings", shown)
        yield "Findings"
        write_charts(self._book, self._styles, plots, len(self._sessions), _PLACES)
        yield "Charts"
        self._notes()
        yield "About"

    def _query(self, name: str, filters: Filters) -> queries.Rows:
        return iter(()) if self._raw is None else queries.query(self._raw, by_name(name), filters)

    def _named(self, name: str, filters: Filters) -> list[dict[str, Any]]:
        columns = by_name(name).columns
        return [dict(zip(columns, row, strict=True)) for row in self._query(name, filters)]

    def _view(self, title: str, filters: Filters) -> None:
        self._table(title, by_name(title.lower()).columns, self._query(title.lower(), filters))

    def _table(self, title: str, columns: Sequence[str], rows: queries.Rows) -> None:
        sheet = self._sheet(title, columns)
        for row in rows:
            sheet.add(row)
        sheet.close()

    def _sheet(self, title: str, columns: Sequence[str]) -> Sheet:
        return Sheet(self._book, self._styles, title, [Column(name, _KINDS.get(name, "plain")) for name in columns])

    def _runs(self) -> list[Plot]:
        """Fill the runs' sheet, and note where the runs of each session stand, for its chart."""
        sheet = self._sheet("Runs", _RUNS)
        plots: list[Plot] = []
        sessions = {row["path"]: row for row in self._sessions}
        goals: dict[str, dict[int, Goal]] = {}
        for (path, segment), goal in self._goals.items():
            goals.setdefault(path, {})[segment] = goal
        for path, rows in groupby(self._run_rows(), key=itemgetter(0)):
            track = Track()
            for row in rows:
                sheet.add(row)
                measured = row[_PLACES["kept"]] is not None or row[_PLACES["not_kept"]] is not None
                track.note(sheet.name, sheet.row, row[_PLACES["segment"]], row[_PLACES["run"]], measured)
            plots += track.plot(sessions[path], goals[path])
        sheet.close()
        return plots

    def _run_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the runs as the sheet has them."""
        exact = queries.exact_metrics(self._raw, self._filters) if self._raw is not None else {}
        for path, line, segment, run, status, metric, *more in self._query("runs", self._filters):
            name, unit, _ = self._goals[path, segment]
            parted = (metric, None) if status in KEPT else (None, metric if status != "crash" else None)
            yield path, line, segment, run, status, metric, name, unit, *more, exact.get((path, line)), *parted

    def _notes(self) -> None:
        """Write the sheet that says how to read the others, and with which filters they were made."""
        page = self._book.add_worksheet("About")
        page.set_column(0, 0, 14)
        page.set_column(1, 1, 110)
        wrapped = self._book.add_format({"text_wrap": True, "valign": "top"})
        for row, (head, text) in enumerate((_NOTES | {"Filters": _said(self._filters)}).items()):
            page.write_string(row, 0, head, self._styles.heading)
            put_text(page, self._styles, row, 1, " ".join(text.split()), wrapped)


def _said(filters: Filters) -> str:
    said = [f"session {name}" for name in filters.sessions]
    said += [f"metric {filters.metric}"] if filters.metric is not None else []
    said += [f"status of runs {filters.status}"] if filters.status is not None else []
    said += [f"since {iso(filters.since_ms)}"] if filters.since_ms is not None else []
    said += [f"until {iso(filters.until_ms)}"] if filters.until_ms is not None else []
    return "; ".join(said) or "none: all that the mirror has"
