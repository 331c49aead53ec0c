"""Keep or discard: what one measured change came to (protocols.md 7)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ledger.base.numbers import Number, better, compare, decimal, is_number, text
from ledger.dialects.writing import RunOutcome
from ledger.fold.segment import Segment
from ledger.loop.iteration.journal import Wishes
from ledger.loop.measuring.measurement import Checked, Measurement


class Rival(NamedTuple):
    """Hold what a run has to beat: the best kept metric, None where nothing was kept, and that run's other metrics.

    `least_gain` is in percent of that metric, None where any gain counts.
    """

    metric: Number | None
    metrics: Mapping[str, Any]
    least_gain: Number | None = None


def decide(segment: Segment, rival: Rival, wishes: Wishes, measured: Measurement, checked: Checked) -> RunOutcome:
    """Decide a run: crash, checks_failed, discard or keep, with what there is to learn from it in its `asi`."""
    asi = dict(wishes.asi)
    if measured.failure or measured.metric is None:
        details = "\n".join(filter(None, (measured.failure, measured.tail)))
        return RunOutcome("crash", 0, wishes.description, asi={**asi, "error_details": details})
    made = RunOutcome("keep", measured.metric, wishes.description, "", measured.metrics, asi, measured.samples)
    if checked.status == "fail":
        details = "\n".join(filter(None, (f"checks: {checked.failure}", checked.tail)))
        return made._replace(status="checks_failed", asi={**asi, "error_details": details})
    status, reason = _compare(segment, rival, wishes, measured)
    word = {"keep": "keep_reason", "discard": "discard_reason"}[status]
    said = wishes.discard or wishes.keep_equal or any(wishes.max_regress.values())
    return made._replace(status=status, reason=reason, asi={**asi, word: reason} if said else asi)


def _compare(segment: Segment, rival: Rival, wishes: Wishes, measured: Measurement) -> tuple[str, str]:
    metric, best = measured.metric, rival.metric
    assert metric is not None
    if wishes.discard:
        return "discard", wishes.discard
    if best is None:
        return "keep", "the first measurement of the segment"
    for name, limit in wishes.max_regress.items():
        if said := _regressed(name, decimal(limit), rival.metrics.get(name), measured.metrics.get(name)):
            return "discard", said
    if compare(metric, best) == 0:
        return ("keep", wishes.keep_equal) if wishes.keep_equal else ("discard", f"equal to the best, {text(best)}")
    if segment.direction is None or not better(metric, best, segment.direction):
        return "discard", f"{text(metric)} is worse than the best, {text(best)}"
    if not decimal(best):
        return "keep", f"better than the best, {text(best)}"
    gain, least = abs(decimal(metric) - decimal(best)) / abs(decimal(best)) * 100, decimal(rival.least_gain or 0)
    if gain < least:
        return "discard", f"{_short(gain)} % better than the best, {text(best)}, which is under {_short(least)} %"
    return "keep", f"{_short(gain)} % better than the best, {text(best)}"


def _regressed(name: str, limit: Decimal, before: object, after: object) -> str:
    """Say by how much a secondary metric got worse than its limit allows, if it did.

    A limit of 50 allows a rise by 50 %; one of -20, for a metric of which more is better, a fall by 20 %.
    """
    if not is_number(before):
        return ""
    if not is_number(after):
        return f"{name} was not measured, and has a limit"
    old, new = decimal(before), decimal(after)  # type: ignore[arg-type]  # is_number says so
    if not old:
        worse = new > old if limit >= 0 else new < old
        return f"{name} went from 0 to {text(after)} (limit {_short(limit)} %)" if worse else ""  # type: ignore[arg-type]
    change = (new - old) / abs(old) * 100
    if change <= limit if limit >= 0 else change >= limit:
        return ""
    return f"{name} went from {text(before)} to {text(after)}, {_short(change)} % (limit {_short(limit)} %)"  # type: ignore[arg-type]


def _short(value: Decimal) -> str:
    return f"{float(value):.3g}"
