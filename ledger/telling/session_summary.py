"""The summary of a session at its end: the goal, the runs, the best, and the table of the segment."""

from ledger.base.numbers import text
from ledger.base.text import counted, plain
from ledger.dialects import policy_of
from ledger.session.history import History
from ledger.telling.run_table import segment_table


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
