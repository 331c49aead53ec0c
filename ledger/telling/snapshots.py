"""The two snapshots of a session, made anew after each accepted append and never read as truth (protocols.md 7).

One is a JSON object for programs, the other, the dashboard, a page of Markdown for people.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import show_path
from ledger.base.text import counted, cut, plain
from ledger.base.times import iso
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.confidence import word
from ledger.fold.segment import Segment
from ledger.fold.verdict import Verdict
from ledger.log.events import Run
from ledger.session.files import Session
from ledger.session.history import History, latest
from ledger.session.standing import judge_session
from ledger.telling.figures import (
    NOTHING,
    baseline,
    best,
    counts,
    delta,
    goal,
    is_best,
    loop_state,
    measure,
    metric,
    runs_of,
    short,
    verdict_of,
)
from ledger.telling.guidance import advice
from ledger.telling.markdown_text import exact, inline, table
from ledger.telling.other_records import OtherRecords, details, moment, other_records

LAST_RUNS = 20
DESCRIPTION_WIDTH = 120
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


def dashboard(session: Session, history: History, verdict: Verdict, noted: OtherRecords) -> str:
    """Write the page: where the session stands, its last runs, its segments. It ends with a line end."""
    segment = history.state.current()
    runs = list(islice(latest(history, segment.ordinal), LAST_RUNS))[::-1]
    parts = [
        f"# {inline(goal(segment))}",
        f"Generated by ledger from {inline(show_path(session.log.name))}; a cache, never read as truth."
        + (f" Last record: {iso(noted.updated_ms)}." if noted.updated_ms is not None else ""),
        "\n".join(f"- {label}: {value}" for label, value in _facts(history, verdict)),
        f"> {advice(history, session, verdict)}",
        f"## Last runs\n\n{_table(segment, runs) if runs else 'No run yet.'}",
        f"## Segments\n\n{segments_table(history.segments())}",
    ]
    return "\n\n".join(parts) + "\n"


def _facts(history: History, verdict: Verdict) -> Iterator[tuple[str, str]]:
    state, segment = history.state, history.state.current()
    yield "metric", inline(measure(segment))
    yield "baseline", inline(baseline(segment))
    yield "best", inline(best(segment))
    if (confidence := segment.confidence) is not None:
        yield "confidence", f"{short(confidence)}× ({word(confidence)})"
    yield "runs", runs_of(state)
    yield "streak", f"{counted(segment.streak.current, 'failed run')} in a row"
    yield "state", loop_state(state)
    yield "verdict", verdict_of(history.log, verdict)
    yield "next run", str(next_run(state))


def _table(segment: Segment, runs: Sequence[Run]) -> str:
    best_of = next((run for run in runs if is_best(segment, run)), None)
    head = ("run", "status", inline(segment.metric_name or "metric"), "delta", "confidence", "commit", "description")
    more = len(segment.statuses) - len(runs)
    rows = [_row(segment, run, run is best_of) for run in runs]
    return table(head, rows) + (f"\n\n{counted(more, 'earlier run')} left out." if more > 0 else "")


def _row(segment: Segment, run: Run, is_the_best: bool) -> tuple[str, ...]:
    return (
        f"**{run.run}**" if is_the_best else str(run.run),
        run.status,
        metric(run),
        delta(run, segment.baseline),
        NOTHING if run.confidence is None else short(run.confidence),
        inline(run.commit or "") or NOTHING,
        inline(cut(plain(run.description or ""), DESCRIPTION_WIDTH)) or NOTHING,
    )


def segments_table(segments: Sequence[Segment]) -> str:
    """Write a line of a table for each segment."""
    head = ("segment", "goal", "metric", "baseline", "best", "runs")
    rows = [
        (
            str(one.ordinal), inline(cut(goal(one), DESCRIPTION_WIDTH)), inline(measure(one)),
            inline(baseline(one)), inline(best(one)), f"{one.runs:,}",
        )
        for one in segments
    ]  # fmt: skip
    return table(head, rows)
