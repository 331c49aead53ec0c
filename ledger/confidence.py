"""Confidence of a segment's best: how far it lies from the baseline, in units of the noise (PROTOCOLS 6)."""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from decimal import Decimal

from ledger.numbers import Number, better, decimal

LIKELY, MARGINAL = 2.0, 1.0
LEAST_MEASUREMENTS = 3


def word(confidence: float | None) -> str | None:
    """Put a confidence into the seeds' words."""
    if confidence is None:
        return None
    return "likely real" if confidence >= LIKELY else "marginal" if confidence >= MARGINAL else "within noise"


def median(ordered: Sequence[float]) -> float:
    """Give the median of a non-empty sorted sequence."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def mad(ordered: Sequence[float]) -> float:
    """Give the median absolute deviation of a non-empty sorted sequence, in O(log n)."""
    centre = median(ordered)
    count = len(ordered)
    split = bisect_left(ordered, centre)
    upper = _nth_deviation(ordered, centre, split, count // 2)
    return upper if count % 2 else (_nth_deviation(ordered, centre, split, count // 2 - 1) + upper) / 2


def _nth_deviation(ordered: Sequence[float], centre: float, split: int, n: int) -> float:
    """Select the n-th smallest |x - centre|: below the centre deviations grow leftwards, above it rightwards."""
    left, right = split, len(ordered) - split
    low, high = max(0, n + 1 - right), min(n + 1, left)
    while low < high:  # how many of the n + 1 smallest deviations lie to the left
        taken = (low + high) // 2
        if centre - ordered[split - 1 - taken] < ordered[split + n - taken] - centre:
            low = taken + 1
        else:
            high = taken
    from_left = centre - ordered[split - low] if low else -math.inf
    from_right = ordered[split + n - low] - centre if low <= n else -math.inf
    return max(from_left, from_right)


def score(best: float | None, baseline: float | None, direction: str | None, ordered: Sequence[float]) -> float | None:
    """Compute |best - baseline| / MAD over the sorted measurements.

    None with fewer than 3 measurements, a MAD of 0, a best that is not better than the baseline, or a value past every double.
    """
    if best is None or baseline is None or direction is None or len(ordered) < LEAST_MEASUREMENTS:
        return None
    if not better(best, baseline, direction):
        return None
    noise = mad(ordered)
    value = abs(best - baseline) / noise if noise else math.inf
    return value if math.isfinite(value) else None


class Gauge:
    """Follow a segment run by run and say what a writer would store on its latest run, by either formula."""

    def __init__(self, direction: str | None) -> None:
        self._direction = direction
        self._all: list[float] = []
        self._positive: list[float] = []
        self._baseline: float | None = None
        self._first: float | None = None
        self._best: float | None = None
        self._best_positive: float | None = None

    def add(self, metric: float, status: str) -> None:
        """Take the segment's next run."""
        direction = self._direction
        if self._first is None:
            self._first = metric
        if metric > 0:
            insort(self._positive, metric)
        if status == "crash":
            return
        insort(self._all, metric)
        if self._baseline is None:
            self._baseline = metric
        if status == "keep" and direction:
            if self._best is None or better(metric, self._best, direction):
                self._best = metric
            if metric > 0 and (self._best_positive is None or better(metric, self._best_positive, direction)):
                self._best_positive = metric

    def mark(self) -> tuple[float | None, ...]:
        """Give what `undo` needs to take back the runs added from here on."""
        return self._baseline, self._first, self._best, self._best_positive

    def undo(self, mark: tuple[float | None, ...], metrics: Sequence[float], statuses: Sequence[str]) -> None:
        """Take back runs that were added since the mark."""
        self._baseline, self._first, self._best, self._best_positive = mark
        for metric, status in zip(metrics, statuses, strict=True):
            if metric > 0:
                del self._positive[bisect_left(self._positive, metric)]
            if status != "crash":
                del self._all[bisect_left(self._all, metric)]

    def agrees(self, stored: Number) -> bool:
        """Tell whether a stored confidence is what one of the formulas gives, to 1e-6 or to its own rounding."""
        ours = score(self._best, self._baseline, self._direction, self._all)
        return _close(ours, stored) or _close(self._common(), stored)

    def _common(self) -> float | None:
        """Compute it as the most common writer does: over metrics above 0, whether the best is better or not."""
        best, first, values = self._best_positive, self._first, self._positive
        if best is None or first is None or best == first or len(values) < LEAST_MEASUREMENTS:
            return None
        noise = mad(values)
        return abs(best - first) / noise if noise else None


def _close(computed: float | None, stored: Number) -> bool:
    if computed is None or not math.isfinite(computed):
        return False
    if abs(computed - float(stored)) <= 1e-6 * abs(computed):
        return True
    exponent = decimal(stored).normalize().as_tuple().exponent
    if not isinstance(exponent, int):
        return False
    step = Decimal(1).scaleb(min(exponent, 0))
    return abs(Decimal(computed) - decimal(stored)) <= step * Decimal("0.5000001")
