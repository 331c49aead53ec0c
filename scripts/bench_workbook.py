"""The floor of `export --format xlsx` in scripts/bench: a bare XlsxWriter loop over the same cells.

A program of its own, so that it starts as a command does. Usage: bench_workbook.py read WORKBOOK CELLS, which takes the
cells out of a workbook, then bench_workbook.py write CELLS WORKBOOK, which writes them in constant-memory mode.
"""

import pickle
import sys
from datetime import datetime
from pathlib import Path

BATCH = 1000


def read(workbook: Path, cells: Path) -> None:
    """Pickle each sheet's name, then its rows in batches, then None."""
    import openpyxl

    with cells.open("wb") as file:
        for page in openpyxl.load_workbook(workbook, read_only=True).worksheets:
            pickle.dump(page.title, file)
            rows = []
            for row in page.iter_rows(values_only=True):
                rows.append(row)
                if len(rows) == BATCH:
                    pickle.dump(rows, file)
                    rows = []
            pickle.dump(rows, file)
            pickle.dump(None, file)


def write(cells: Path, workbook: Path) -> None:
    """Write what was pickled, each value by the method of its type."""
    import xlsxwriter

    book = xlsxwriter.Workbook(workbook, {"constant_memory": True})
    time = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
    with cells.open("rb") as file:
        while file.peek(1):
            page = book.add_worksheet(pickle.load(file))
            number = 0
            while (rows := pickle.load(file)) is not None:
                for row in rows:
                    for place, value in enumerate(row):
                        if isinstance(value, str):
                            page.write_string(number, place, value)
                        elif isinstance(value, bool):
                            page.write_boolean(number, place, value)
                        elif isinstance(value, datetime):
                            page.write_datetime(number, place, value, time)
                        elif value is not None:
                            page.write_number(number, place, value)
                    number += 1
    book.close()


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
