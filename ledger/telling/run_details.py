"""The rest of a run's record, beside its number, status and metric: secondary metrics, asi, and other keys."""

from typing import Any, NamedTuple

from ledger.log.events import Run
from ledger.log.jsontext import load

_CONSTANT = ("schema_version", "run_id")  # the same in every event of a history


class RunDetails(NamedTuple):
    """Hold a run's secondary metrics, its `asi`, and every other key that `Run` has no field for, exactly."""

    metrics: dict[str, Any]
    asi: dict[str, Any]
    more: dict[str, Any]


def details(run: Run) -> RunDetails:
    """Read what a run's record holds further; a protocol that knows no asi and no metrics has them among the extras."""
    more: dict[str, Any] = load(run.extras) if run.extras else {}
    metrics, asi = run.metrics or {}, load(run.asi) if run.asi else {}
    if isinstance(more.get("metrics"), dict):
        metrics = more.pop("metrics")
    if isinstance(more.get("asi"), dict):
        asi = more.pop("asi")
    return RunDetails(metrics, asi, {key: value for key, value in more.items() if key not in _CONSTANT})


def metrics_of(run: Run) -> dict[str, Any]:
    """Give a run's secondary metrics by name."""
    return details(run).metrics if run.extras and '"metrics"' in run.extras else run.metrics or {}


def asi_of(run: Run) -> dict[str, Any]:
    """Give what an agent noted about a run, as it noted it."""
    if run.asi:
        found: dict[str, Any] = load(run.asi)
        return found
    return details(run).asi if run.extras and '"asi"' in run.extras else {}
