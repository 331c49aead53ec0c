"""`results.tsv`: a commit, the metric, secondary metrics, a status and a description, named by the header."""

from collections.abc import Sequence

from ledger.importing import run_rows
from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile, TableKind


def _recognises(columns: Sequence[str]) -> bool:
    names = run_rows.named(columns)
    return names[:1] == ["commit"] and "status" in names and "iteration" not in names and bool(_metrics(columns))


def _metrics(columns: Sequence[str]) -> list[int]:
    """Find the columns between the commit and the status that are no time: the metric, then the secondary ones."""
    time = run_rows.time_of(columns)
    return [place for place in range(1, run_rows.named(columns).index("status")) if place != time]


def _read(source: TableFile, asked: ImportOptions) -> Imported | Faults:
    """Take what stands behind the status, but for description and time, as it is."""
    columns, names = [column.strip() for column in source.columns], run_rows.named(source.columns)
    status, time, (metric, *secondary) = names.index("status"), run_rows.time_of(columns), _metrics(columns)
    description = names.index("description") if "description" in names[status:] else None
    behind = range(status + 1, len(columns))
    kept = {columns[place]: place for place in behind if place not in (description, time)}
    metrics = {columns[place]: place for place in secondary}
    layout = run_rows.TableColumns(0, metric, status, description, metrics, kept, time)
    return run_rows.read(source, asked, layout)


KIND = TableKind("results", "commit METRIC [METRIC]... status description", _recognises, _read)
