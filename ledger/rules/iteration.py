"""Rules about one iteration of a codex history, and about guards (protocols.md 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.base.numbers import Number, better, compare
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity
from ledger.rules import rule

Findings = Iterator[Finding]
Record = Mapping[str, Any]
_ERROR = Severity.ERROR


@rule("E334", "wrong-iteration", _ERROR, "event", "codex:iteration")
def wrong_iteration(event: object, before: State, record: Record) -> Findings:
    """Report iterations that do not count 1, 2, 3.

    Why: an iteration was lost or written twice.
    Example: iteration 3 after iteration 1.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.follows(record["iteration"]):
        yield Finding(f"'iteration' is {record['iteration']}, expected {before.replay.iterations[0] + 1}", "iteration")


@rule("E335", "wrong-previous-metric", _ERROR, "event", "codex:iteration")
def wrong_previous_metric(event: object, before: State, record: Record) -> Findings:
    """Report a `previous_metric` that is not the retained one.

    Why: the trial was compared with a value that was not in force.
    Example: `"previous_metric":9` where 10 is retained.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.holds_metric(record["previous_metric"]):
        yield Finding(
            f"'previous_metric' is {record['previous_metric']}, {before.replay.metric} is retained", "previous_metric"
        )


def _rival(before: State, record: Record) -> Number:
    """Give the metric that the trial had to beat: the stated one where that may be the retained one."""
    stated, retained = record["previous_metric"], before.replay.metric
    return stated if retained is None or before.replay.holds_metric(stated) else retained


def _improves(before: State, record: Record) -> bool | None:
    """Tell whether the trial beats the retained metric; None where the direction is not known."""
    direction = before.replay.direction
    return None if direction is None else better(record["trial_metric"], _rival(before, record), direction)


@rule("E336", "keep-not-better", _ERROR, "event", "codex:iteration")
def keep_not_better(event: object, before: State, record: Record) -> Findings:
    """Report a kept trial that is not strictly better.

    Why: a keep must deserve its name.
    Example: a keep with an equal metric.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and _improves(before, record) is False:
        yield Finding(
            f"kept with {record['trial_metric']}, which is not better than {_rival(before, record)}", "outcome"
        )


@rule("E337", "keep-without-guard-pass", _ERROR, "event", "codex:iteration")
def keep_without_guard_pass(event: object, before: State, record: Record) -> Findings:
    """Report a kept trial whose guard did not pass (`pass` also where no guard is configured).

    Why: an improvement that breaks the guard is none.
    Example: a keep with `"guard":"fail"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["guard"] != "pass":
        yield Finding(f"kept with guard {record['guard']!r}, a keep needs 'pass'", "guard")


@rule("E338", "keep-head-differs", _ERROR, "event", "codex:iteration")
def keep_head_differs(event: object, before: State, record: Record) -> Findings:
    """Report a keep whose head is not the trial's commit.

    Why: what was measured is not what was kept.
    Example: `"head"` at the commit before the trial.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["head"] != record["trial_commit"]:
        yield Finding(f"'head' is {record['head']!r}, the kept trial is {record['trial_commit']!r}", "head")


@rule("E339", "keep-with-revert", _ERROR, "event", "codex:iteration")
def keep_with_revert(event: object, before: State, record: Record) -> Findings:
    """Report a keep that names a revert.

    Why: a reverted trial is not kept.
    Example: a keep with `"revert_commit":"abc1234"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["revert_commit"] is not None:
        yield Finding(f"kept, but 'revert_commit' is {record['revert_commit']!r} instead of null", "revert_commit")


@rule("E340", "wrong-retained-metric", _ERROR, "event", "codex:iteration")
def wrong_retained_metric(event: object, before: State, record: Record) -> Findings:
    """Report a `retained_metric` other than the trial's after a keep, or the former one after a discard.

    Why: the next iteration would be compared with a value that nothing measured.
    Example: a discard whose retained metric is the trial's.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    keep = record["outcome"] == "keep"
    due = [record["trial_metric"]] if keep else [_rival(before, record), record["previous_metric"]]
    if all(compare(record["retained_metric"], metric) for metric in due):
        yield Finding(
            f"'retained_metric' is {record['retained_metric']}, after this {record['outcome']} it is {due[0]}",
            "retained_metric",
        )


@rule("E341", "discard-without-revert", _ERROR, "event", "codex:iteration")
def discard_without_revert(event: object, before: State, record: Record) -> Findings:
    """Report a discard without a revert commit.

    Why: a discarded trial leaves a trace, or it is still in the tree.
    Example: a discard with `"revert_commit":null`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and record["revert_commit"] is None:
        yield Finding("discarded, but 'revert_commit' is null", "revert_commit")


@rule("E342", "discard-head-differs", _ERROR, "event", "codex:iteration")
def discard_head_differs(event: object, before: State, record: Record) -> Findings:
    """Report a discard whose head is not its revert commit.

    Why: the tree is not what the history says.
    Example: `"head"` at the trial after a discard.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and record["revert_commit"] not in (None, record["head"]):
        yield Finding(f"'head' is {record['head']!r}, the revert is {record['revert_commit']!r}", "head")


@rule("E343", "better-trial-discarded", _ERROR, "event", "codex:iteration")
def better_trial_discarded(event: object, before: State, record: Record) -> Findings:
    """Report a better trial that was discarded though no configured guard failed.

    Why: only a guard may throw an improvement away.
    Example: a discard of a better metric with `"guard":"not_run"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    guarded = before.replay.guarded
    if record["outcome"] == "discard" and _improves(before, record) and (record["guard"] != "fail" or guarded is False):
        why = "no guard is configured" if guarded is False else f"the guard is {record['guard']!r}"
        yield Finding(
            f"discarded though {record['trial_metric']} is better than {_rival(before, record)} and {why}", "outcome"
        )


@rule("E344", "guard-run-for-nothing", _ERROR, "event", "codex:iteration")
def guard_run_for_nothing(event: object, before: State, record: Record) -> Findings:
    """Report a trial that is not better and yet states a guard run.

    Why: the guard runs only for an improvement; the history does not tell what happened.
    Example: a worse discard with `"guard":"pass"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and _improves(before, record) is False and record["guard"] != "not_run":
        yield Finding(f"the trial is not better, so its guard must be 'not_run', not {record['guard']!r}", "guard")


@rule("E345", "guard-log-missing", _ERROR, "event", "codex:iteration", "codex:baseline")
def guard_log_missing(event: object, before: State, record: Record) -> Findings:
    """Report a baseline, keep or guard failure without its guard's log, where a guard is configured.

    Why: the proof that the guard ran is missing.
    Example: a keep with `"guard_log":null` in a guarded run.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    due = (
        record["event"] == "baseline"
        or record["outcome"] == "keep"
        or (record["guard"] == "fail" and _improves(before, record) is not False)
    )
    if before.replay.guarded and due and record["guard_log"] is None:
        yield Finding("a guard is configured, but 'guard_log' is null", "guard_log")


@rule("E346", "guard-log-without-guard", _ERROR, "event", "codex:iteration", "codex:baseline")
def guard_log_without_guard(event: object, before: State, record: Record) -> Findings:
    """Report a guard's log where no guard is configured, or where it was not to run.

    Why: the log is of something else.
    Example: `"guard_log":"logs/guard-1.txt"` in a run without a guard.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["guard_log"] is None:
        return
    if before.replay.guarded is False:
        yield Finding(f"no guard is configured, but 'guard_log' is {record['guard_log']!r}", "guard_log")
    elif record["event"] == "iteration" and record["outcome"] == "discard" and _improves(before, record) is False:
        yield Finding(f"the trial is not better, so 'guard_log' must be null, not {record['guard_log']!r}", "guard_log")
