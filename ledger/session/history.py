"""A session's log as those read it who write to it: its fold, and every run of every segment."""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.fold.segment import Segment
from ledger.fold.state import State, run_at
from ledger.log.events import Event, Run, Runs
from ledger.log.jsontext import load
from ledger.log.source import open_log
from ledger.reading.reader import Reader
from ledger.reading.whole_log import Log, events, judged, open_reader

_UNFINISHED = ("L115", "L116")


class History(NamedTuple):
    """Hold a log that was read whole: `size` in bytes, `chapters` the runs of each segment, as columns."""

    log: Log
    reader: Reader
    size: int
    chapters: dict[int, list[Runs]]

    @property
    def state(self) -> State:
        """The fold."""
        return self.reader.state

    def segments(self) -> list[Segment]:
        """List the segments, the current one last."""
        return [*self.state.closed, self.state.current()]

    def runs(self, segment: int | None = None) -> list[Run]:
        """List the runs of a segment (None: the current one) in file order, each with its effective status."""
        ordinal = self.state.current().ordinal if segment is None else segment
        found = [run_at(runs, place) for runs in self.chapters.get(ordinal, ()) for place in range(len(runs.run))]
        results = self.state.results
        return [run._replace(status=results[run.run].status) for run in found] if results else found

    def last(self) -> Run | None:
        """Give the log's last run; None where there is none."""
        return next((runs[-1] for ordinal in sorted(self.chapters, reverse=True) if (runs := self.runs(ordinal))), None)

    def note(self, event: Event) -> None:
        """Take an event that was folded."""
        if isinstance(event, Runs) and self.state.segment is not None:
            self.chapters.setdefault(self.state.segment.ordinal, []).append(event)


def read(path: Path, dialect: str | None = None) -> History:
    """Read a log with every rule and keep its runs. Raises LedgerError if the file cannot be read at all."""
    chapters: dict[int, list[Runs]] = {}
    with open_log(path) as file:
        reader, undecided = open_reader(file, dialect)
        history = History(Log(path, None, 0, 0, reader.state, []), reader, file.size, chapters)
        for event in events(file, reader):
            history.note(event)
        reader.finish(undecided)
        file.check_unchanged()
    found = judged(path, reader.diagnostics)
    name = reader.dialect.name if reader.dialect else None
    return history._replace(log=Log(path, name, reader.lines, reader.records, reader.state, found))


def secondary_names(history: History) -> list[str]:
    """List the secondary metrics of the current segment's runs, in the order they came.

    A protocol that does not know them has them among a run's other keys.
    """
    segment = history.state.current()
    if segment.names:
        return list(segment.names)
    extras = (text for runs in history.chapters.get(segment.ordinal, ()) for text in runs.extras)
    kept = [load(text).get("metrics") for text in extras if text and '"metrics"' in text]
    return list(dict.fromkeys(name for metrics in kept if isinstance(metrics, dict) for name in metrics))


def lines_at(path: Path, runs: list[Run]) -> Iterator[bytes]:
    """Yield the line of each run as it stands in the log, without its newline."""
    with path.open("rb") as file:
        for run in runs:
            file.seek(run.place.offset)
            yield file.read(run.place.size).rstrip(b"\n")


def sound(history: History) -> History:
    """Give the history back. Raises LedgerError if nothing may be appended: after an error or an unfinished line.

    An error that a person accepted is none; an unfinished line stays one, since the next record would end up on it.
    """
    log = history.log
    if not log.ok:
        first = next(found for found in log.diagnostics if found.is_error)
        where = f"{show_path(log.path or '-')}:{first.line}:{first.column}"
        raise LedgerError(
            f"nothing is written to a log with errors: {where}: {first.code} {first.message};"
            " run ledger repair to see what can be done about it"
        )
    if any(found.code in _UNFINISHED for found in log.diagnostics):
        name = show_path(log.path or "-")
        raise LedgerError(
            f"the last line of {name} has no newline, so its writer may still be at it; if nobody is, end it:"
            f" printf '\\n' >> {name}"
        )
    return history


def latest(history: History, segment: int | None = None, statuses: Container[str] | None = None) -> Iterator[Run]:
    """Yield the runs of a segment (None: of the whole log), the last first, each with its effective status.

    `statuses` leaves out the runs of any other.
    """
    results = history.state.results
    for ordinal in sorted(history.chapters, reverse=True) if segment is None else (segment,):
        for runs in reversed(history.chapters.get(ordinal, [])):
            for place in range(len(runs.run) - 1, -1, -1):
                status = results[runs.run[place]].status if results else runs.status[place]
                if statuses is None or status in statuses:
                    yield run_at(runs, place)._replace(status=status)
