"""The rules of the `state-protocol` protocol: one event against its own segment's settings (protocols.md 3)."""

from ledger.base.numbers import compare, decimal
from ledger.dialects.base import Object
from ledger.dialects.state_protocol.records import THRESHOLDS
from ledger.fold.confidence import median
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity
from ledger.log.events import Decision, Run
from ledger.log.rule import Findings, rule


@rule("E301", "median-differs-from-samples", Severity.WARNING, "event", "state-protocol:run")
def median_differs_from_samples(run: Run, before: State, record: Object) -> Findings:
    """Report a `median` that is not the median of its `samples`.

    Why: one of the two was edited or computed wrongly; the stated median counts.
    Example: `"samples":[1,2,3],"median":1`.
    Fix: none by machine; measure again.
    """
    samples = record.get("samples")
    if samples and "median" in record:
        true = median(sorted(map(decimal, samples)))  # type: ignore[arg-type]  # Decimals order and add like floats
        if compare(true, record["median"]) != 0 and float(true) != float(record["median"]):
            yield Finding(f"'median' is {record['median']}, the median of the samples is {true}", "median")


@rule("E302", "metric-differs-from-config", Severity.ERROR, "event", "state-protocol:run")
def metric_differs_from_config(run: Run, before: State, record: Object) -> Findings:
    """Report a result of another metric than its segment's.

    Why: values of different metrics must not be compared; another metric needs a config of its own.
    Example: a config with `"metric":"latency_ms"` and a result with `"metric":"bytes"`.
    Fix: none by machine; put a config before the result.
    """
    segment = before.segment
    name = None if segment is None or segment.lost_header else segment.metric_name
    if name is not None and record["metric"] != name:
        yield Finding(f"'metric' is {record['metric']!r}, the config's is {name!r}", "metric")


@rule("E303", "keep-below-threshold", Severity.WARNING, "event", "state-protocol:decision")
def keep_below_threshold(decision: Decision, before: State, record: Object) -> Findings:
    """Report a keep whose gain over the best before it is under the configured effect size or noise floor.

    Why: the session's own settings call such a gain noise.
    Example: `"min_effect_size_pct":3` and a keep that is 1 % better.
    Fix: none by machine; decide again with more samples.
    """
    result = before.results.get(decision.run)
    segment = before.segment
    if decision.action != "keep" or result is None or segment is None or result.segment != segment.ordinal:
        return
    limits = {key: segment.settings[key] for key in THRESHOLDS if key in segment.settings}
    if not limits or segment.lost_run or segment.lost_header:
        return
    best = before.best_kept(segment.ordinal, decision.run)
    if best is None or not decimal(best) or segment.direction is None:
        return
    change = (decimal(result.run.metric) - decimal(best)) / abs(decimal(best)) * 100
    gain = change if segment.direction == "higher" else -change
    missed = [f"{key!r} is {limit}" for key, limit in limits.items() if gain < decimal(limit)]
    if missed:
        listed = " and ".join(missed)
        yield Finding(f"run {decision.run} is kept for a gain of {float(gain):.3g} % over the best, {listed}", "action")
