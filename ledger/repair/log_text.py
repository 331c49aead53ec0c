"""A whole log in memory: its bytes, its lines, and what reading it says."""

import io
from bisect import bisect_right
from contextlib import closing
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.log.jsontext import decode
from ledger.log.source import LogFile, open_log, read_small, run_json_of
from ledger.reading.whole_log import events, open_reader

MOST_FOUND = 1_000_000
"""Findings of one code that are dealt with at once, a matter of memory."""


class Text:
    """Hold a log that is to be repaired. Lines count from 1, offsets from 0; `ends` are past each line's newline.

    Raises LedgerError for a log with more findings of a code than MOST_FOUND.
    """

    def __init__(self, data: bytes, dialect: str | None = None, run_json: bytes | None = None) -> None:
        self.data = data
        self.run_json = run_json
        self._asked = dialect
        with closing(LogFile(None, io.BytesIO(data), len(data))) as file:
            reader, undecided = open_reader(file, dialect, run_json)
            reader.most = MOST_FOUND
            state = reader.state
            self.events = [
                (event, state.segment.ordinal if state.segment else None)  # where it stands; None ahead of any segment
                for event in events(file, reader)
            ]
            reader.finish(undecided)
        if reader.unlisted:
            raise LedgerError(
                f"the log has more than {MOST_FOUND:,} findings of one code, too many to deal with at once"
            )
        self.state = reader.state  # what the log amounts to
        self.dialect = reader.dialect.name if reader.dialect else None
        self.diagnostics = sorted(reader.diagnostics, key=lambda one: (one.source is None, one.line, one.column))

    @classmethod
    def read(cls, path: Path, dialect: str | None = None) -> "Text":
        """Read a log's file. Raises LedgerError if it cannot be read, or is rewritten meanwhile."""
        with open_log(path) as file:
            data = b"".join(block.data for block in file.blocks())
            file.check_unchanged()
        return cls(data, dialect, read_small(run_json_of(path)))

    def changed(self, data: bytes) -> "Text":
        """Give the log with other bytes, read as the same protocol was asked for, beside the same run.json."""
        return Text(data, self._asked, self.run_json)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, and at last where the log ends."""
        return [0, *accumulate(map(len, io.BytesIO(self.data)))]

    @property
    def lines(self) -> int:
        """The number of lines, an unterminated last one among them."""
        return len(self.starts) - 1

    def line(self, number: int) -> bytes:
        """Give a line without its newline."""
        return self.data[self.start(number) : self.end(number)].removesuffix(b"\n")

    def start(self, number: int) -> int:
        """Say where a line begins."""
        return self.starts[number - 1]

    def end(self, number: int) -> int:
        """Say where the next line begins."""
        return self.starts[number]

    def number_at(self, offset: int) -> int:
        """Find the line that an offset lies in; past the end, the last."""
        return max(1, min(bisect_right(self.starts, offset), self.lines))

    @property
    def terminated(self) -> bool:
        """Whether the last line ends with a newline."""
        return self.data.endswith(b"\n") or not self.data


BROKEN = frozenset((
    "syntax", "encoding", "depth", "control", "conflict", "constant", "overflow", "duplicate", "trailing", "surrogate",
))  # fmt: skip
"""The notes on a line's text for which its record is not read."""


def record_of(line: bytes) -> dict[str, Any] | None:
    """Read a line's object; None for one that no reader takes."""
    decoded = decode(line)
    if any(note.kind in BROKEN for note in decoded.notes):
        return None
    return decoded.value if isinstance(decoded.value, dict) else None
