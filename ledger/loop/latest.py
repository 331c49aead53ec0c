"""The last runs of a log, taken out of its columns one by one: a snapshot needs few of them, after every append."""

from collections.abc import Container, Iterator

from ledger.events import Run
from ledger.loop.history import History
from ledger.state import run_at


def latest(history: History, segment: int | None = None, statuses: Container[str] | None = None) -> Iterator[Run]:
    """Yield the runs of a segment (None: of the whole log), the last first, each with its effective status.

    `statuses` leaves out the runs of any other.
    """
    results = history.state.results if history.state.dialect == "state-protocol" else {}
    for ordinal in sorted(history.chapters, reverse=True) if segment is None else (segment,):
        for runs in reversed(history.chapters.get(ordinal, [])):
            for place in range(len(runs.run) - 1, -1, -1):
                status = results[runs.run[place]].status if results else runs.status[place]
                if statuses is None or status in statuses:
                    yield run_at(runs, place)._replace(status=status)
