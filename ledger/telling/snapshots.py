"""The two snapshots of a session, made anew after each accepted append and never read as truth (protocols.md 7)."""

import time
from collections.abc import Mapping
from itertools import islice
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import show_path
from ledger.base.times import iso
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.verdict import Verdict
from ledger.log.events import Run
from ledger.session.files import Session
from ledger.session.history import History, latest
from ledger.session.standing import judge_session
from ledger.telling.advice import advice
from ledger.telling.dashboard import dashboard
from ledger.telling.figures import counts, verdict_of
from ledger.telling.markdown_text import exact
from ledger.telling.other_records import OtherRecords, details, moment, other_records

MOST_ERRORS = 5


def write(session: Session, history: History) -> None:
    """Write both snapshots, each beside its place and then moved there. Raises LedgerError if that fails.

    They depend on the log alone, but for a verdict that asks the time. Who calls holds the log's lock, lest an older
    state takes the place of a newer.
    """
    verdict = judge_session(history.state, session, None, time.time_ns() // 1_000_000)
    noted = other_records(history)
    texts = (_pretty(state_of(session, history, verdict, noted)) + "\n", dashboard(session, history, verdict, noted))
    for path, text in zip(session.snapshots(), texts, strict=True):
        put(path, text.encode("utf-8", "backslashreplace"))


def refresh(session: Session, history: History) -> str | None:
    """Write both snapshots after an append; give what went wrong as a sentence, since the append has happened."""
    try:
        write(session, history)
    except LedgerError as error:
        return f"the snapshots are out of date: {error}; ledger snapshot writes them again"
    return None


def state_of(session: Session, history: History, verdict: Verdict, noted: OtherRecords) -> dict[str, Any]:
    """Make what AUTORESEARCH_STATE.json holds."""
    state, segment, log = history.state, history.state.current(), history.log
    return {
        "generated": f"by ledger from {show_path(session.log.name)}; a cache, never read as truth",
        "updated_at": iso(noted.updated_ms),
        "active_config": noted.header,
        "state": "stopped" if state.stopped else state.status,
        "verdict": verdict_of(log, verdict),
        "segment": segment.ordinal,
        "runs": segment.runs,
        "next_run": next_run(state),
        "baseline": _point(segment.baseline_run, segment.baseline),
        "best": _point(segment.best_run, segment.best),
        "improvement_pct": segment.improvement_pct,
        "confidence": segment.confidence,
        "streak": segment.streak.current,
        "longest_streak": segment.streak.longest,
        "counts_by_action": {"total": segment.runs, **counts(state)},
        "latest_errors": _latest_errors(history, noted),
        "log_errors": [
            f"{one.source or session.log.name}:{one.line}:{one.column}: {one.code} {one.message}"
            for one in islice((one for one in log.diagnostics if one.is_error), MOST_ERRORS)
        ],
        "resume_instruction": advice(history, session, verdict),
    }


def _point(run: int | None, value: object) -> dict[str, Any] | None:
    return None if value is None else {"run": run, "value": value}


def _latest_errors(history: History, noted: OtherRecords) -> list[dict[str, Any]]:
    """Give the last errors of the whole log, oldest first."""
    policy = policy_of(history.state)
    if policy.has_events:
        stops = [event for event in noted.events if event.get("event") == "error"][-MOST_ERRORS:]
        return [
            {"status": "error", "description": stop.get("reason"), "at": iso(moment(stop.get("time")))}
            | {key: stop.get(key) for key in ("trial_commit", "revert_commit", "log")}
            for stop in stops
        ]
    failed = islice(latest(history, statuses=policy.errors), MOST_ERRORS)
    return [_failure(run, noted) for run in failed][::-1]


def _failure(run: Run, noted: OtherRecords) -> dict[str, Any]:
    made = {"run": run.run, "status": run.status, "description": run.description, "at": iso(run.at_ms)}
    if (said := details(run).asi.get("error_details")) is not None:
        made["error_details"] = said
    if decided := noted.decisions.get(run.run):
        made["reason"] = decided[-1].get("reason")
    return made


def _pretty(value: Any, indent: str = "") -> str:
    """Write a value as indented JSON, its numbers exactly."""
    deeper = indent + "  "
    if isinstance(value, Mapping) and value:
        inner = (f"{deeper}{exact(key)}: {_pretty(item, deeper)}" for key, item in value.items())
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{deeper}{_pretty(item, deeper)}" for item in value) + f"\n{indent}]"
    return exact(value)
