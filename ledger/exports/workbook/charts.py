"""The sheet of charts: each session's metric by run, the kept runs marked, the running best as a line.

A chart refers to cells of the runs' sheet, so that it follows the filter there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from ledger.base.numbers import SAFE_INTEGER
from ledger.exports.workbook.sheet import Styles, label, put_text

MAX_CHARTS = 100
"""Charts in a workbook: those of the sessions with the latest runs."""
MAX_SEGMENTS = 20
"""Segments in a chart: the last ones."""
MAX_POINTS = 10_000
"""Runs in a chart: the last ones."""

_WIDTH, _HEIGHT = 960, 380
_ROWS = 20
"""Rows that a chart takes, of 20 pixels."""

_GREY, _GREEN, _BLUE = "#9AA3AD", "#1A7F43", "#2F6FDE"


class RowSpan(NamedTuple):
    """Say where consecutive runs of one segment stand: rows from 0 of a sheet, both ends included."""

    sheet: str
    first: int
    last: int
    segment: int
    first_run: int
    last_run: int
    rising: bool
    measured: int


class Goal(NamedTuple):
    """Say what a segment measures."""

    metric: str | None
    unit: str
    direction: str | None


class Track:
    """Follow the runs of one session as they are written."""

    def __init__(self) -> None:
        self.spans: list[RowSpan] = []

    def note(self, sheet: str, row: int, segment: int, run: Any, measured: bool) -> None:
        """Take the next run, at this row; run numbers that no cell can hold as one never count as rising."""
        whole = type(run) is int and abs(run) <= SAFE_INTEGER
        number = run if whole else 0
        last = self.spans[-1] if self.spans else None
        if last is None or (last.sheet, last.segment) != (sheet, segment):
            self.spans.append(RowSpan(sheet, row, row, segment, number, number, whole, int(measured)))
        else:
            rising = last.rising and whole and number > last.last_run
            count = last.measured + measured
            self.spans[-1] = last._replace(last=row, last_run=number, rising=rising, measured=count)

    def plot(self, session: Mapping[str, Any], goals: Mapping[int, Goal]) -> Iterator["Plot"]:
        """Give the session's chart, of what was measured last; none where nothing was."""
        goal = next((goals[span.segment] for span in reversed(self.spans) if span.measured), None)
        if goal is not None:
            spans, left_out = choose([span for span in self.spans if goals[span.segment] == goal])
            yield Plot(session["session"], session["name"], session["path"], session["last_at"], goal, spans, left_out)


class Plot(NamedTuple):
    """Say what a chart shows: a session's spans of one metric, the last ones."""

    key: str
    name: str | None
    path: str
    last_at: str | None
    goal: Goal
    spans: tuple[RowSpan, ...]
    left_out: int

    @property
    def by_run(self) -> bool:
        """Whether the run numbers only rise, so that they tell runs apart; lines of the log always do."""
        pairs = zip(self.spans, self.spans[1:], strict=False)
        return all(span.rising for span in self.spans) and all(a.last_run < b.first_run for a, b in pairs)

    @property
    def heading(self) -> str:
        """The line above the chart."""
        parts = [f"{self.key} {self.name or ''}".strip(), self.path]
        if self.left_out:
            runs = sum(span.last - span.first + 1 for span in self.spans)
            parts.append(f"the last {runs:,} runs of this metric; {self.left_out:,} earlier ones are left out")
        return " | ".join(parts)


def choose(spans: Sequence[RowSpan]) -> tuple[tuple[RowSpan, ...], int]:
    """Take the last spans that a chart can bear, and count the runs before them."""
    chosen: list[RowSpan] = []
    room, left_out = MAX_POINTS, 0
    for span in reversed(spans):
        count = span.last - span.first + 1
        taken = min(count, room) if len(chosen) < MAX_SEGMENTS else 0
        if taken:
            chosen.append(span._replace(first=span.last - taken + 1))
        room, left_out = room - taken, left_out + count - taken
    return tuple(reversed(chosen)), left_out


def write(book: Workbook, styles: Styles, plots: Sequence[Plot], sessions: int, places: Mapping[str, int]) -> None:
    """Write the sheet: what it shows and what it leaves out, then a heading and a chart for each of the plots.

    `places` says in which columns of the runs' sheet their values are.
    """
    page = book.add_worksheet("Charts")
    page.hide_gridlines(2)
    latest = sorted(plots, key=lambda plot: plot.last_at or "", reverse=True)[:MAX_CHARTS]
    notes = [
        "One chart a session: each run's metric, the kept runs marked, and the best kept so far. Crashes have none."
    ]
    if len(plots) > len(latest):
        left_out = len(plots) - len(latest)
        notes.append(f"Shown are the {len(latest)} sessions with the latest runs; {left_out:,} others are left out.")
    if sessions > len(plots):
        notes.append(f"{sessions - len(plots):,} of {sessions:,} sessions have no measured run to show.")
    for row, note in enumerate(notes):
        page.write_string(row, 0, note)
    row = len(notes) + 1
    for plot in (plot for plot in plots if plot in latest):
        put_text(page, styles, row, 0, plot.heading, styles.heading)
        _insert(book, page, row + 1, plot, places)
        row += _ROWS + 2


def _insert(book: Workbook, page: Worksheet, row: int, plot: Plot, places: Mapping[str, int]) -> None:
    chart: Any = book.add_chart({"type": "scatter", "subtype": "straight"})
    across = places["run"] if plot.by_run else places["line"]
    names: list[str] = []
    for name, column, (sheet, first, last, *_), look in _series(plot.spans, places):
        cells = {"categories": [sheet, first, across, last, across], "values": [sheet, first, column, last, column]}
        chart.add_series({"name": name, **cells, **look})
        names.append(name)
    repeated = [place for place, name in enumerate(names) if name in names[:place]]
    metric = label(plot.goal.metric or "metric")
    chart.set_title({"name": label(f"{plot.key} {plot.name or ''}"), "name_font": {"size": 12}, "overlay": False})
    chart.set_x_axis({"name": "run" if plot.by_run else "line of the log", "major_gridlines": {"visible": False}})
    chart.set_y_axis(
        {"name": f"{metric} in {label(plot.goal.unit)}" if plot.goal.unit else metric, "num_format": "General"}
    )
    chart.set_legend({"position": "bottom", "delete_series": repeated})
    chart.show_blanks_as("gap")
    chart.set_size({"width": _WIDTH, "height": _HEIGHT})
    page.insert_chart(row, 0, chart, {"description": f"The metric of each run of session {plot.key}, and the best"})


def _series(spans: Sequence[RowSpan], places: Mapping[str, int]) -> Iterator[tuple[str, int, RowSpan, dict[str, Any]]]:
    """Lay out a chart's series: points over as many segments as lie together, a line for each segment."""
    whole = list(_joined(spans))
    points = (
        ("not kept", places["not_kept"], _dot("circle", 4, _GREY)),
        ("kept", places["kept"], _dot("diamond", 7, _GREEN)),
    )
    for name, column, look in points:
        for span in whole:
            yield name, column, span, look
    line = {"line": {"color": _BLUE, "width": 1.5}, "marker": {"type": "none"}}
    for span in spans:
        yield "running best", places["best_so_far"], span, line


def _dot(kind: str, size: int, colour: str) -> dict[str, Any]:
    ink = {"color": colour}
    return {"line": {"none": True}, "marker": {"type": kind, "size": size, "fill": ink, "border": ink}}


def _joined(spans: Sequence[RowSpan]) -> Iterator[RowSpan]:
    """Join spans that follow each other in one sheet."""
    held: RowSpan | None = None
    for span in spans:
        if held is not None and (held.sheet, held.last + 1) == (span.sheet, span.first):
            held = held._replace(last=span.last)
        else:
            if held is not None:
                yield held
            held = span
    if held is not None:
        yield held
