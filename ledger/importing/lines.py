"""The view `lines` as CSV: every line of a log as it stands, so that the log comes back byte for byte."""

import re

from ledger.importing.table_file import Faults, Imported, ImportOptions, TableFile, TableKind, is_led, records
from ledger.mirror.views import by_name

COLUMNS = by_name("lines").columns

_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")


def _read(source: TableFile, asked: ImportOptions) -> Imported | Faults:
    """Put the lines together; the log says itself all that a table is asked for."""
    held, paths, faults = list[str](), set[str](), Faults()
    for place, cells in records(source):
        if isinstance(cells, str):
            faults.append((place, cells))
            continue
        path, line, kind, data = cells
        paths.add(path)
        if line != str(len(held) + 1) and len(paths) == 1 and not faults:
            faults.append((place, f"line {line} of the log stands where its line {len(held) + 1} should"))
        if (text := _text(kind, data)) is None:
            faults.append((place, "this line was damaged, and its text does not tell which bytes it had"))
        held.append(text or "")
    if len(paths) > 1:
        faults.append((source.header, f"this holds {len(paths)} logs; export one, with --session"))
    if not held and not faults:
        faults.append((source.header, "there is no line of a log"))
    return sorted(faults) or Imported("".join(held).encode(), [])


def _text(kind: str, data: str) -> str | None:
    """Undo what the export did to a line: it puts an apostrophe ahead of a tab, and escapes for bytes that are no text.

    None where a damaged line may have had just these characters itself; blank lines and records have none of them.
    """
    if kind in ("unreadable", "torn"):
        return None if is_led(data) or _ESCAPED.search(data) else data
    return data[1:] if is_led(data) else data


KIND = TableKind("lines", ",".join(COLUMNS), lambda columns: tuple(columns) == COLUMNS, _read)
