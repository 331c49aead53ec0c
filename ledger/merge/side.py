"""One of the logs to merge: its lines, each with what a merge must know of the record on it."""

import io
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Decision, Event, Header, Lifecycle, Marker, Other, Runs, Shape
from ledger.log.jsontext import TOKEN, keys
from ledger.log.source import LogFile, open_log
from ledger.reading.accepted import Decisions, mark
from ledger.reading.whole_log import judged, open_reader

RUN, HEADER, DECISION, REST = "run", "header", "decision", "rest"
_MISSING_RUN_JSON = "E330"


class Line(NamedTuple):
    """Hold a line without its newline. `number` is the run that the record is or is about.

    `segment` is the one that the line stands in, `states` whether the record says so itself.
    """

    data: bytes
    kind: str = REST
    at_ms: int | None = None
    number: int | None = None
    segment: int = 0
    states: bool = False


class Side(NamedTuple):
    """Hold a log that was read whole. `name` is what to call it, `terminated` tells that its last line has a newline.

    `said` is what is found in it, `found` has the codes of that for each line, by its number from 1.
    """

    name: str
    path: Path
    dialect: str | None
    lines: list[Line]
    terminated: bool
    said: list[Diagnostic]
    found: dict[int, set[str]]
    run_json: bytes | None

    @property
    def errors(self) -> list[Diagnostic]:
        """What nobody should merge: errors that no person accepted."""
        return [one for one in self.said if one.is_error]

    def accepting(self, decisions: Decisions) -> "Side":
        """Give the log with what these decisions are about marked as accepted."""
        return self._replace(said=mark(self.path, self.said, decisions))

    @property
    def data(self) -> bytes:
        """The log's bytes."""
        text = b"\n".join(line.data for line in self.lines)
        return text + b"\n" if self.terminated and self.lines else text


def read_side(path: Path, name: str, *, alone: bool = False) -> Side:
    """Read a log. `alone` is one that git hands out under another name, so that no run.json can stand beside it.

    Raises LedgerError if the file cannot be read.
    """
    data: list[bytes] = []
    known: dict[int, Line] = {}
    terminated = True
    with _open(path, alone=alone) as file:
        reader, undecided = open_reader(file, None)
        reader.most = sys.maxsize  # each line counts
        for block in file.blocks():
            data += block.lines
            terminated = block.terminated
            for event in reader.read(block):
                segment = reader.state.segment.ordinal if reader.state.segment else 0
                known.update(_lines(event, segment))
        reader.finish(undecided)
        file.check_unchanged()
    said = [
        one
        for one in judged(None if alone else path, reader.diagnostics)
        if not (alone and one.code == _MISSING_RUN_JSON)
    ]
    found: dict[int, set[str]] = {}
    for one in said:
        found.setdefault(one.line, set()).add(one.code)
    return Side(
        name, path, reader.dialect.name if reader.dialect else None, list(_placed(data, known)), terminated,
        said, found, reader.run_json,
    )  # fmt: skip


def _open(path: Path, *, alone: bool) -> LogFile:
    """Open a log; one that is `alone` is taken out of its folder, where the run.json of another may lie."""
    file = open_log(path)
    if not alone:
        return file
    with file:
        data = b"".join(block.data for block in file.blocks())
    return LogFile(None, io.BytesIO(data), len(data))


def _lines(event: Event, segment: int) -> Iterator[tuple[int, Line]]:
    """Give the line of each record of an event, with its number but without its bytes."""
    if isinstance(event, Runs):
        for line, at_ms, run, shape in zip(event.line, event.at_ms, event.run, event.shape, strict=True):
            yield line, Line(b"", RUN, at_ms, run, segment, states=bool(shape & Shape.SEGMENT))
    elif isinstance(event, Header):
        yield event.place.line, Line(b"", HEADER, event.at_ms, None, segment)
    elif isinstance(event, Decision):
        yield event.place.line, Line(b"", DECISION, event.at_ms, event.run, segment)
    elif isinstance(event, Marker | Other | Lifecycle):
        yield event.place.line, Line(b"", REST, event.at_ms, None, segment)


def _placed(data: list[bytes], known: dict[int, Line]) -> Iterator[Line]:
    """Put records and bytes together; a line without a record stands in the segment of the line before it."""
    segment = 0
    for number, text in enumerate(data, 1):
        line = known.get(number, Line(b"", segment=segment))._replace(data=text)
        segment = line.segment
        yield line


def rewrite(line: bytes, numbers: Mapping[str, int]) -> bytes:
    """Write other numbers in place of a record's own; every other byte stays. A key that is not there is left out."""
    found: dict[str, tuple[int, int]] = {}
    for name, column, depth, _ in keys(line):
        if depth == 1 and name in numbers:
            _key, _colon, value = islice(TOKEN.finditer(line, column - 1), 3)
            if value[0][:1] in b"-0123456789":
                found[name] = value.span()
            if len(found) == len(numbers):
                break
    for name in sorted(found, key=found.__getitem__, reverse=True):
        start, end = found[name]
        line = line[:start] + str(numbers[name]).encode() + line[end:]
    return line


def bare(line: bytes) -> bytes:
    """Give a line without the carriage return that an editor, or git, may have put at its end."""
    return line.removesuffix(b"\r")


def masked(line: bytes) -> bytes:
    """Give a record's line without its run number and segment, which a merge may have changed."""
    return rewrite(bare(line), {"run": 0, "segment": 0})
