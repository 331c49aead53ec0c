"""The codex history replayed: which metric, head and iteration a sound next event must state (protocols.md 4).

After a violation, or a record that could not be read, more than one value may be the true one. The replay then accepts
each of them once, so that one fault is one finding.
"""

from collections.abc import Mapping
from typing import Any

from ledger.base.numbers import Number, better, compare

TERMINAL = ("complete", "stopped", "blocked", "error")


class Replay:
    """Hold where a codex run stands. `config` is its run.json, None where that is not sound."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self.config = config
        self.status = "none"
        self.iterations = [0]
        self.spare = 0  # events that could not be read, each of which may have been an iteration
        self.metrics: list[Number] = []
        self.heads: list[str] = []
        self.unreverted = False
        self.lost = False

    @property
    def metric(self) -> Number | None:
        """The retained metric, as far as it is known."""
        return self.metrics[0] if self.metrics else None

    @property
    def head(self) -> str | None:
        """The retained head, as far as it is known."""
        return self.heads[0] if self.heads else None

    @property
    def direction(self) -> str | None:
        """The metric's direction by run.json."""
        return None if self.config is None else self.config["metric"]["direction"]

    @property
    def guarded(self) -> bool | None:
        """Whether a guard is configured; None where run.json could not be read."""
        return None if self.config is None else self.config["guard"] is not None

    def target_met(self) -> bool | None:
        """Tell whether the retained metric reaches the target; None where that cannot be told."""
        if self.lost or self.config is None or self.metric is None:
            return None
        return not better(self.config["target"], self.metric, self.config["metric"]["direction"])

    def lose(self) -> None:
        """Take an event that could not be read: it may have been any."""
        self.lost = True
        self.spare += 1

    def follows(self, iteration: int) -> bool:
        """Tell whether an iteration of this number may come next."""
        return any(0 < iteration - number <= self.spare + 1 for number in self.iterations)

    def holds_metric(self, value: Number) -> bool:
        """Tell whether a stated retained metric is one that the replay allows."""
        return self.lost or not self.metrics or any(compare(value, metric) == 0 for metric in self.metrics)

    def holds_head(self, value: str) -> bool:
        """Tell whether a stated head is one that the replay allows."""
        return self.lost or not self.heads or value in self.heads

    def advance(self, record: Mapping[str, Any]) -> None:
        """Take the next readable event of the history, violations and all."""
        event = record["event"]
        if event == "baseline":
            self.status, self.metrics, self.heads = "active", [record["metric"]], [record["head"]]
        elif event == "iteration":
            self._iterate(record)
        elif event == "resumed":
            self._activate()
            self._settle(record)
        else:
            self.status = event
            self._settle(record)
            if event == "error":
                trial, revert = record["trial_commit"], record["revert_commit"]
                self.unreverted = trial is not None and revert is None
                self.heads = list(dict.fromkeys(filter(None, (revert or trial or self.head, record["head"]))))
        if event != "error":
            self.unreverted = False
        self.lost = False

    def _iterate(self, record: Mapping[str, Any]) -> None:
        stated = record["iteration"]
        self.iterations = [stated] if self.follows(stated) else [self.iterations[0] + 1, stated]
        self.spare = 0
        kept = record["outcome"] == "keep"
        known = [record["previous_metric"]] if self.lost or not self.metrics else self.metrics
        due = record["trial_metric"] if kept else record["previous_metric"]
        if not any(compare(record["previous_metric"], metric) == 0 for metric in known):
            due = record["trial_metric"] if kept else known[0]
        retained = record["retained_metric"]
        self.metrics = [due] if compare(due, retained) == 0 else [due, retained, *known]
        proper = record["trial_commit"] if kept else record["revert_commit"] or record["head"]
        self.heads = list(dict.fromkeys((proper, record["head"])))
        self._activate()

    def _activate(self) -> None:
        if self.status != "complete":  # nothing follows it, so nothing that does needs an end of its own
            self.status = "active"

    def _settle(self, record: Mapping[str, Any]) -> None:
        """Take what a terminal event states where the replay had more than one candidate."""
        metric, head = record["metric"], record["head"]
        self.metrics = [metric] if self.holds_metric(metric) else [*self.metrics, metric]
        self.heads = [head] if self.holds_head(head) else [*self.heads, head]
