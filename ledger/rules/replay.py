"""Rules about a codex history replayed against its run.json (protocols.md 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.fold.replay import TERMINAL
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity
from ledger.rules import rule

Findings = Iterator[Finding]
Record = Mapping[str, Any]
_ERROR = Severity.ERROR


@rule("E330", "run-json-missing", _ERROR, "end", "run-json")
def run_json_missing(problem: str, before: State) -> Findings:
    """Report a codex history whose run.json is missing or unreadable.

    Why: without it nobody knows the direction, the guard or the target, so the history cannot be judged.
    Example: an events.jsonl alone in its folder.
    Fix: none by machine; restore run.json from the repository's history.
    """
    yield Finding(problem, line=0, source="run.json")


@rule("E331", "baseline-not-first", _ERROR, "event", "codex:any")
def baseline_not_first(event: object, before: State, record: Record) -> Findings:
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
def wrong_seq(event: object, before: State, record: Record) -> Findings:
    """Report a `seq` that is not the record's position, counted from 0.

    Why: an event was inserted, lost or moved.
    Example: `"seq":5` on the fifth record.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["seq"] != before.records:
        yield Finding(f"'seq' is {record['seq']}, the record's position is {before.records}", "seq")


@rule("E333", "wrong-run-id", _ERROR, "event", "codex:any")
def wrong_run_id(event: object, before: State, record: Record) -> Findings:
    """Report a `run_id` that is not run.json's.

    Why: the event belongs to another run.
    Example: two runs' events in one file.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    config = before.replay.config
    if config is not None and record["run_id"] != config.get("run_id"):
        yield Finding(f"'run_id' is {record['run_id']!r}, run.json's is {config.get('run_id')!r}", "run_id")


@rule("E347", "wrong-terminal-metric", _ERROR, "event", "codex:terminal")
def wrong_terminal_metric(event: object, before: State, record: Record) -> Findings:
    """Report a terminal or resumed event that does not carry the retained metric.

    Why: the run would end, or go on, with a value that nothing measured.
    Example: `stopped` with the last trial's metric after a discard.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if not before.replay.holds_metric(record["metric"]):
        yield Finding(f"'metric' is {record['metric']}, {before.replay.metric} is retained", "metric")


@rule("E348", "wrong-terminal-head", _ERROR, "event", "codex:terminal")
def wrong_terminal_head(event: object, before: State, record: Record) -> Findings:
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
def revert_without_trial(event: object, before: State, record: Record) -> Findings:
    """Report an error that reverted a trial it does not name.

    Why: a revert undoes a commit; which one must be told.
    Example: `"trial_commit":null,"revert_commit":"abc1234"`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "error" and record["revert_commit"] is not None and record["trial_commit"] is None:
        yield Finding(f"'revert_commit' is {record['revert_commit']!r}, but 'trial_commit' is null", "revert_commit")


@rule("E350", "complete-without-target", _ERROR, "event", "codex:terminal")
def complete_without_target(event: object, before: State, record: Record) -> Findings:
    """Report a `complete` though the target is not met.

    Why: only the target completes a run; everything else stops it.
    Example: `complete` with metric 12 and target 10, lower wins.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "complete" and before.replay.target_met() is False:
        target = (before.replay.config or {}).get("target")
        yield Finding(f"complete with {before.replay.metric}, the target is {target}", "event")


@rule("E351", "event-after-end", _ERROR, "event", "codex:any")
def event_after_end(event: object, before: State, record: Record) -> Findings:
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
def resumed_unreverted(event: object, before: State, record: Record) -> Findings:
    """Report a run resumed after an error whose trial was not reverted.

    Why: the failed trial is still in the tree.
    Example: `resumed` after an error with a trial and `"revert_commit":null`.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    replay = before.replay
    if record["event"] == "resumed" and replay.status == "error" and replay.unreverted and not replay.lost:
        yield Finding("resumed after an error whose trial was not reverted", "event")


@rule("E353", "resumed-while-active", _ERROR, "event", "codex:terminal")
def resumed_while_active(event: object, before: State, record: Record) -> Findings:
    """Report a `resumed` where nothing had stopped.

    Why: an event that stopped the run was lost.
    Example: `resumed` after an iteration.
    Fix: none by machine; restore the history from another copy, or accept the finding if it is true.
    """
    if record["event"] == "resumed" and before.replay.status == "active" and not before.replay.lost:
        yield Finding("'resumed', but the run was active", "event")


@rule("E354", "active-past-target", _ERROR, "end", "codex")
def active_past_target(before: State) -> Findings:
    """Report a history that ends active though its target is met.

    Why: the event that completes it is missing.
    Example: a kept metric of 9 with target 10, lower wins, as the last event.
    Fix: none by machine; append the event that is missing, or accept the finding if it is true.
    """
    if before.replay.status == "active" and before.replay.target_met():
        target = (before.replay.config or {}).get("target")
        yield Finding(f"still active, but {before.replay.metric} meets the target {target}")


@rule("E355", "active-past-limit", _ERROR, "end", "codex")
def active_past_limit(before: State) -> Findings:
    """Report a history that ends active though `max_iterations` is reached.

    Why: the event that stops it is missing.
    Example: 10 iterations with `"max_iterations":10` and no `stopped`.
    Fix: none by machine; append the event that is missing, or accept the finding if it is true.
    """
    limit = (before.replay.config or {}).get("max_iterations")
    done = before.replay.iterations[0]
    replay = before.replay
    if replay.status != "active" or replay.lost or replay.target_met():
        return
    if type(limit) is int and done >= limit:
        yield Finding(f"still active after {done} iterations, 'max_iterations' is {limit}")
