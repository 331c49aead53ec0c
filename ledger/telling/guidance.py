"""The rules that a brief gives an agent, and its advice on a streak of failures."""

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.base.numbers import text
from ledger.dialects import policy_of
from ledger.fold.segment import Segment
from ledger.fold.verdict import WALL
from ledger.session.files import Session
from ledger.session.history import History
from ledger.telling.advice import prompt_name
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
