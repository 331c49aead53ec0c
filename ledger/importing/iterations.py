"""A table of iterations: counted, with the change against the last metric and what a guard said."""

from ledger.importing import run_rows
from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile, TableKind

_NEEDED = {"iteration", "commit", "metric", "status"}


def _read(source: TableFile, asked: ImportOptions) -> Imported | Faults:
    """Take commit, metric, status, description and time; the other columns go into the log as they are."""
    columns, names = [column.strip() for column in source.columns], run_rows.named(source.columns)
    commit, metric, status = map(names.index, ("commit", "metric", "status"))
    description = names.index("description") if "description" in names else None
    time = run_rows.time_of(columns)
    taken = (commit, metric, status, description, time)
    kept = {column: place for place, column in enumerate(columns) if place not in taken}
    layout = run_rows.TableColumns(commit, metric, status, description, {}, kept, time)
    return run_rows.read(source, asked, layout)


KIND = TableKind(
    "iterations",
    "iteration commit metric delta guard status description",
    lambda columns: set(run_rows.named(columns)) >= _NEEDED,
    _read,
)
