"""Confidence of a segment's best: how far it lies from the baseline, in units of the noise (protocols.md 6)."""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from decimal import Decimal

from ledger.base.numbers import Number, better, decimal

LIKELY, MARGINAL = 2.0, 1.0
LEAST_MEASUREMENTS = 3
_TOLERANCE = 1e-6
_NEAR = 16
"""Places away from a guess where a look around costs less than a search."""


def word(confidence: float | None) -> str | None:
    """Put a confidence into the words of a protocol's document (protocols.md 6)."""
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


def mad_near(ordered: Sequence[float], start: int) -> tuple[float, int]:
    """Give what `mad` does, and where the half that is nearest to the median begins, which is looked for from `start`.

    Cheaper than `mad` where one value after another is added, since that place hardly moves; where it does, between two
    clusters, `mad` is asked, and the place is a guess.
    """
    count = len(ordered)
    middle, odd = count >> 1, count & 1
    centre = ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2
    half = middle + odd
    last = count - half
    start, steps = min(start, last), _NEAR
    while steps and start < last and ordered[start + half] - centre < centre - ordered[start]:
        start, steps = start + 1, steps - 1
    while steps and start and centre - ordered[start - 1] < ordered[start + half - 1] - centre:
        start, steps = start - 1, steps - 1
    if not steps:
        noise = mad(ordered)
        return noise, bisect_left(ordered, centre - noise)
    left, right = centre - ordered[start], ordered[start + half - 1] - centre
    inner = left if left > right else right  # noqa: FURB136 - each run comes by here, and max() takes twice as long
    if odd:
        return inner, start
    outer = centre - ordered[start - 1] if start else math.inf
    if start < last and ordered[start + half] - centre < outer:
        outer = ordered[start + half] - centre
    return (inner + outer) / 2, start


def score(best: float | None, baseline: float | None, direction: str | None, ordered: Sequence[float]) -> float | None:
    """Compute |best - baseline| / MAD over the sorted measurements.

    None with fewer than 3 measurements, a MAD of 0, a best that is not better than the baseline, or a result past every
    double.
    """
    if best is None or baseline is None or direction is None or len(ordered) < LEAST_MEASUREMENTS:
        return None
    if not better(best, baseline, direction):
        return None
    noise = mad(ordered)
    value = abs(best - baseline) / noise if noise else math.inf
    return value if math.isfinite(value) else None


_Mark = tuple[float | None, float | None, float | None, int]


class Gauge:
    """Follow a segment run by run and say what a writer would store on its latest run, by either formula.

    A log may store a confidence on every run, so each step must be cheap: the measurements stay sorted. Those above 0
    are sorted once the common formula is asked.
    """

    def __init__(self, direction: str | None) -> None:
        self._lower = direction == "lower"
        self._direction = direction
        self._seen: list[float] = []
        self._all: list[float] = []
        self._positive: list[float] | None = None
        self._baseline: float | None = None
        self._best: float | None = None
        self._best_positive: float | None = None
        self._half = 0  # where `mad_near` found the nearer half

    def add(self, metric: float, status: str) -> None:
        """Take the segment's next run."""
        self._seen.append(metric)
        if self._positive is not None and metric > 0:
            insort(self._positive, metric)
        if status == "crash":
            return
        insort(self._all, metric)
        if self._baseline is None:
            self._baseline = metric
        if status == "keep":
            best = self._best
            if best is None or (metric < best if self._lower else metric > best):
                self._best = metric
            best = self._best_positive
            if metric > 0 and (best is None or (metric < best if self._lower else metric > best)):
                self._best_positive = metric

    def follow(self, metrics: Sequence[float], statuses: Sequence[str], stored: Sequence[Number | None]) -> bool:
        """Take the next runs as long as each stored confidence agrees; give up, and take none, at one that does not."""
        mark = self._baseline, self._best, self._best_positive, self._half
        add, seen, values, lower = self.add, self._seen, self._all, self._lower
        for place, (metric, status, confidence) in enumerate(zip(metrics, statuses, stored, strict=True), 1):
            if status == "discard" and self._positive is None and self._baseline is not None:
                seen.append(metric)  # as `add` would; this is most of a log, and it changes nothing else
                insort(values, metric)
            else:
                add(metric, status)
            if confidence is None:
                continue
            best, baseline = self._best, self._baseline
            if (
                best is not None
                and baseline is not None
                and len(values) >= LEAST_MEASUREMENTS
                and type(confidence) is float
            ):
                gain = baseline - best if lower else best - baseline
                noise, self._half = mad_near(values, self._half)
                if 0 < gain < math.inf and abs(gain - confidence * noise) <= _TOLERANCE * gain:
                    continue  # as good as always; what follows costs more
            if not self.agrees(confidence):
                self._undo(mark, metrics[:place], statuses[:place])
                return False
        return True

    def _undo(self, mark: _Mark, metrics: Sequence[float], statuses: Sequence[str]) -> None:
        """Take back the last runs."""
        self._baseline, self._best, self._best_positive, self._half = mark
        del self._seen[len(self._seen) - len(metrics) :]
        for metric, status in zip(metrics, statuses, strict=True):
            if self._positive is not None and metric > 0:
                del self._positive[bisect_left(self._positive, metric)]
            if status != "crash":
                del self._all[bisect_left(self._all, metric)]

    def agrees(self, stored: Number) -> bool:
        """Tell whether a stored confidence is what one of the formulas gives, to 1e-6 or to its own rounding."""
        ours = score(self._best, self._baseline, self._direction, self._all)
        return _close(ours, stored) or _close(self._common(), stored)

    def _common(self) -> float | None:
        """Compute it as the most common writer does: over metrics above 0, whether the best is better or not."""
        if self._positive is None:
            self._positive = sorted(metric for metric in self._seen if metric > 0)
        best, values = self._best_positive, self._positive
        if best is None or best == self._seen[0] or len(values) < LEAST_MEASUREMENTS or self._direction is None:
            return None
        noise = mad(values)
        return abs(best - self._seen[0]) / noise if noise else None


def _close(computed: float | None, stored: Number) -> bool:
    if computed is None or not math.isfinite(computed):
        return False
    if abs(computed - float(stored)) <= _TOLERANCE * computed:
        return True
    if stored in (round(computed, 2), round(computed, 1)):
        return True  # as writers round, which is exact; what follows takes ten times as long
    exponent = decimal(stored).normalize().as_tuple().exponent
    if not isinstance(exponent, int):
        return False
    step = Decimal(1).scaleb(min(exponent, 0))
    return abs(Decimal(computed) - decimal(stored)) <= step * Decimal("0.5000001")
