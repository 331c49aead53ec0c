"""Tables that other tools wrote, turned into logs: one file a kind of table. The tuple is the registry."""

from ledger.importing import iterations, lines, results, runs
from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile, TableKind

KINDS: tuple[TableKind, ...] = (lines.KIND, runs.KIND, results.KIND, iterations.KIND)


def read(source: TableFile, asked: ImportOptions) -> Imported | Faults:
    """Make a log of a table, or say everything that keeps it from being one.

    Raises LedgerError for what neither the table nor an option says.
    """
    if source.faults:
        return source.faults
    for kind in KINDS:
        if kind.recognises(source.columns):
            return kind.read(source, asked)
    known = "; ".join(f"{kind.name}: {kind.columns}" for kind in KINDS)
    return [(source.header, f"these columns are no table that can be imported, which are {known}")]


__all__ = ["KINDS", "Faults", "ImportOptions", "Imported", "TableFile", "read"]
