"""The fold of one segment: what its runs amount to (protocols.md 5). The SQL views compute the same from rows."""

import math
from collections.abc import Sequence
from typing import Any

from ledger.base.numbers import Number, better
from ledger.fold.confidence import Gauge, score
from ledger.log.events import Header, Runs

STATUSES = ("keep", "discard", "crash", "checks_failed")
KEPT = frozenset(("keep", "baseline"))
FAILED = frozenset(("discard", "crash"))

_STREAK_LETTER = {"keep": "|", "baseline": "|", "checks_failed": "|", "discard": "x", "crash": "x", "measured": ""}


def percent(value: Number, baseline: Number | None) -> float | None:
    """Give (value - baseline) / |baseline| x 100, raw sign; None where the baseline is 0 or absent."""
    base = 0.0 if baseline is None else float(baseline)
    if not base:
        return None
    change = (float(value) - base) / abs(base) * 100
    return change if math.isfinite(change) else None


class Streak:
    """Count failed runs in a row: `current` at the end, `longest` anywhere."""

    __slots__ = ("current", "longest")

    def __init__(self, current: int = 0, longest: int = 0) -> None:
        self.current = current
        self.longest = longest

    def add(self, statuses: Sequence[str]) -> None:
        """Take the next runs' statuses; undecided results are passed over."""
        first, *rest = "".join(map(_STREAK_LETTER.__getitem__, statuses)).split("|")
        self.current += len(first)
        self.longest = max(self.longest, self.current, max(map(len, rest), default=0))
        if rest:
            self.current = len(rest[-1])


class Segment:
    """Hold what one segment's runs amount to so far.

    `touched` tells whether any run, readable or not, came since the header: only then does a further header open a new
    segment. `names` are the secondary metrics seen. The baseline of a codex log (run 0) is counted nowhere. `lost_run`
    and `lost_header` tell that a record which may have been one could not be read: what it explains is no finding.
    """

    def __init__(self, ordinal: int, header: Header | None) -> None:
        self.ordinal = ordinal
        self.line = header.place.line if header else 0
        self.name = header.name if header else None
        self.metric_name = header.metric_name if header else None
        self.unit = header.unit if header else ""
        self.direction = header.direction if header else None
        self.settings: dict[str, Any] = header.settings if header else {}
        self.created_ms = header.at_ms if header else None
        self.touched = False
        self.lost_run = False
        self.lost_header = False
        self.forget_runs()

    def forget_runs(self) -> None:
        """Stand where the segment's first run has yet to be taken."""
        self.counts = dict.fromkeys((*STATUSES, "other"), 0)
        self.streak = Streak()
        self.baseline: Number | None = None
        self.baseline_run: int | None = None
        self.baseline_decided = False
        self.best: Number | None = None
        self.best_run: int | None = None
        self.runs_to_best: int | None = None
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        self.names: dict[str, None] = {}  # in the order they came
        self.metrics: list[float] = []
        self.statuses: list[str] = []
        self._gauge: Gauge | None = None
        self._settled: tuple[float | None, ...] = ()
        self._gauged = 0

    @property
    def runs(self) -> int:
        """The number of runs, whatever their status."""
        return sum(self.counts.values())

    @property
    def improvement_pct(self) -> float | None:
        """The best against the baseline in percent, positive where it is better."""
        change = None if self.best is None else percent(self.best, self.baseline)
        return change if change is None or self.direction == "higher" else 0.0 - change

    @property
    def confidence(self) -> float | None:
        """The confidence in the best, over all the segment's measurements."""
        if self._settled:
            return self._settled[0]
        best = None if self.best is None else float(self.best)
        baseline = None if self.baseline is None else float(self.baseline)
        measured = sorted(m for m, status in zip(self.metrics, self.statuses, strict=True) if status != "crash")
        return score(best, baseline, self.direction, measured)

    def add(self, runs: Runs, *, counted: bool = True) -> None:
        """Take the segment's next runs; a codex log's baseline is not `counted`."""
        self.touched = True
        statuses, metrics = runs.status, runs.metric
        position = self.runs + 1 if counted else 0
        counts = self.counts
        for status in set(statuses) if counted else ():
            counts[status if status in counts else "other"] += statuses.count(status)
        self.streak.add(statuses)
        self._take_baseline(runs)
        for place, (metric, status) in enumerate(zip(metrics, statuses, strict=True)):
            if status in KEPT and self.direction and (self.best is None or better(metric, self.best, self.direction)):
                self.best, self.best_run, self.runs_to_best = metric, runs.run[place], position + place
        self.metrics.extend(map(float, metrics))
        self.statuses.extend(statuses)
        times = [at for at in runs.at_ms if at is not None]
        if times:
            low, high = min(times), max(times)
            self.first_ms = low if self.first_ms is None else min(self.first_ms, low)
            self.last_ms = high if self.last_ms is None else max(self.last_ms, high)

    def _take_baseline(self, runs: Runs) -> None:
        if self.baseline is None or (not self.baseline_decided and "baseline" in runs.status):
            wanted = "baseline" if "baseline" in runs.status else None
            for run, status, metric in zip(runs.run, runs.status, runs.metric, strict=True):
                if status == wanted or (wanted is None and status != "crash"):
                    self.baseline, self.baseline_run = metric, run
                    self.baseline_decided = wanted is not None
                    return

    def close(self) -> None:
        """Give up what only further runs would need, since there will be none; `confidence` is settled before."""
        self._settled = (self.confidence,)
        self.metrics, self.statuses, self.names, self._gauge = [], [], {}, None

    def gauge(self) -> Gauge:
        """Give the confidence gauge, brought up to the segment's last run."""
        if self._gauge is None or self._gauged > len(self.metrics):
            self._gauge, self._gauged = Gauge(self.direction), 0
        for place in range(self._gauged, len(self.metrics)):
            self._gauge.add(self.metrics[place], self.statuses[place])
        self._gauged = len(self.metrics)
        return self._gauge

    def confidences_agree(
        self, metrics: Sequence[Number], status: Sequence[str], stored: Sequence[Number | None]
    ) -> bool:
        """Tell whether each stored confidence is what its writer should have computed over the runs up to its own."""
        if not self.gauge().follow(list(map(float, metrics)), status, stored):
            return False
        self._gauged += len(metrics)
        return True
