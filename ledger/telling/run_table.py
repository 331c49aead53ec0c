"""The table of a segment's runs, shown after every fifth run, and the summary of a session at its end."""

from collections.abc import Sequence

from ledger.base.numbers import is_number, text
from ledger.base.text import columns, counted, cut, plain
from ledger.dialects import policy_of
from ledger.fold.segment import Segment
from ledger.log.events import Run
from ledger.session.history import History
from ledger.telling.figures import NOTHING, baseline, best, delta, goal, is_best, measure, metric, short
from ledger.telling.other_records import details

DESCRIPTION_WIDTH, LEAST_DESCRIPTION = 60, 24
WIDTH = 120
"""Columns of a line; only many wide numbers make it longer, since the description keeps its least width."""
MOST_NAMES = 3
"""With more secondary metrics than this, none is shown."""

_NAME_WIDTH, _NUMBER_WIDTH, _COMMIT_WIDTH = 16, 24, 12


def summary(history: History) -> str:
    """Write the summary of the current segment, its table last."""
    segment = history.state.current()
    counts_baseline = "baseline" in policy_of(history.state).outcomes
    kept = segment.counts["keep"] + (segment.baseline_decided and counts_baseline)
    unit = f" {plain(segment.unit)}" if segment.unit else ""
    lines = [f"{plain(segment.name or 'session')}: {counted(segment.runs, 'run')}, {kept} kept"]
    if segment.best is not None and segment.baseline is not None:
        gain = segment.improvement_pct
        change = "" if not gain else f", {abs(gain):.1f}% {'better' if gain > 0 else 'worse'} than the baseline"
        name = plain(segment.metric_name or "metric")
        lines.append(f"best {name}: {text(segment.best)}{unit} (run {segment.best_run}){change}")
    return "\n".join(lines) + "\n" + (segment_table(history) if history.runs() else "")


def segment_table(history: History) -> str:
    """Write all runs of the current segment as lines of text; `*` marks the best. It ends with a line end."""
    segment, runs = history.state.current(), history.runs()
    if not runs:
        return f"{_title(segment)}\nno run yet\n"
    names = list(segment.names) if len(segment.names) <= MOST_NAMES else []
    head = ["", "run", "status", cut(plain(segment.metric_name or "metric"), _NAME_WIDTH), "delta", "conf"]
    head += [cut(plain(name), _NAME_WIDTH) for name in names] + ["commit", "description"]
    first = next((run for run in runs if is_best(segment, run)), None)
    rows = [_row(run, segment, names, "*" if run is first else "") for run in runs]
    lines = _aligned([head, *rows], [name in ("", "status", "commit", "description") for name in head])
    return "\n".join((_title(segment), *lines, f"baseline {baseline(segment)}, best {best(segment)}")) + "\n"


def _title(segment: Segment) -> str:
    return cut(f"segment {segment.ordinal}: {goal(segment)}: {measure(segment)}", WIDTH)


def _row(run: Run, segment: Segment, names: Sequence[str], mark: str) -> list[str]:
    metrics = details(run).metrics if names else {}
    return [
        mark,
        str(run.run),
        run.status,
        cut(metric(run), _NUMBER_WIDTH),
        delta(run, segment.baseline),
        NOTHING if run.confidence is None else short(run.confidence),
        *(cut(text(metrics[name]), _NUMBER_WIDTH) if is_number(metrics.get(name)) else NOTHING for name in names),
        cut(plain(run.commit or "") or NOTHING, _COMMIT_WIDTH),
        plain(run.description or "").strip(),
    ]


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Give the rows as lines: numbers to the right, texts to the left, the last column in the room that is left."""
    widths = [max(map(columns, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    room = WIDTH - sum(widths) - 2 * len(widths)
    room = max(LEAST_DESCRIPTION, min(DESCRIPTION_WIDTH, room))
    lines = []
    for row in rows:
        cells = [
            cell + " " * (width - columns(cell)) if to_left else " " * (width - columns(cell)) + cell
            for cell, width, to_left in zip(row, widths, left, strict=False)
        ]
        lines.append("  ".join((*cells, cut(row[-1], room))).rstrip())
    return lines
