"""What an agent is told to do: the rules of the loop, advice on failures, and how to go on (protocols.md 5, 7)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.numbers import text
from ledger.base.paths import show_path
from ledger.base.text import counted
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.segment import Segment
from ledger.fold.verdict import WALL, Verdict
from ledger.session.files import Session
from ledger.session.history import History
from ledger.telling.markdown_text import code, exact, verbatim
from ledger.telling.other_records import OtherRecords
from ledger.telling.status import RETHINK

Header = Mapping[str, Any]


def rules(session: Session, history: History, noted: OtherRecords) -> Iterator[str]:
    """Yield the rules of the loop, a sentence or two each."""
    policy, segment = policy_of(history.state), history.state.current()
    header = noted.header or {}
    yield "One idea at a time: change code, and nothing else. Improve the real work, not the measurement."
    yield (
        "Do not commit, revert, measure or log by hand. `ledger run --description TEXT --asi key=value` commits the"
        " change, measures it, decides, logs it, and reverts what is not kept."
    )
    yield (
        "Under `ledger loop` do not call it: edit the code, write `description` and `asi` as a JSON object into the"
        " file that `$LEDGER_NOTE` names, and end."
    )
    yield _better(history, segment)
    settings = session.settings
    yield from policy.say_failures(header, settings.benchmark_timeout, settings.checks_timeout, verbatim)
    yield from _scope(session, header)
    yield (
        f"The log is never edited. Only the prompt ({code(prompt_name(session))}) and the ideas file may change at any"
        " time; the measure and checks scripts stay as they were committed."
    )
    if segment.names:
        names = ", ".join(verbatim(name) for name in segment.names)
        yield f"Every run states the secondary metrics {names}; if one cannot be had, its asi says why."


def streak_advice(streak: int, ideas: str) -> str:
    """Say what a streak of failed runs asks for; empty where it asks for nothing. `ideas` names the ideas file."""
    if streak > WALL:
        return (
            f"{streak} failed runs in a row are a wall: this direction is stuck. Stop and report it; a genuinely"
            " different direction starts as a new segment."
        )
    if streak < RETHINK:
        return ""
    steps = (
        "think about why the last few failed",
        "read the source files again for new angles",
        "try a fundamentally different approach",
        f"consult {code(ideas)} for untried ideas",
    )
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"{streak} failed runs in a row: rethink, do not grind on the same angle.\n\n{listed}"


def _better(history: History, segment: Segment) -> str:
    policy = policy_of(history.state)
    known, which = policy.to_beat(history.state), policy.rival
    than = f"the {which}" if known is None else f"the {which}, {text(known)}"
    side = f"strictly {segment.direction}" if segment.direction else "strictly better"
    least = policy.least_gain(segment)
    by = "" if least is None else f", by at least {text(least)}% ({' and '.join(policy.thresholds)})"
    said = f"A run is better if {verbatim(segment.metric_name or 'the metric')} is {side} than {than}{by}."
    if "keep_equal" in policy.lacks:
        return f"{said} Equal or worse is discarded."
    return f"{said} Equal or worse is discarded; simpler code at an equal metric is kept with `--keep-equal REASON`."


def _scope(session: Session, header: Header) -> Iterator[str]:
    scope = header.get("files_in_scope", header.get("scope"))
    if scope:
        yield f"Only these may change: {_listed(scope)}."
    else:
        yield f"What may change, and what is off limits, is for the prompt ({code(prompt_name(session))}) to say."
    if limits := header.get("off_limits"):
        yield f"Off limits: {_listed(limits)}."


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(verbatim(one) if isinstance(one, str) else code(exact(one)) for one in value)
    return verbatim(value) if isinstance(value, str) else code(exact(value))


def advice(history: History, session: Session, verdict: Verdict) -> str:
    """Say what who resumes the session has to do, in a sentence or two."""
    if not history.log.ok:
        errors = sum(found.is_error for found in history.log.diagnostics)
        return (
            f"Stop: the log has {counted(errors, 'error')}. Run `ledger check`, tell a person, and go on only once they"
            " are repaired."
        )
    state = history.state
    if verdict.verdict == "concluded":
        said = "the session is concluded"
        try:
            policy_of(state).check_open(state)
        except LedgerError as closed:  # it knows the one way on that the writers leave open
            said = str(closed)
        return f"Do not resume without being asked to: {said}."
    if verdict.verdict == "continue":
        return (
            f"Continue: read {prompt_name(session)}, run `ledger brief`, then make run {next_run(state)}:"
            " change the code in scope and run `ledger run --description TEXT`."
        )
    if verdict.verdict == "backstop":
        return (
            f"{_REASONS['backstop']} Once told to go on: `ledger mark running --backstop-ack {verdict.segment_runs}`."
        )
    return f"{_REASONS[verdict.verdict]} {policy_of(state).say_report(verdict.verdict)}"


def prompt_name(session: Session) -> str:
    """Name the prompt file, relative to the session's folder."""
    path = session.file("prompt")
    return show_path(path.relative_to(session.folder) if path.is_relative_to(session.folder) else path)


_REASONS = {
    "max_iterations": "Stop: the segment has as many runs as were asked for.",
    "max_minutes": "Stop: the time is up.",
    "wall": f"Stop: more than {WALL} runs in a row failed, so this direction is stuck.",
    "backstop": "Pause: a loop without a limit asks a person before it goes on.",
}
