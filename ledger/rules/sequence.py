"""Rules about an event's place in the log: numbers, segments, times, and what came before (protocols.md 2, 3, 5, 6)."""

from itertools import islice

from ledger.dialects.base import Object
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity
from ledger.log.events import Decision, Run
from ledger.log.jsontext import mentions
from ledger.log.rule import Findings, rule

_LISTED = 8


@rule("S400", "unknown-protocol", Severity.ERROR, "end", "undecided")
def unknown_protocol(first_line: int, keys: list[str], binary: bool, before: State) -> Findings:
    """Report a log whose first readable record belongs to no protocol, or that has none.

    Why: a guess at the protocol would misread every record.
    Example: `{"iter":0,"keep":true}`.
    Fix: none by machine; name the protocol with --dialect if you know it.
    """
    if keys:
        listed = ", ".join(map(repr, keys[:12])) + (", …" if len(keys) > 12 else "")
        seen = f"its first record has the keys {listed}; name it with --dialect if you know it"
    elif first_line == 0:
        seen = "the log is empty"
    else:
        seen = "it has no readable record" + (" and looks like a binary file" if binary else "")
    yield Finding(f"no known protocol: {seen}", line=first_line)


@rule("S401", "record-before-header", Severity.ERROR, "event", "record")
def record_before_header(event: object, before: State, record: Object) -> Findings:
    """Report a log that does not begin with its config header, once, at line 1.

    A first line that cannot be read at all may have been the header; then that line's finding is the only one.

    Why: without a header nobody knows the metric nor which end of its scale wins.
    Example: a first line that is a run.
    Fix: unsafe where a header stands further down, which is moved up, or where one is given (`--metric NAME --direction
    lower`); else none by machine: look up what was measured, and which end of its scale is better.
    """
    if before.segment is None and before.records == 0:
        yield Finding(
            "the log does not begin with a config header: its records have no metric and no direction", line=1
        )


@rule("S402", "run-zero", Severity.WARNING, "event", "numbered run")
def run_zero(run: Run, before: State, record: Object) -> Findings:
    """Report a run numbered 0. One that repeats an earlier run 0 is reported as such instead.

    Why: runs count from 1; a reader that divides by the number, or takes 0 for none, goes wrong.
    Example: `{"run":0,…}`.
    Fix: none needed.
    """
    if run.run == 0 and 0 not in before.runs_seen:
        yield Finding("runs are numbered from 1, this one is run 0", "run")


@rule("S403", "run-gap", Severity.WARNING, "event", "numbered run")
def run_gap(run: Run, before: State, record: Object) -> Findings:
    """Report a run number that leaves out numbers after the run before it.

    Why: runs may have been lost. Numbers that unreadable records between account for are not reported.
    Example: run 19 after run 15.
    Fix: unsafe; the runs are numbered in file order. Only where no run was lost.
    """
    expected = _expected(before)
    if run.run not in before.runs_seen and run.run > expected + before.unread and run.run != 0:
        yield Finding(f"run {run.run} where run {expected} was expected", "run")


@rule("S404", "run-backwards", Severity.WARNING, "event", "numbered run")
def run_backwards(run: Run, before: State, record: Object) -> Findings:
    """Report a run number below the expected one that no run has borne.

    Why: the writer lost count, or records stand in the wrong order.
    Example: run 16 after run 21.
    Fix: unsafe; the runs are numbered in file order.
    """
    expected = _expected(before)
    if run.run not in before.runs_seen and 0 < run.run < expected:
        yield Finding(f"run {run.run} where run {expected} was expected", "run")


def _expected(before: State) -> int:
    return 1 if before.last_run is None else before.last_run + 1


@rule("S405", "repeated-run-number", Severity.WARNING, "event", "numbered run")
def repeated_run_number(run: Run, before: State, record: Object) -> Findings:
    """Report a run number that an earlier record of the log already bears.

    Why: parallel writers count for themselves, and a reader keyed on the number would merge two experiments.
    Example: `{"run":7,…}` twice.
    Fix: unsafe; the runs are numbered in file order.
    """
    if run.run in before.runs_seen:
        yield Finding(f"run {run.run} was logged before", "run")


@rule("S406", "mixed-time-units", Severity.WARNING, "event", "numbered run")
def mixed_time_units(run: Run, before: State, record: Object) -> Findings:
    """Report timestamps that count seconds here and milliseconds there, once a log.

    Why: a reader that assumes one unit sees runs in 1970 or in the far future.
    Example: `1700000000` after `1700000000000`.
    Fix: none needed; the unit is inferred for each record.
    """
    if run.time_unit in ("ms", "s") and before.time_unit not in (None, run.time_unit) and not before.units_mixed:
        words = {"ms": "milliseconds", "s": "seconds"}
        yield Finding(
            f"the timestamp counts {words[run.time_unit]}, earlier ones {words[str(before.time_unit)]}", "timestamp"
        )


@rule("S407", "stated-segment-differs", Severity.WARNING, "event", "numbered run")
def stated_segment_differs(run: Run, before: State, record: Object) -> Findings:
    """Report a run that states another segment than the region it stands in. The region wins, except in the verdict.

    Why: two sessions write into one file, or the writer counts headers differently.
    Example: `"segment":0` after the second header.
    Fix: unsafe; the region's is written.
    """
    region = before.segment.ordinal if before.segment else 0
    if run.stated is not None and not region <= run.stated <= region + before.headers_lost:
        yield Finding(f"the run states segment {run.stated}, it stands in segment {region}", "segment")


@rule("S408", "secondary-metric-missing", Severity.WARNING, "event", "numbered run")
def secondary_metric_missing(run: Run, before: State, record: Object) -> Findings:
    """Report secondary metrics that an earlier run of the segment had and this one lacks.

    Why: a metric that comes and goes cannot be followed. Crashes and failed checks are exempt, and so is a name that
    the run's `asi` mentions.
    Example: `"metrics":{"mem":5}` followed by `"metrics":{}`.
    Fix: none by machine; measure it, or say in `asi` why it is missing.
    """
    segment = before.segment
    if segment is None or segment.lost_header or run.status in ("crash", "checks_failed"):
        return
    asi, present = run.asi, run.metrics or {}
    missing = (name for name in segment.names if name not in present and not (asi and mentions(asi, name)))
    found = list(islice(missing, _LISTED + 1))
    if found:
        listed = ", ".join(map(repr, sorted(found[:_LISTED]))) + (" and more" if len(found) > _LISTED else "")
        yield Finding(f"earlier runs of the segment had {listed}", "metrics")


@rule("S409", "baseline-crashed", Severity.WARNING, "event", "numbered run", "result")
def baseline_crashed(run: Run, before: State, record: Object) -> Findings:
    """Report a segment whose first run crashed. The first run that measured something is its baseline.

    Why: a crash measured nothing, so nothing can be compared with it.
    Example: a first run with `"status":"crash"`.
    Fix: none needed.
    """
    segment = before.segment
    if run.status == "crash" and (segment is None or not (segment.runs or segment.lost_run)):
        yield Finding("the segment's first run crashed and is no baseline", "status")


@rule("S410", "confidence-differs", Severity.INFO, "event", "numbered run")
def confidence_differs(run: Run, before: State, record: Object) -> Findings:
    """Report a stored confidence that neither formula gives: over all measurements, or over those above 0.

    Why: the writer computed it otherwise; the views compute their own.
    Example: `"confidence":9.5` on a second run.
    Fix: none needed.
    """
    segment = before.segment
    if segment is None or segment.direction is None or segment.lost_run or segment.lost_header:
        return
    if run.confidence is not None and not segment.confidences_agree([run.metric], [run.status], [run.confidence]):
        yield Finding(f"the stored confidence {run.confidence} is not what the runs so far give", "confidence")


@rule("S411", "repeated-result", Severity.ERROR, "event", "result")
def repeated_result(run: Run, before: State, record: Object) -> Findings:
    """Report a second result for the same run.

    Why: decisions name a run by its number, so it must be one.
    Example: two results with `"run":2`.
    Fix: unsafe; the later one gets a number of its own, and so do the decisions on it that follow.
    """
    if run.run in before.results:
        yield Finding(f"run {run.run} has a result already, at line {before.results[run.run].run.place.line}", "run")


@rule("S412", "decision-without-result", Severity.ERROR, "event", "decision")
def decision_without_result(decision: Decision, before: State, record: Object) -> Findings:
    """Report a decision about a run whose result does not precede it.

    Why: nothing was measured that could be decided on.
    Example: `{"type":"decision","run":9,…}` before any result 9.
    Fix: none by machine; find the lost result, or remove the decision after review.
    """
    if decision.run not in before.results and not before.loses(decision.run):
        yield Finding(f"no result of run {decision.run} precedes the decision", "run")


@rule("S413", "decision-superseded", Severity.WARNING, "event", "decision")
def decision_superseded(decision: Decision, before: State, record: Object) -> Findings:
    """Report a decision that replaces an earlier one for the same run.

    Why: the later one counts; a reader that takes the first would disagree.
    Example: a `keep` and later a `discard` of run 2.
    Fix: none needed.
    """
    result = before.results.get(decision.run)
    if decision.action != "stop" and result is not None and result.action is not None:
        yield Finding(f"the decision replaces the earlier {result.action!r} of run {decision.run}", "action")
