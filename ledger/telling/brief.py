"""The brief: Markdown for an agent that has lost its context, made of the log and the session's files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.numbers import is_number, text
from ledger.base.paths import show_path
from ledger.base.text import counted
from ledger.base.times import iso
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.confidence import word
from ledger.fold.verdict import Verdict
from ledger.log.diagnostics import Severity
from ledger.log.source import read_small
from ledger.session.files import Session
from ledger.session.history import History
from ledger.session.messages import Message
from ledger.telling import earlier_runs
from ledger.telling.figures import NOTHING, baseline, best, goal, loop_state, measure, runs_of, short, target_of
from ledger.telling.guidance import advice, prompt_name, rules, streak_advice
from ledger.telling.markdown_text import code, exact, fenced, inline, verbatim
from ledger.telling.other_records import OtherRecords, other_records
from ledger.telling.snapshots import segments_table

MOST_FINDINGS = 10
_TOLD = ("schema_version", "run_id", "event")  # ahead of an event, or the same in all of them


def brief(session: Session, history: History, verdict: Verdict, now_ms: int, *, notes: Sequence[Message] = ()) -> str:
    """Write the brief, lossless for the last 50 runs; it ends with a line end.

    `notes` open it: a person's words and what hooks said. `now_ms` is UTC milliseconds, and only a limit of minutes
    asks for it. Nothing that a log or file holds can break the page's structure. Raises LedgerError if the log cannot
    be read again.
    """
    noted = other_records(history)
    told = earlier_runs.all_runs(history)
    errors = sum(found.is_error for found in history.log.diagnostics)
    sections = {
        "Where the session stands": "\n".join(
            f"- {label}: {value}" for label, value in _facts(session, history, verdict, noted, now_ms)
        ),
        "Findings in the log": _findings(history),
        f"Prompt: {code(prompt_name(session))}": _file(session.file("prompt"), "`ledger loop --resume` rebuilds it"),
        "Notes of the settings": fenced(session.settings.notes) if session.settings.notes else "",
        "Rules": "\n".join(f"- {rule}" for rule in rules(session, history, noted)),
        "Segments": segments_table(history.segments()),
        "Config record": code(exact(noted.header)) if noted.header else "",
        "Secondary metrics": earlier_runs.secondary(history),
        "Dead ends and hints": earlier_runs.hints(told, noted),
        "Events": "\n".join(
            f"- {inline(str(one.get('event')))}: {code(exact({key: one[key] for key in one if key not in _TOLD}))}"
            for one in noted.events
        ),
        "Runs before the last 50": earlier_runs.earlier(told),
        "Runs" if len(told) <= earlier_runs.WHOLE else "Last 50 runs": earlier_runs.recent(told, noted)
        or "No run yet.",
        f"Ideas: {code(session.file('ideas').name)}": _file(session.file("ideas"), ""),
        "Now": _now(session, history, verdict),
    }
    parts = [f"**Stop: the log has {counted(errors, 'error')}; run `ledger check`.**"] if errors else []
    parts += ["# Read this first"] if notes else []  # what is new comes before everything else
    parts += [
        f"From {inline(one.source)}{f', {inline(one.at)}' if one.at else ''}:\n\n{fenced(one.text)}" for one in notes
    ]
    parts += [f"# Brief: {inline(goal(history.state.current()))}"]
    parts += [f"## {title}\n\n{content}" for title, content in sections.items() if content]
    return "\n\n".join(parts) + "\n"


def _facts(
    session: Session, history: History, verdict: Verdict, noted: OtherRecords, now_ms: int
) -> Iterator[tuple[str, str]]:
    state, segment, log = history.state, history.state.current(), history.log
    path = session.log.relative_to(session.folder) if session.log.is_relative_to(session.folder) else session.log
    yield "goal", inline(goal(segment))
    yield "log", f"{code(show_path(path))} ({log.dialect or 'no known protocol'})"
    yield "metric", inline(measure(segment))
    yield "baseline", inline(baseline(segment))
    yield "best", inline(best(segment))
    if (confidence := segment.confidence) is not None:
        yield "confidence in the best", f"{short(confidence)}× ({word(confidence)})"
    yield "runs", runs_of(state)
    if undecided := [str(one.run.run) for one in earlier_runs.all_runs(history) if one.run.status == "measured"]:
        said = "decide each: `ledger decide RUN keep|discard --reason TEXT`"
        yield "undecided", f"run{'s' * (len(undecided) > 1)} {', '.join(undecided)}; {said}"
    if (head := policy_of(state).retained_head(state)) is not None:
        retained = policy_of(state).to_beat(state)
        held = NOTHING if retained is None else text(retained)
        yield "retained", f"{held} at head {verbatim(head) if head else NOTHING}"
    if (target := target_of(state)) is not None:
        yield "target", target
    if verdict.verdict != "concluded":
        yield from _limits(session, history, noted, now_ms)
    yield "streak", f"{counted(verdict.streak, 'failed run')} in a row"
    yield "state", loop_state(state)


def _limits(session: Session, history: History, noted: OtherRecords, now_ms: int) -> Iterator[tuple[str, str]]:
    segment = history.state.current()
    stated = (noted.header or {}).get(policy_of(history.state).limit_key)
    limit: Any = stated if is_number(stated) else session.settings.max_iterations
    if limit:
        yield "limit of runs", f"{segment.runs:,} of {text(limit)} made"
    minutes: Any = segment.settings.get("max_minutes")
    if minutes and is_number(minutes) and segment.created_ms is not None:
        gone = max(0, now_ms - segment.created_ms) // 60_000
        yield "limit of time", f"{gone:,} of {text(minutes)} minutes gone since {iso(segment.created_ms)}"


def _findings(history: History) -> str:
    """List the log's errors, and count its warnings by name."""
    found = history.log.diagnostics
    errors = [one for one in found if one.is_error]
    lines = [f"- line {one.line}: {one.code} {inline(one.message)}" for one in errors[:MOST_FINDINGS]]
    if len(errors) > MOST_FINDINGS:
        lines.append(f"- {counted(len(errors) - MOST_FINDINGS, 'further error')}")
    warnings = [one.name for one in found if one.severity is Severity.WARNING]
    lines += [f"- {counted(warnings.count(name), 'warning')}: {name}" for name in dict.fromkeys(warnings)]
    return "\n".join(lines)


def _file(path: Path, missing: str) -> str:
    """Give a session file's text; a short word on it where it cannot be given."""
    try:
        data = read_small(path)
    except LedgerError as error:
        return f"It cannot be read: {inline(str(error))}."
    if data is None:
        return f"There is no such file: {missing}." if missing else ""
    return fenced(data.decode("utf-8-sig", "replace"), "markdown") if data.strip() else "It is empty."


def _now(session: Session, history: History, verdict: Verdict) -> str:
    word_of = verdict.verdict if history.log.ok else "stop, the log has errors"
    goes_on = history.log.ok and verdict.verdict == "continue"
    parts = [
        streak_advice(verdict.streak, session.file("ideas").name) if goes_on else "",
        f"- verdict: {word_of}\n- next run: {next_run(history.state)}",
        "Go on with the next run, by the rules above." if goes_on else advice(history, session, verdict),
    ]
    return "\n\n".join(part for part in parts if part)
