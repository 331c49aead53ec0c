"""The one way from bytes to events: decode, judge by the rules, parse, fold. Reading never raises about data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

import ledger.rules  # noqa: F401 - registers what a reader judges by
from ledger.dialects.base import RECORD, UNKNOWN, Dialect, Kind, Record
from ledger.fold.segment import Segment
from ledger.fold.state import PLAIN, State, apply, run_at
from ledger.log.diagnostics import Diagnostic, Finding, Severity
from ledger.log.events import Event, Place, Runs, Unread
from ledger.log.jsontext import BOM, WHITE, Decoded, Note, decode, decode_many, keys
from ledger.log.rule import MOST_A_RECORD, Rule, index, left_out, rules_on, run_rules
from ledger.log.source import MAX_LINE_BYTES, Block

TORN = "torn"
MOST_ALIKE = 100_000
"""Findings of one code that a reader holds; more than any block of lines has, so that who drains it misses none."""

_EXACT_COLUMNS = 1 << 20
"""Bytes of a line up to which a key that stands in it several times is told from its namesakes."""

_NOTES = index("note")


class Reader:
    """Turn blocks of lines into events and diagnostics, folding the state as it goes.

    `undecided` is (line of the first non-blank line, keys of the first record, whether it looks binary) for a log of no
    known protocol, whose lines are judged as lines only, or an empty one. The caller may drain
    `diagnostics` at any time. Where nobody does, findings of a code past `most` are counted, and `finish` reports how
    many they are, as a finding about the file as a whole: it is at no line, so that nobody can have accepted it.
    """

    def __init__(self, dialect: Dialect | None, state: State | None = None) -> None:
        self.dialect = dialect
        self.state = state or State(dialect.folding if dialect else PLAIN)
        self._on_records = rules_on("record", dialect.subjects) if dialect else ()
        self._on_events = index("event")
        self.diagnostics: list[Diagnostic] = []
        self.lines = 0
        self.records = 0
        self.torn = False
        self.run_json: bytes | None = None
        self.most = MOST_ALIKE
        self._held: Counter[str] = Counter()
        self.unlisted: dict[str, Diagnostic] = {}

    def configure(self, config: Mapping[str, Any], data: bytes) -> None:
        """Take the run.json beside a log as decoded: judge it, and open the log's one segment with it."""
        assert self.dialect is not None
        assert self.dialect.run_json is not None
        kind, header = self.dialect.run_json
        found = run_rules(self._on_records, Record(kind, config, config))
        for known, finding in found:
            line, column = _placed(data, _column(data, finding.key)) if finding.key else (0, 1)
            self._report(known, finding._replace(line=line, column=column, source="run.json"), 0, data)
        if not any(known.severity is Severity.ERROR for known, _ in found):
            self.state.replay.config = config
            self.state.segment = Segment(0, header(config, Place(0, 0, 0)))

    def fault_run_json(self, problem: str) -> None:
        """Report that the run.json that belongs to a log is missing or cannot be read."""
        self._report_all(run_rules(rules_on("end", ["run.json"]), problem, self.state), 0, b"")

    def note_run_json(self, note: Note, data: bytes) -> None:
        """Report what there is to note about the text of run.json."""
        line, column = _placed(data, note.column)
        for known, finding in run_rules(_NOTES[note.kind], note):
            self._report(known, finding._replace(line=line, column=column, source="run.json"), line, b"")

    def read(self, block: Block) -> Iterator[Event]:
        """Yield the events of a block's lines, in file order, each folded into the state before it is yielded."""
        data, count = block.lines, len(block.lines)
        numbers = range(block.first_line, block.first_line + count)
        sizes = [len(line) + block.terminated for line in data]
        offsets = list(accumulate(sizes, initial=block.offset))
        self.lines = numbers[-1]
        plain = block.terminated and self.dialect is not None and len(block.data) <= MAX_LINE_BYTES
        values: list[Any] = decode_many(data) if plain else [None] * count
        accept = self.dialect.accept if self.dialect else None
        here = 0
        while here < count:
            end = here
            while accept and end < count and values[end] is not None and "type" not in values[end]:
                end += 1
            spans = [(here, end)] if end > here else []
            while spans and accept:
                a, b = spans.pop()
                runs = accept(values[a:b], list(numbers[a:b]), offsets[a:b], sizes[a:b], self.state)
                if runs is not None:
                    self.records += b - a
                    yield self._fold(runs, None)
                elif b - a == 1:
                    yield self._line(data[a], values[a], Place(numbers[a], offsets[a], sizes[a]), block.terminated)
                else:
                    middle = (a + b) // 2
                    spans += [(middle, b), (a, middle)]
            if end == here:
                place = Place(numbers[here], offsets[here], sizes[here])
                yield self._line(data[here], values[here], place, block.terminated)
                end += 1
            here = end

    def finish(self, undecided: tuple[int, list[str], bool] | None = None) -> None:
        """Report what only the end of the log shows."""
        if undecided is not None:
            self._report_all(run_rules(rules_on("end", ["undecided"]), *undecided, self.state), 0, b"")
        elif self.dialect is not None and not self.torn:
            found = run_rules(rules_on("end", self.dialect.subjects), self.state)
            self._report_all(found, self.state.last_line, b"")
        for code, first in self.unlisted.items():
            said = f"{self._held[code] - self.most:,} more of {code}, the first at line {first.line}, are not listed"
            self.diagnostics.append(first._replace(line=0, column=1, message=said))

    def _fold(self, event: Event, record: Mapping[str, Any] | None) -> Event:
        apply(self.state, event, record)
        return event

    def _line(self, line: bytes, value: Any, place: Place, terminated: bool) -> Event:
        """Read one line with every rule."""
        strict = self.dialect is not None and self.dialect.strict
        if terminated and not line.removeprefix(BOM).strip(WHITE):
            blank = "bom" if line.startswith(BOM) else "blank-strict" if strict else "blank"
            self._note(Note(blank, 1), place, line)
            return self._fold(Unread(place, "blank", None), None)
        decoded = Decoded(value, ()) if value is not None else decode_bounded(line)
        notes, readable = decoded.notes, not any(map(is_error, decoded.notes))
        if readable and not isinstance(decoded.value, dict):
            notes, readable = (*notes, Note("shape", 1, _what(decoded.value))), False
        if not terminated and (strict or not readable):
            self.torn = True
            detail = "it has no newline yet"
            if not readable:
                first = next(filter(is_error, notes), notes[0])
                detail = run_rules(_NOTES[first.kind], first)[0][1].message
            self._note(Note("torn", 1, detail), place, line)
            return Unread(place, TORN, None)
        for note, more in _some(notes if terminated else (*notes, Note("unterminated", len(line) + 1))):
            self._note(note, place, line, more)
        if isinstance(decoded.value, dict):
            self.state.region.note(decoded.value)
        if not readable or self.dialect is None:
            return self._fold(Unread(place, None, None, max(1, line.count(b'"run"'))), None)
        return self._record(decoded.value, place, line)

    def _record(self, raw: Mapping[str, Any], place: Place, line: bytes) -> Event:
        dialect = self.dialect
        assert dialect is not None
        kind = dialect.kind_of(raw)
        record = Record(kind, raw, dialect.normal(raw))
        found = run_rules(self._on_records, record)
        if any(known.severity is Severity.ERROR for known, _ in found):
            if RECORD in kind.subjects and kind.name != UNKNOWN.name:  # it stands there, whatever it says
                found += run_rules(self._on_events[RECORD], None, self.state, raw)
            return self._refuse(found, kind, raw, place, line)
        event = dialect.parse(kind, raw, place, self.state)
        stated = record.values.get("segment")
        subject: Any = event
        if isinstance(event, Runs):
            subject = run_at(event, 0)._replace(stated=stated if type(stated) is int else None)
        for key in kind.subjects:
            found += run_rules(self._on_events.get(key, ()), subject, self.state, record.values)
        if dialect.refuses_events and any(
            known.severity is Severity.ERROR and finding.line is None for known, finding in found
        ):
            return self._refuse(found, kind, raw, place, line)
        self._report_all(found, place.line, line)
        self.records += 1
        return self._fold(event, record.values)

    def _refuse(
        self, found: list[tuple[Rule, Finding]], kind: Kind, raw: Mapping[str, Any], place: Place, line: bytes
    ) -> Event:
        self._report_all(found, place.line, line)
        number = None if any(finding.key == "run" for _, finding in found) else raw.get("run")
        return self._fold(Unread(place, kind.name, number if type(number) is int else None), None)

    def _note(self, note: Note, place: Place, line: bytes, more: int = 0) -> None:
        for known, finding in run_rules(_NOTES[note.kind], note):
            said = finding.message + (left_out(more) if more else "")
            self._report(known, finding._replace(message=said, column=note.column), place.line, line)

    def _report_all(self, found: list[tuple[Rule, Finding]], line: int, data: bytes) -> None:
        for known, finding in found:
            self._report(known, finding, line, data)

    def _report(self, known: Rule, finding: Finding, line: int, data: bytes) -> None:
        if not self.diagnostics:
            self._held.clear()
        self._held[known.code] += 1
        if known.code in self.unlisted:
            return
        column = finding.column or _column(data, finding.key)
        number = line if finding.line is None else finding.line
        found = Diagnostic(number, column, known.code, known.name, known.severity, finding.message, finding.source)
        if self._held[known.code] > self.most:
            self.unlisted[known.code] = found
        else:
            self.diagnostics.append(found)


def decode_bounded(line: bytes) -> Decoded:
    """Decode a line, unless it is longer than any record is."""
    if len(line) > MAX_LINE_BYTES:
        return Decoded(None, (Note("length", 1, f"{len(line):,}"),))
    return decode(line)


def _some(notes: tuple[Note, ...]) -> Iterable[tuple[Note, int]]:
    """Give the first notes of each kind, the last of them with the number of those left out."""
    if len(notes) <= MOST_A_RECORD:
        return [(note, 0) for note in notes]
    kinds = {kind: [note for note in notes if note.kind == kind] for kind in dict.fromkeys(note.kind for note in notes)}
    chosen = ((alike[:MOST_A_RECORD], len(alike) - MOST_A_RECORD) for alike in kinds.values())
    return [(note, max(0, more) if note is some[-1] else 0) for some, more in chosen for note in some]


def is_error(note: Note) -> bool:
    """Tell whether a note means that the line cannot be trusted; behind a byte order mark it can."""
    return note.kind != "bom" and any(known.severity is Severity.ERROR for known in _NOTES[note.kind])


def _what(value: Any) -> str:
    names = {list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _column(data: bytes, key: str | None) -> int:
    """Find where a record's key stands, in bytes from 1: the record's own, else one further down; 1 if neither.

    In a line of more than a megabyte it is the first text that reads like the key.
    """
    if key is None:
        return 1
    quoted = b'"' + key.encode("utf-8", "replace") + b'"'
    if len(data) > _EXACT_COLUMNS or data.count(quoted) == 1:
        return data.find(quoted) + 1 or 1
    places = [(depth, column) for name, column, depth, _ in keys(data) if name == key]
    return min(places, default=(0, 1))[1]


def _placed(data: bytes, place: int) -> tuple[int, int]:
    """Turn a column counted through all of run.json into (line, column)."""
    return data.count(b"\n", 0, place - 1) + 1, place - 1 - data.rfind(b"\n", 0, place - 1)
