"""Rows written to files, each in the folder of its metric: one file open at a time, in bounded memory."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ledger.exports.lake.file_names import Folders
from ledger.exports.lake.layout import ViewLayout, batch

GROUP_ROWS = 128 * 1024
"""Rows of a row group; fewer where they take more than GROUP_BYTES."""
GROUP_BYTES = 64 << 20

_CHUNK_ROWS, _CHUNK_BYTES = 8192, 8 << 20


class Staged(NamedTuple):
    """Hold a file that is written, but not yet under its name: `name` is relative to the lake."""

    temporary: Path
    name: str

    def settle(self, lake: Path) -> None:
        """Give the file its name, in the place of one that bears it already."""
        self.temporary.replace(lake / self.name)


def stage(lake: Path, layout: ViewLayout, folders: Folders, rows: Iterable[Sequence[Any]], name: str) -> list[Staged]:
    """Write rows to files that are called `name`, those of a metric together; they have to come together.

    Nothing is left of them if one of them cannot be written.
    """
    staged: list[Staged] = []
    try:
        for place, its_rows in _parted(layout, folders, rows):
            staged.append(_file(lake, place, name))
            _write(staged[-1].temporary, layout.schema, its_rows)
    except BaseException:
        for file in staged:
            file.temporary.unlink(missing_ok=True)
        raise
    return staged


def stage_empty(lake: Path, layout: ViewLayout, folders: Folders, name: str) -> Staged:
    """Write a file without a row, where a view has none: readers find its columns, and that there is something."""
    staged = _file(lake, layout.name if layout.key is None else f"{layout.name}/{folders.of(None)}", name)
    _write(staged.temporary, layout.schema, ())
    return staged


def _file(lake: Path, place: str, name: str) -> Staged:
    (lake / place).mkdir(parents=True, exist_ok=True)
    return Staged(lake / place / f".part-{secrets.token_hex(8)}.tmp", f"{place}/{name}")


def _parted(
    layout: ViewLayout, folders: Folders, rows: Iterable[Sequence[Any]]
) -> Iterator[tuple[str, Iterable[Sequence[Any]]]]:
    if layout.key is None:
        ahead = iter(rows)
        for first in ahead:
            yield layout.name, chain((first,), ahead)
        return
    place = layout.columns.index(layout.key)
    for value, group in groupby(rows, itemgetter(place)):
        yield f"{layout.name}/{folders.of(value)}", ((*row[:place], *row[place + 1 :]) for row in group)


def _write(path: Path, schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> None:
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[pa.RecordBatch] = []
        for chunk in _chunks(rows):
            waiting.append(batch(schema, list(zip(*chunk, strict=True))))
            if sum(one.num_rows for one in waiting) >= GROUP_ROWS or sum(one.nbytes for one in waiting) >= GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(waiting), GROUP_ROWS)
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting), GROUP_ROWS)


def _chunks(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """Yield rows many at a time; a text that may be long is always a view's last column."""
    chunk: list[Sequence[Any]] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row[-1]) if isinstance(row[-1], str) else 0
        if len(chunk) >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
