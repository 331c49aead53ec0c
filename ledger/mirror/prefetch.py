"""A small new log read whole before its transaction begins, so that many logs are read while others are stored."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.fold.segment import Segment
from ledger.fold.state import Result, State
from ledger.log.events import Event
from ledger.log.source import Block, LogFile, open_log
from ledger.mirror import foldtext
from ledger.reading.reader import Reader
from ledger.reading.whole_log import Undecided, open_reader

_MOST_BYTES = 4 * 1024 * 1024

MOST_FOUND = 10_000
"""Findings that are kept in hand until the transaction begins; a log with more is read within it."""


class StateKept(NamedTuple):
    """Keep of the state after an event what writing its rows needs."""

    segment: Segment | None
    results: Mapping[int, Result]

    def current(self) -> Segment:
        """Give the segment the event stands in."""
        return self.segment or Segment(0, None)


class ReadBlock(NamedTuple):
    """Hold a block with its events, each with the state after it; `fold` is the state before an unterminated block."""

    block: Block
    events: Iterable[tuple[Event, State | StateKept]]
    fold: str | None


class Prefetched(NamedTuple):
    """Hold what was read of a log: the open file, the reader at its end, and its blocks with the hash after each."""

    file: LogFile
    reader: Reader
    undecided: Undecided | None
    blocks: list[tuple[ReadBlock, str]]

    @property
    def sound(self) -> bool:
        """Whether nothing found so far keeps the log from being mirrored whole."""
        if not self.blocks or not self.blocks[-1][0].block.terminated:
            return False
        return not any(found.is_error for found in self.reader.diagnostics)


def read_blocks(file: LogFile, reader: Reader, size: int, lines: int) -> Iterator[tuple[ReadBlock, str]]:
    """Read a file's blocks from where it stands, after `size` bytes and `lines` lines; events come when asked for."""
    for block in file.blocks(size, lines + 1):
        fold = None if block.terminated else foldtext.dump(reader.state)  # a later sync reads this line again
        yield ReadBlock(block, ((event, reader.state) for event in reader.read(block)), fold), file.hash.hexdigest()


def prefetch(path: Path, dialect: str | None) -> Prefetched | None:
    """Read a small log whole; None for any other, which is left to its transaction.

    So is one whose rows need more of the state than is kept of it, or that has a run.json beside it.
    """
    try:
        file = open_log(path)
    except LedgerError:
        return None
    try:
        reader, undecided = open_reader(file, dialect)
        known = reader.dialect
        alone = known is not None and known.run_json is None and not known.folding.decides_later
        if alone and file.size <= _MOST_BYTES:
            read = []
            for step, digest in read_blocks(file, reader, 0, 0):
                kept = [(event, StateKept(state.segment, {})) for event, state in step.events]
                read.append((step._replace(events=kept), digest))
                if len(reader.diagnostics) > MOST_FOUND:
                    break
            else:
                return Prefetched(file, reader, undecided, read)
    except LedgerError:
        pass  # its transaction will say so
    except BaseException:
        file.close()
        raise
    file.close()
    return None
