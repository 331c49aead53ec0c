"""The rules of the `codex` protocol: its exact keys, and its history replayed against run.json (protocols.md 4)."""

import re

from ledger.base.numbers import Number, better, compare
from ledger.dialects.base import Object, Record, objects
from ledger.fold.replay import TERMINAL
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity, article, show
from ledger.log.rule import Findings, rule

OWN = "codex"
"""The subject of the rules about a record or the end of the log."""
_ERROR = Severity.ERROR


@rule("R207", "unknown-key", Severity.ERROR, "record", OWN)
def unknown_key(record: Record) -> Findings:
    """Report a key that a codex record must not have.

    Why: run.json and its events have an exact set of keys; the tool that owns them refuses any other.
    Example: `"notes"` in an iteration.
    Fix: none by machine; move the information to the description.
    """
    for prefix, fields, values in objects(record) if record.kind.exact else ():
        known = {field.key for field in fields}
        for key in values:
            if key not in known:
                yield Finding(f"{article(record.kind.name)} has no key {prefix + key!r}", key)


@rule("R220", "irregular-scope", Severity.ERROR, "record", OWN)
def irregular_scope(record: Record) -> Findings:
    """Report a scope entry that is no plain path inside the repository.

    Why: the scope says what an experiment may change; a glob, `..` or an absolute path says more than was confirmed.
    Example: `"scope":["src/*.py"]`.
    Fix: none by machine; list the paths.
    """
    scope = record.values.get("scope")
    if record.kind.name == "run.json" and isinstance(scope, list):
        for path in scope:
            if isinstance(path, str) and (
                not path or re.search(r"[*?\[\]]|^[/\\~]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)", path)
            ):
                yield Finding(
                    f"'scope' must list repository-relative paths without globs or '..', not {show(path)}", "scope"
                )


@rule("E330", "run-json-missing", _ERROR, "end", "run.json")
def run_json_missing(problem: str, before: State) -> Findings:
    """Report a codex history whose run.json is missing or unreadable.

    Why: without it nobody knows the direction, the guard or the target, so the history cannot be judged.
    Example: an events.jsonl alone in its folder.
    Fix: none by machine; restore run.json from the repository's history.
    """
    yield Finding(problem, line=0, source="run.json")


@rule("E331", "baseline-not-first", _ERROR, "event", "codex:any")
def baseline_not_first(event: object, before: State, record: Object) -> Findings:
    """Report a history that does not begin with its baseline, or a second baseline.

    Why: everything is compared with the one measurement that came first.
    Example: an iteration as the first event.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    first = before.records == 0
    if first and record["event"] != "baseline":
        yield Finding(f"the first event must be 'baseline', not {record['event']!r}", "event")
    elif not first and record["event"] == "baseline" and (before.replay.metrics or not before.replay.lost):
        yield Finding("'baseline' must stand first and once", "event")


@rule("E332", "wrong-seq", _ERROR, "event", "codex:any")
def wrong_seq(event: object, before: State, record: Object) -> Findings:
    """Report a `seq` that is not the record's position, counted from 0.

    Why: an event was inserted, lost or moved.
    Example: `"seq":5` on the fifth record.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["seq"] != before.records:
        yield Finding(f"'seq' is {record['seq']}, the record's position is {before.records}", "seq")


@rule("E333", "wrong-run-id", _ERROR, "event", "codex:any")
def wrong_run_id(event: object, before: State, record: Object) -> Findings:
    """Report a `run_id` that is not run.json's.

    Why: the event belongs to another run.
    Example: two runs' events in one file.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    config = before.replay.config
    if config is not None and record["run_id"] != config.get("run_id"):
        yield Finding(f"'run_id' is {record['run_id']!r}, run.json's is {config.get('run_id')!r}", "run_id")


@rule("E334", "wrong-iteration", _ERROR, "event", "codex:iteration")
def wrong_iteration(event: object, before: State, record: Object) -> Findings:
    """Report iterations that do not count 1, 2, 3.

    Why: an iteration was lost or written twice.
    Example: iteration 3 after iteration 1.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.follows(record["iteration"]):
        yield Finding(f"'iteration' is {record['iteration']}, expected {before.replay.iterations[0] + 1}", "iteration")


@rule("E335", "wrong-previous-metric", _ERROR, "event", "codex:iteration")
def wrong_previous_metric(event: object, before: State, record: Object) -> Findings:
    """Report a `previous_metric` that is not the retained one.

    Why: the trial was compared with a value that was not in force.
    Example: `"previous_metric":9` where 10 is retained.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.holds_metric(record["previous_metric"]):
        yield Finding(
            f"'previous_metric' is {record['previous_metric']}, {before.replay.metric} is retained", "previous_metric"
        )


def _rival(before: State, record: Object) -> Number:
    """Give the metric that the trial had to beat: the stated one where that may be the retained one."""
    stated, retained = record["previous_metric"], before.replay.metric
    return stated if retained is None or before.replay.holds_metric(stated) else retained


def _improves(before: State, record: Object) -> bool | None:
    """Tell whether the trial beats the retained metric; None where the direction is not known."""
    direction = before.replay.direction
    return None if direction is None else better(record["trial_metric"], _rival(before, record), direction)


@rule("E336", "keep-not-better", _ERROR, "event", "codex:iteration")
def keep_not_better(event: object, before: State, record: Object) -> Findings:
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
def keep_without_guard_pass(event: object, before: State, record: Object) -> Findings:
    """Report a kept trial whose guard did not pass (`pass` also where no guard is configured).

    Why: an improvement that breaks the guard is none.
    Example: a keep with `"guard":"fail"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["guard"] != "pass":
        yield Finding(f"kept with guard {record['guard']!r}, a keep needs 'pass'", "guard")


@rule("E338", "keep-head-differs", _ERROR, "event", "codex:iteration")
def keep_head_differs(event: object, before: State, record: Object) -> Findings:
    """Report a keep whose head is not the trial's commit.

    Why: what was measured is not what was kept.
    Example: `"head"` at the commit before the trial.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["head"] != record["trial_commit"]:
        yield Finding(f"'head' is {record['head']!r}, the kept trial is {record['trial_commit']!r}", "head")


@rule("E339", "keep-with-revert", _ERROR, "event", "codex:iteration")
def keep_with_revert(event: object, before: State, record: Object) -> Findings:
    """Report a keep that names a revert.

    Why: a reverted trial is not kept.
    Example: a keep with `"revert_commit":"abc1234"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "keep" and record["revert_commit"] is not None:
        yield Finding(f"kept, but 'revert_commit' is {record['revert_commit']!r} instead of null", "revert_commit")


@rule("E340", "wrong-retained-metric", _ERROR, "event", "codex:iteration")
def wrong_retained_metric(event: object, before: State, record: Object) -> Findings:
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
def discard_without_revert(event: object, before: State, record: Object) -> Findings:
    """Report a discard without a revert commit.

    Why: a discarded trial leaves a trace, or it is still in the tree.
    Example: a discard with `"revert_commit":null`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and record["revert_commit"] is None:
        yield Finding("discarded, but 'revert_commit' is null", "revert_commit")


@rule("E342", "discard-head-differs", _ERROR, "event", "codex:iteration")
def discard_head_differs(event: object, before: State, record: Object) -> Findings:
    """Report a discard whose head is not its revert commit.

    Why: the tree is not what the history says.
    Example: `"head"` at the trial after a discard.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and record["revert_commit"] not in (None, record["head"]):
        yield Finding(f"'head' is {record['head']!r}, the revert is {record['revert_commit']!r}", "head")


@rule("E343", "better-trial-discarded", _ERROR, "event", "codex:iteration")
def better_trial_discarded(event: object, before: State, record: Object) -> Findings:
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
def guard_run_for_nothing(event: object, before: State, record: Object) -> Findings:
    """Report a trial that is not better and yet states a guard run.

    Why: the guard runs only for an improvement; the history does not tell what happened.
    Example: a worse discard with `"guard":"pass"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["outcome"] == "discard" and _improves(before, record) is False and record["guard"] != "not_run":
        yield Finding(f"the trial is not better, so its guard must be 'not_run', not {record['guard']!r}", "guard")


@rule("E345", "guard-log-missing", _ERROR, "event", "codex:iteration", "codex:baseline")
def guard_log_missing(event: object, before: State, record: Object) -> Findings:
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
def guard_log_without_guard(event: object, before: State, record: Object) -> Findings:
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


@rule("E347", "wrong-terminal-metric", _ERROR, "event", "codex:terminal")
def wrong_terminal_metric(event: object, before: State, record: Object) -> Findings:
    """Report a terminal or resumed event that does not carry the retained metric.

    Why: the run would end, or go on, with a value that nothing measured.
    Example: `stopped` with the last trial's metric after a discard.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.holds_metric(record["metric"]):
        yield Finding(f"'metric' is {record['metric']}, {before.replay.metric} is retained", "metric")


@rule("E348", "wrong-terminal-head", _ERROR, "event", "codex:terminal")
def wrong_terminal_head(event: object, before: State, record: Object) -> Findings:
    """Report a terminal or resumed event whose head is not the retained one.

    Why: the tree is not what the history says. An error carries its revert, else its trial, else the retained head.
    Example: `blocked` with an unknown head.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    due = record.get("revert_commit") or record.get("trial_commit") if record["event"] == "error" else None
    if due is not None and record["head"] != due:
        yield Finding(f"'head' is {record['head']!r}, the error left {due!r}", "head")
    elif due is None and not before.replay.holds_head(record["head"]):
        yield Finding(f"'head' is {record['head']!r}, {before.replay.head!r} is retained", "head")


@rule("E349", "revert-without-trial", _ERROR, "event", "codex:terminal")
def revert_without_trial(event: object, before: State, record: Object) -> Findings:
    """Report an error that reverted a trial it does not name.

    Why: a revert undoes a commit; which one must be told.
    Example: `"trial_commit":null,"revert_commit":"abc1234"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "error" and record["revert_commit"] is not None and record["trial_commit"] is None:
        yield Finding(f"'revert_commit' is {record['revert_commit']!r}, but 'trial_commit' is null", "revert_commit")


@rule("E350", "complete-without-target", _ERROR, "event", "codex:terminal")
def complete_without_target(event: object, before: State, record: Object) -> Findings:
    """Report a `complete` though the target is not met.

    Why: only the target completes a run; everything else stops it.
    Example: `complete` with metric 12 and target 10, lower wins.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "complete" and before.replay.target_met() is False:
        target = (before.replay.config or {}).get("target")
        yield Finding(f"complete with {before.replay.metric}, the target is {target}", "event")


@rule("E351", "event-after-end", _ERROR, "event", "codex:any")
def event_after_end(event: object, before: State, record: Object) -> Findings:
    """Report an event after `complete`, or one other than `resumed` after `blocked`, `stopped` or `error`.

    Why: the run had ended.
    Example: an iteration after `stopped`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    status = "" if before.replay.lost else before.replay.status
    if status == "complete" or (status in TERMINAL and record["event"] not in ("resumed", "baseline")):
        after = "nothing follows it" if status == "complete" else "only 'resumed' follows it"
        yield Finding(f"{record['event']!r} after {status!r}: {after}", "event")


@rule("E352", "resumed-unreverted", _ERROR, "event", "codex:terminal")
def resumed_unreverted(event: object, before: State, record: Object) -> Findings:
    """Report a run resumed after an error whose trial was not reverted.

    Why: the failed trial is still in the tree.
    Example: `resumed` after an error with a trial and `"revert_commit":null`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    replay = before.replay
    if record["event"] == "resumed" and replay.status == "error" and replay.unreverted and not replay.lost:
        yield Finding("resumed after an error whose trial was not reverted", "event")


@rule("E353", "resumed-while-active", _ERROR, "event", "codex:terminal")
def resumed_while_active(event: object, before: State, record: Object) -> Findings:
    """Report a `resumed` where nothing had stopped.

    Why: an event that stopped the run was lost.
    Example: `resumed` after an iteration.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "resumed" and before.replay.status == "active" and not before.replay.lost:
        yield Finding("'resumed', but the run was active", "event")


@rule("E354", "active-past-target", _ERROR, "end", OWN)
def active_past_target(before: State) -> Findings:
    """Report a history that ends active though its target is met.

    Why: the event that completes it is missing.
    Example: a kept metric of 9 with target 10, lower wins, as the last event.
    Fix: none by machine; append the event that is missing, or accept the finding if it is true.
    """
    if before.replay.status == "active" and before.replay.target_met():
        target = (before.replay.config or {}).get("target")
        yield Finding(f"still active, but {before.replay.metric} meets the target {target}")


@rule("E355", "active-past-limit", _ERROR, "end", OWN)
def active_past_limit(before: State) -> Findings:
    """Report a history that ends active though `max_iterations` is reached.

    Why: the event that stops it is missing.
    Example: 10 iterations with `"max_iterations":10` and no `stopped`.
    Fix: none by machine; append the event that is missing, or accept the finding if it is true.
    """
    replay = before.replay
    limit, done = (replay.config or {}).get("max_iterations"), replay.iterations[0]
    ends = limit is not None and done >= limit and not replay.target_met()
    if ends and replay.status == "active" and not replay.lost:
        yield Finding(f"still active after {done} iterations, 'max_iterations' is {limit}")
