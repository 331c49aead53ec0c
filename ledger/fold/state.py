"""The fold: what a log amounts to, one event at a time (protocols.md 2-6)."""

from collections import deque
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from ledger.base.numbers import Number, better
from ledger.fold.replay import Replay
from ledger.fold.run_numbers import RunSet
from ledger.fold.segment import KEPT, STATUSES, Segment, Streak
from ledger.log.events import Decision, Event, Header, Lifecycle, Marker, Place, Run, Runs, Unread

RECENT = 5
MARKERS = ("running", "done", "cancelled", "wall", "blocked")


class Region:
    """Follow what the verdict counts: everything after the last header, by the segment that each run states.

    It looks at objects and not at events, since a loop must be told to stop on any log, sound or not (protocols.md 5).
    """

    def __init__(self) -> None:
        self.stated: Any = 0
        self.runs: dict[Any, int] = {}
        self.streaks: dict[Any, Streak] = {}
        self.backstop_ack = 0
        self.last_status: str | None = None

    def note(self, record: Mapping[str, Any]) -> None:
        """Take the next object of the log."""
        kind = record.get("type")
        if kind == "config":
            self.stated, self.runs, self.streaks, self.backstop_ack = 0, {}, {}, 0
        elif kind == "status":
            state, ack = record.get("state"), record.get("backstop_ack")
            if isinstance(state, str) and state in MARKERS:  # a damaged marker does not undo the one before
                self.last_status = state
            if type(ack) is int and ack > self.backstop_ack:
                self.backstop_ack = ack
        elif isinstance(status := record.get("status"), str) and status in STATUSES:
            self.note_runs(record.get("segment"), [status])

    def note_runs(self, stated: object, statuses: Sequence[str]) -> None:
        """Take runs that all state the same segment."""
        key = stated if type(stated) is int else 0
        self.stated = key
        self.runs[key] = self.runs.get(key, 0) + len(statuses)
        self.streaks.setdefault(key, Streak()).add(statuses)

    @property
    def streak(self) -> int:
        """Failed runs at the end, among those that state the last run's segment."""
        return self.streaks[self.stated].current if self.stated in self.streaks else 0


class Result(NamedTuple):
    """Hold a result that is decided on later, with its latest decision, if any."""

    run: Run
    segment: int
    action: str | None

    @property
    def status(self) -> str:
        """The effective status: a crash stays one, else the latest decision, else `measured`."""
        return "crash" if self.run.status == "crash" else self.action or "measured"


class Folding(NamedTuple):
    """Say how a protocol's records fold; `dialect` is its name, None for a log of no known protocol.

    Where a result `decides_later`, a later decision gives it its status. A history that `replays` has the state that
    its last event left it in; in others the last marker says it.
    """

    dialect: str | None = None
    counts_run_zero: bool = True
    decides_later: bool = False
    replays: bool = False


PLAIN = Folding()
"""How the records of no known protocol fold."""


class State:
    """Hold the fold of a whole log.

    `closed` lists the segments before the current one that this process has read; `recent` the last five runs.
    `unread` counts unreadable records since the last run, `headers_lost` all that may have been headers, so that what
    they explain is no second finding.
    """

    def __init__(self, folding: Folding = PLAIN, config: Mapping[str, Any] | None = None) -> None:
        self.folding = folding
        self.segment: Segment | None = None
        self.closed: list[Segment] = []
        self.records = 0
        self.last_line = 0
        self.unread = 0
        self.unread_total = 0
        self.headers_lost = 0
        self.last_run: int | None = None
        self.runs_seen = RunSet()
        self.runs_lost = RunSet()
        self.time_unit: str | None = None
        self.units_mixed = False
        self.marker: str | None = None
        self.stopped = False
        self.region = Region()
        self.results: dict[int, Result] = {}
        self.recent: deque[Run] = deque(maxlen=RECENT)
        self.replay = Replay(config)
        self._stale: set[int] = set()
        self._kept_best: dict[int, Number | None] = {}

    @property
    def dialect(self) -> str | None:
        """The name of the log's protocol."""
        return self.folding.dialect

    @property
    def status(self) -> str:
        """The session's state: the last marker, the status of a history, or `none`."""
        return self.replay.status if self.folding.replays else self.marker or "none"

    def current(self) -> Segment:
        """Give the current segment; opens segment 0 without a header if there is none."""
        if self.segment is None:
            self.segment = Segment(0, None)
        if self.segment.ordinal in self._stale:
            self.segment = self._refold(self.segment)
        return self.segment

    def _refold(self, segment: Segment) -> Segment:
        """Fold a segment again, since a decision came after the run it is about."""
        self._stale.discard(segment.ordinal)
        fresh = copy(segment)
        fresh.forget_runs()
        for result in self.results.values():
            if result.segment == segment.ordinal:
                fresh.add(Runs.of(result.run._replace(status=result.status)))
        return fresh

    def best_kept(self, segment: int, without: int) -> Number | None:
        """Give a segment's best kept metric, leaving out one run."""
        if segment in self._kept_best and self.results[without].action is None:
            return self._kept_best[segment]
        best: Number | None = None
        direction = self.segment.direction if self.segment else None
        for number, result in self.results.items():
            if result.segment == segment and number != without and result.status in KEPT and direction:
                metric = result.run.metric
                best = metric if best is None or better(metric, best, direction) else best
        if self.results[without].action is None:
            self._kept_best[segment] = best
        return best

    def _note_kept(self, before: Result, after: Result) -> None:
        """Keep what `best_kept` found up to date: a first decision can only add to it, a later one starts it anew."""
        segment, metric = after.segment, after.run.metric
        if before.action is not None:
            self._kept_best.pop(segment, None)
        elif segment in self._kept_best and after.status in KEPT and self.segment is not None:
            best, direction = self._kept_best[segment], self.segment.direction
            if best is None or (direction is not None and better(metric, best, direction)):
                self._kept_best[segment] = metric

    def loses(self, run: int) -> bool:
        """Tell whether an unreadable record may have been the result of this run, and count it as such."""
        if run in self.runs_lost:
            return True
        if self.unread_total > 0:
            self.unread_total -= 1
            self.runs_lost.add(run)
            return True
        return False


def apply(state: State, event: Event, record: Mapping[str, Any] | None = None) -> State:
    """Fold one event, read from the object `record`, into the state, which is consumed, and return it."""
    if isinstance(event, Unread):
        _apply_unread(state, event)
        return state
    state.records += 0 if isinstance(event, Runs) else 1
    state.last_line = event.line[-1] if isinstance(event, Runs) else event.place.line
    if isinstance(event, Runs):
        _apply_runs(state, event, record)
    elif isinstance(event, Header):
        _apply_header(state, event)
    elif isinstance(event, Marker):
        state.marker = event.state
    elif isinstance(event, Decision):
        _apply_decision(state, event)
    elif isinstance(event, Lifecycle) and record is not None:
        state.replay.advance(record)
    return state


def _apply_unread(state: State, event: Unread) -> None:
    if event.kind == "blank":
        return
    kind = None if event.kind == "unknown" else event.kind
    may_be_run, may_be_header = kind in (None, "run", "result"), kind in (None, "config")
    state.records += 1
    state.replay.lose()
    if event.run is not None:
        state.runs_lost.add(event.run)
    elif may_be_run:
        state.unread_total += event.records
    state.unread += event.records if may_be_run else 0
    state.headers_lost += may_be_header
    if state.segment is not None:
        state.segment.touched |= kind in ("run", "result")
        state.segment.lost_run |= may_be_run or kind == "decision"
        state.segment.lost_header |= may_be_header


def _apply_header(state: State, header: Header) -> None:
    segment = state.segment
    if segment is None or not segment.touched:
        state.segment = Segment(segment.ordinal if segment else 0, header)
        return
    closed = state.current()
    closed.close()
    state.closed.append(closed)
    state.segment = Segment(segment.ordinal + 1, header)


def _apply_runs(state: State, runs: Runs, record: Mapping[str, Any] | None) -> None:
    count = len(runs.run)
    state.records += count
    segment = state.segment or state.current()  # a stale one is folded again when it is asked for
    folding = state.folding
    segment.add(runs, counted=folding.counts_run_zero or runs.run[0] != 0)
    state.last_run = runs.run[-1]
    state.unread = 0
    state.runs_seen.add(runs.run[0], runs.run[-1])
    if runs.time_unit in ("ms", "s"):
        state.time_unit = state.time_unit or runs.time_unit
        state.units_mixed = state.units_mixed or runs.time_unit != state.time_unit
    if not segment.names.keys() >= set().union(*filter(None, runs.metrics)):
        for metrics in filter(None, runs.metrics):
            segment.names.update(dict.fromkeys(metrics))
    for place in range(max(0, count - RECENT), count):
        state.recent.append(run_at(runs, place))
    if folding.decides_later:
        run = run_at(runs, 0)
        state.results[run.run] = Result(run._replace(extras=None), segment.ordinal, None)
    elif folding.replays and record is not None:
        state.replay.advance(record)


def run_at(runs: Runs, place: int) -> Run:
    """Take one run out of the columns."""
    return Run(
        Place(runs.line[place], runs.offset[place], runs.size[place]),
        runs.run[place], runs.status[place], runs.metric[place], runs.commit[place], runs.description[place],
        runs.at_ms[place], runs.time_unit, None, runs.confidence[place], runs.metrics[place], runs.asi[place],
        runs.extras[place], runs.shape[place],
    )  # fmt: skip


def _apply_decision(state: State, decision: Decision) -> None:
    if decision.action == "stop":
        state.stopped = True
        return
    result = state.results.get(decision.run)
    if result is None:
        return
    state.results[decision.run] = decided = result._replace(action=decision.action)
    state._note_kept(result, decided)
    state._stale.add(result.segment)
    if state.segment is not None and result.segment != state.segment.ordinal:
        for place, segment in enumerate(state.closed):
            if segment.ordinal == result.segment:
                state.closed[place] = state._refold(segment)
