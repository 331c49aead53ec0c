"""The view `runs` as CSV: the runs of one segment, whose header a person tells."""

from typing import Any

from ledger.base.text import plain
from ledger.base.times import parse_iso
from ledger.fold.segment import STATUSES
from ledger.importing import log_records
from ledger.importing.cell_values import number
from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile, TableKind, is_led, records
from ledger.mirror.views import by_name

COLUMNS = by_name("runs").columns
_WHOLE = "; ledger export --view lines --format csv has all of a log"


def _read(source: TableFile, asked: ImportOptions) -> Imported | Faults:
    """Make a run of each row, where the rows are all records that a log of one segment has below its header."""
    header = log_records.header(source, asked, None, [])
    names = [name.removeprefix("metrics.") for name in source.columns[len(COLUMNS) :]]
    faults: Faults = [(source.header, fault) for name in names for fault in _led(name)]
    runs, first = list[dict[str, Any]](), dict[str, str]()
    for place, cells in records(source):
        if isinstance(cells, str):
            faults.append((place, cells))
            continue
        row = dict(zip(COLUMNS, cells, strict=False))
        first = first or row
        if gap := _gap(row, first, len(runs) + 2):
            return [(place, gap + _WHOLE)]
        row_faults, made = _run(row, dict(zip(names, cells[len(COLUMNS) :], strict=True)), asked)
        faults += [(place, fault) for fault in row_faults]
        runs.append(made)
    told = "" if names else " no secondary metrics,"
    return sorted(faults) or Imported(
        log_records.log(header, runs), [f"an export of runs has{told} no asi and no other keys{_WHOLE}"]
    )


def _gap(row: dict[str, str], first: dict[str, str], line: int) -> str:
    """Say which part of the log is missing, or that this is more than one; empty where nothing is."""
    if row["path"] != first["path"]:
        return "this holds more than one log; export one, with --session"
    if row["segment"] != "0":
        return f"this run is of segment {plain(row['segment'])}, whose header is missing"
    if row["line"] != str(line):
        return f"line {plain(row['line'])} of the log stands where its line {line} should: a record is missing"
    return ""


def _led(text: str) -> list[str]:
    return [f"{plain(text)!r} may have begun with the apostrophe or not{_WHOLE}"] if is_led(text) else []


def _run(row: dict[str, str], secondary: dict[str, str], asked: ImportOptions) -> tuple[list[str], dict[str, Any]]:
    """Make a run's record, and say what is wrong with its row."""
    faults = _led(row["description"]) + _led(row["commit"])
    metric, count = number(row["metric"]), row["run"]
    if metric is None:
        faults.append(f"the metric {plain(row['metric'])!r} is no number that a log can hold")
    if not (count.isascii() and count.isdigit()):
        faults.append(f"the run {plain(count)!r} is no number of a run")
    if row["status"] not in STATUSES:
        faults.append(f"the status {plain(row['status'])!r} is of another protocol, whose records are missing{_WHOLE}")
    metrics = {name: number(cell) for name, cell in secondary.items() if cell}
    faults += [
        f"{plain(name)} {plain(secondary[name])!r} is no number" for name, value in metrics.items() if value is None
    ]
    if faults:
        return faults, {}
    read = parse_iso(row["at"])
    at_ms = asked.at_ms if read is None else read[0]
    known = {name: value for name, value in metrics.items() if value is not None}
    assert metric is not None
    made = log_records.run(int(count), row["commit"], metric, known, row["status"], row["description"], at_ms)
    if (confidence := number(row["confidence"])) is not None:
        made["confidence"] = confidence
    return [], made


KIND = TableKind("runs", ",".join(COLUMNS), lambda columns: tuple(columns[: len(COLUMNS)]) == COLUMNS, _read)
