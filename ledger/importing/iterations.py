"""A table of iterations: counted, with the change against the last metric and what a guard said."""

from collections.abc import Sequence

from ledger.importing import rows
from ledger.importing.source import Asked, Faults, Imported, Kind, Source

_NEEDED = {"iteration", "commit", "metric", "status"}


def _recognises(columns: Sequence[str]) -> bool:
    return set(rows.named(columns)) >= _NEEDED


def _read(source: Source, asked: Asked) -> Imported | Faults:
    """Take commit, metric, status, description and time; the other columns go into the log as they are."""
    columns, names = [column.strip() for column in source.columns], rows.named(source.columns)
    commit, metric, status = map(names.index, ("commit", "metric", "status"))
    description = names.index("description") if "description" in names else None
    time = rows.time_of(columns)
    taken = (commit, metric, status, description, time)
    kept = {column: place for place, column in enumerate(columns) if place not in taken}
    layout = rows.Layout(commit, metric, status, description, {}, kept, time)
    return rows.read(source, asked, layout, columns[metric])


KIND = Kind("iterations", "iteration commit metric delta guard status description", _recognises, _read)
