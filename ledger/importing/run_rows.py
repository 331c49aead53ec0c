"""Rows of a table that other tools wrote, read as runs: what a cell means does not depend on the table's kind."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.text import plain
from ledger.base.times import epoch_ms, parse_iso
from ledger.dialects.base import FORBIDDEN_NAMES
from ledger.fold.segment import STATUSES
from ledger.importing import log_records
from ledger.importing.cell_values import is_missing, number, short_hash, split
from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile

WORDS = {
    **{status: status for status in STATUSES},
    "baseline": "keep", "keep (reworked)": "keep", "discard (axis regression)": "discard", "no-op": "discard",
    "timeout": "crash", "metric-error": "crash",
}  # fmt: skip
"""What the tables' words come to where the protocol knows it under another name; the word is kept beside it."""

SKIP = "skip"

_TIMES = ("timestamp", "time", "date")
_FIRST_MS = 946_684_800_000
"""The year 2000: no loop is older, and a number below it is rather how long something took."""


class TableColumns(NamedTuple):
    """Say which columns, by place, hold what: `metrics` by name; `kept` are those that go into the log as they are."""

    commit: int
    metric: int
    status: int
    description: int | None
    metrics: dict[str, int]
    kept: dict[str, int]
    time: int | None = None


def named(columns: Sequence[str]) -> list[str]:
    """Give columns' names as they are looked for: in lower case, without white space around them."""
    return [column.strip().lower() for column in columns]


def time_of(columns: Sequence[str]) -> int | None:
    """Find the column that holds the runs' times."""
    return next((place for place, name in enumerate(named(columns)) if name in _TIMES), None)


def read(source: TableFile, asked: ImportOptions, layout: TableColumns) -> Imported | Faults:
    """Make a log of a table's rows, or say what is wrong with any of them.

    Raises LedgerError for what neither the table nor an option says, and for an option that means another column.
    """
    notes: list[str] = []
    metric = source.columns[layout.metric].strip()
    header = log_records.header(source, asked, metric, notes)
    faults = _columns(source, layout)
    if header["metricName"] in layout.metrics and not faults:
        raise LedgerError(
            f"{header['metricName']!r} is another column of {source.name}, and --metric only gives {metric!r} another"
            " name; the metric is the first column behind the commit"
        )
    runs, skipped = list[dict[str, Any]](), 0
    for line, cells in body(source):
        if len(cells) != len(source.columns):
            faults.append((line, f"{len(cells)} fields where the header has {len(source.columns)}"))
            continue
        word = cells[layout.status].strip()
        if _status(word, asked) == SKIP:
            skipped += 1
            continue
        row = _Row(line, cells, layout, asked)
        made = row.run(len(runs) + 1)
        faults += row.faults
        runs.append(made)
    if not runs and not skipped:
        notes.append("the table has no rows, so the log has no runs")
    if skipped:
        notes.append(f"{skipped} of {len(runs) + skipped} rows left out, as --status says")
    if runs and not any("timestamp" in made for made in runs):
        notes.append("the table has no times, so the runs have none; --timestamp TIME gives them one")
    return sorted(faults) or Imported(log_records.log(header, runs), notes)


def body(source: TableFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines below the header that are neither blank nor comments, as cells."""
    for number_, line in enumerate(source.text.split("\n"), 1):
        if number_ > source.header and line.strip() and not line.startswith("#"):
            yield number_, split(line.removesuffix("\r"), source.delimiter)


def _columns(source: TableFile, layout: TableColumns) -> Faults:
    names = named(source.columns)
    twice = {name for name in names if name and names.count(name) > 1}
    faults = [(source.header, f"two columns are called {plain(name)!r}") for name in sorted(twice)]
    faults += [
        (source.header, f"a secondary metric must not be named {name!r}")
        for name in layout.metrics
        if name in FORBIDDEN_NAMES
    ]
    return faults


def _status(word: str, asked: ImportOptions) -> str | None:
    return asked.words.get(word.lower()) or WORDS.get(word.lower())


class _Row:
    """Read one row, and collect what is wrong with it."""

    def __init__(self, line: int, cells: list[str], layout: TableColumns, asked: ImportOptions) -> None:
        self._line, self._cells, self._layout, self._asked = line, cells, layout, asked
        self.faults: Faults = []
        self._kept = {name: cells[place] for name, place in layout.kept.items()}

    def run(self, count: int) -> dict[str, Any]:
        """Make the run's record, numbered by its place, since the protocol counts from 1 without a gap."""
        at, cells = self._layout, self._cells
        status = self._known_status()
        commit = short_hash(cells[at.commit])
        if commit and commit != cells[at.commit]:
            self._kept["commit"] = cells[at.commit]
        metric, metrics, missing = self._metric(status), *self._metrics()
        description = None if at.description is None else cells[at.description]
        made = log_records.run(count, commit, metric, metrics, status, description, self._time())
        if missing and status != "crash":
            made["asi"] = {"missing": missing}  # where a log says of a metric that it was not measured
        if self._kept:
            made["imported"] = self._kept
        return made

    def _fault(self, message: str) -> None:
        self.faults.append((self._line, message))

    def _known_status(self) -> str:
        word = self._cells[self._layout.status].strip()
        status = _status(word, self._asked)
        if status is None:
            shown = plain(word)
            self._fault(f"unknown status {shown!r}: say what it counts as, such as --status '{shown}=discard'")
        if word != status:
            self._kept["status"] = word
        return status or "crash"

    def _metric(self, status: str) -> Decimal:
        cell = self._cells[self._layout.metric]
        value = number(cell)
        if value is not None:
            return value
        if status == "crash" and (is_missing(cell) or cell.strip().lower().lstrip("+-") in ("inf", "infinity")):
            self._kept["metric"] = cell
        elif is_missing(cell):
            self._fault("there is no metric, which only a crash may be without")
        else:
            self._fault(f"the metric {plain(cell)!r} is no number that a log can hold")
        return Decimal(0)

    def _metrics(self) -> tuple[dict[str, Decimal], list[str]]:
        """Give the secondary metrics, and the names of those that the row has no value for."""
        found, missing = dict[str, Decimal](), list[str]()
        for name, place in self._layout.metrics.items():
            cell = self._cells[place]
            value = number(cell)
            if value is not None:
                found[name] = value
            elif is_missing(cell):
                missing.append(name)
            else:
                self._fault(f"{plain(name)} {plain(cell)!r} is no number that a log can hold")
        return found, missing

    def _time(self) -> int | Decimal | None:
        place = self._layout.time
        if place is None or is_missing(self._cells[place]):
            return self._asked.at_ms
        cell = self._cells[place].strip()
        value = number(cell)
        at_ms = None if value is None else epoch_ms(value)
        if value is not None and at_ms is not None:
            if at_ms < _FIRST_MS:
                self._fault(f"the time {plain(cell)!r} would be before 2000; a column of durations needs another name")
            return int(value) if value == int(value) else value
        read = parse_iso(cell) if value is None else None
        if read is None:
            self._fault(f"the time {plain(cell)!r} is neither ISO-8601 nor seconds or milliseconds since the epoch")
            return None
        if not read[1] and not self._asked.utc:
            self._fault(f"the time {plain(cell)!r} has no offset, such as Z or +02:00; --utc reads it as UTC")
        self._kept["timestamp"] = cell
        return read[0]
