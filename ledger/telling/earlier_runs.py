"""A log's runs as a brief tells them: the last ones whole, those before summarised, and what was learned of all."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ledger.base.numbers import Number, better
from ledger.base.text import counted, cut, plain
from ledger.base.times import iso
from ledger.fold.segment import FAILED, KEPT, Segment
from ledger.log.events import Run
from ledger.log.jsontext import dump
from ledger.session.history import History, secondary_names
from ledger.telling.figures import NOTHING, counted_by, delta, is_best, metric
from ledger.telling.markdown_text import code, exact, inline, table, verbatim
from ledger.telling.other_records import OtherRecords, details

WHOLE = 50
"""So many of the last runs are told without loss."""
BLOCK = 50
MOST_DESCRIPTIONS = 200
DESCRIPTION_WIDTH = 100
MOST_HINTS = 100_000
"""Characters that all hints may take before each is cut shorter, down to 40."""

_HINT_KEYS = (
    "hypothesis", "result", "learned", "error_details", "bottleneck", "next_action_hint", "next_focus",
)  # fmt: skip


class Told(NamedTuple):
    """Hold a run with the segment that it is in."""

    segment: Segment
    run: Run


def all_runs(history: History) -> list[Told]:
    """List every run of the log in file order."""
    return [Told(segment, run) for segment in history.segments() for run in history.runs(segment.ordinal)]


def recent(told: Sequence[Told], noted: OtherRecords) -> str:
    """Tell the last runs whole, the latest last: every value can be read back exactly."""
    lines = []
    for segment, group in groupby(told[-WHOLE:], key=lambda one: one.segment):
        items = [_whole(segment, one.run, noted) for one in group]
        name = f"Segment {segment.ordinal}, {inline(segment.metric_name or 'no metric')}"
        lines.append(f"{name}:\n\n" + "\n".join(items))
    return "\n\n".join(lines)


def earlier(told: Sequence[Told]) -> str:
    """Summarise the runs before those: counts a block, the steps that improved the metric, the other descriptions."""
    old = told[:-WHOLE]
    if not old:
        return ""
    steps = _steps(old)
    taken = {id(one.run) for one, _ in steps}
    parts = ["\n".join(_blocks(old))]
    if steps:
        listed = "\n".join(
            f"- run {one.run.run}, segment {one.segment.ordinal}: {metric(one.run)}"
            f" ({delta(one.run, one.segment.baseline)}{'' if before is None else f', before {before}'}):"
            f" {_description(one.run)}"
            for one, before in steps
        )
        parts.append(f"Each step that was kept and improved the metric:\n\n{listed}")
    if others := list(_grouped([one for one in old if id(one.run) not in taken])):
        parts.append("All other runs, by what was tried:\n\n" + "\n".join(others))
    return "\n\n".join(parts)


def hints(told: Sequence[Told], noted: OtherRecords) -> str:
    """Give what was noted about the runs of all segments: first of those that failed, then of the others."""
    heard = [(one, said) for one in told if (said := _said(one.run, noted))]
    values = sum(len(said) for _, said in heard)
    width = max(40, min(240, MOST_HINTS // max(1, values)))
    parts = []
    for title, dead in (("Dead ends, and what they taught:", True), ("What worked or is open, and hints:", False)):
        lines: dict[tuple[int, str, str], list[int]] = {}
        for one, said in heard:
            if (one.run.status in FAILED or one.run.status == "checks_failed") is dead:
                text = f"{_description(one.run)}: {_hint(said, width)}"
                lines.setdefault((one.segment.ordinal, one.run.status, text), []).append(one.run.run)
        listed = [f"- {_numbers(runs)}, segment {key[0]}, {_status(key[1])}: {key[2]}" for key, runs in lines.items()]
        if listed:
            parts.append(f"{title}\n\n" + "\n".join(listed))
    return "\n\n".join(parts)


def secondary(history: History) -> str:
    """Tell the current segment's secondary metrics at its baseline, its best and its last run, as a table."""
    segment, runs, names = history.state.current(), history.runs(), secondary_names(history)
    if not names or not runs:
        return ""
    first = next((run for run in runs if run.run == segment.baseline_run and run.metric == segment.baseline), None)
    best = next((run for run in runs if is_best(segment, run)), None)
    columns = (("baseline", first), ("best", best), ("last", runs[-1]))
    held = [details(run).metrics if run else {} for _, run in columns]
    heads = [f"{what} (run {run.run})" if run else what for what, run in columns]
    rows = [
        [inline(name), *(inline(exact(metrics[name])) if name in metrics else NOTHING for metrics in held)]
        for name in names
    ]
    return table(["metric", *heads], rows)


def _status(status: str) -> str:
    return "undecided" if status == "measured" else status


def _whole(segment: Segment, run: Run, noted: OtherRecords) -> str:
    """Tell one run as a list item, a further item for each thing that its record holds."""
    held = details(run)
    value, crashed = dump(run.metric), run.status == "crash"
    change = delta(run, segment.baseline)
    head = [_status(run.status), f"nothing measured, {value} stands in" if crashed else f"{value} ({change})"]
    if run.commit:
        head.append(f"commit {verbatim(run.commit)}")
    if run.confidence is not None:
        head.append(f"confidence {dump(run.confidence)}")
    if (at := iso(run.at_ms)) is not None:
        head.append(at)
    lines = [f"- run {run.run}: " + ", ".join(head)]
    if run.description is not None:
        lines.append(f"description: {verbatim(run.description)}")
    named = (("metrics", held.metrics), ("asi", held.asi), ("more", held.more))
    lines += [f"{what}: {code(exact(value))}" for what, value in named if value]
    for decided in noted.decisions.get(run.run, ()):
        rest = {key: value for key, value in decided.items() if key not in ("type", "run", "action")}
        lines.append(f"decision {inline(str(decided.get('action')))}: {code(exact(rest))}")
    return "\n  - ".join(lines)


def _blocks(old: Sequence[Told]) -> Iterator[str]:
    for place in range(0, len(old), BLOCK):
        for segment, group in groupby(old[place : place + BLOCK], key=lambda one: one.segment):
            runs = [one.run for one in group]
            counts = Counter(_status(run.status) for run in runs)
            name = f"run {runs[0].run}" if len(runs) == 1 else f"runs {runs[0].run} to {runs[-1].run}"
            yield f"- {name}, segment {segment.ordinal}: {counted_by(dict(counts))}"


def _steps(old: Sequence[Told]) -> list[tuple[Told, str | None]]:
    """List the kept runs that beat all kept ones before them in their segment, each with the metric it beat."""
    steps: list[tuple[Told, str | None]] = []
    best: dict[int, Number] = {}
    for one in old:
        segment, run = one
        if run.status not in KEPT or segment.direction is None:
            continue
        before = best.get(segment.ordinal)
        if before is None or better(run.metric, before, segment.direction):
            steps.append((one, None if before is None else dump(before)))
            best[segment.ordinal] = run.metric
    return steps


def _grouped(others: Sequence[Told]) -> Iterator[str]:
    """Yield a line for each description, with the runs that bear it; the latest where there are too many."""
    groups: dict[str, list[Run]] = {}
    for one in others:
        key = " ".join(plain(one.run.description or "").casefold().split())
        groups.setdefault(key, []).append(one.run)
    for runs in list(groups.values())[-MOST_DESCRIPTIONS:]:
        counts = Counter(_status(run.status) for run in runs)
        yield f"- {_description(runs[0])}: {_numbers([run.run for run in runs])} ({counted_by(dict(counts))})"
    if len(groups) > MOST_DESCRIPTIONS:
        yield f"- {counted(len(groups) - MOST_DESCRIPTIONS, 'older description')} left out; the log has them"


def _numbers(runs: Sequence[int]) -> str:
    return f"run {runs[0]}" if len(runs) == 1 else f"runs {', '.join(map(str, runs))}"


def _description(run: Run) -> str:
    text = plain(run.description or "").strip()
    return code(cut(text, DESCRIPTION_WIDTH)) if text else "no description"


def _said(run: Run, noted: OtherRecords) -> dict[str, Any]:
    """Give what an agent noted about a run, why it was decided so, and that its guard failed."""
    said = details(run).asi
    if reasons := [str(one["reason"]) for one in noted.decisions.get(run.run, ()) if one.get("reason")]:
        said = {**said, "reason": "; ".join(reasons)}
    if run.extras and '"guard":"fail"' in run.extras:
        said = {**said, "guard": "failed"}
    return said


def _hint(said: Mapping[str, Any], width: int) -> str:
    keys = [key for key in _HINT_KEYS if key in said] + [key for key in said if key not in _HINT_KEYS]
    values = ((key, plain(said[key]).strip() if isinstance(said[key], str) else exact(said[key])) for key in keys)
    return "; ".join(f"{inline(key)}: {code(cut(value, width))}" for key, value in values)
