"""What a loop has to write down, whatever the protocol: a plan, a run's outcome, a trial in the repository."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledger.base.numbers import Number
from ledger.fold.segment import STATUSES
from ledger.fold.state import State
from ledger.log.jsontext import dump, mentions

Record = dict[str, Any]

RESULT_STATUSES = ("measured", "baseline", *STATUSES)
"""What a run can be logged as where its decision is a record of its own; elsewhere it is one of `STATUSES`."""


class SessionPlan(NamedTuple):
    """Hold what a session is to be about; percentages are such, `unit` None is inferred, a limit of 0 is none."""

    name: str
    metric: str
    direction: str
    unit: str | None = None
    dialect: str = "autoresearch"
    target: Number | None = None
    guard: str | None = None
    command: str | None = None
    json_key: str | None = None
    scope: tuple[str, ...] = ()
    off_limits: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    constraint: tuple[str, ...] = ()
    max_iterations: int | None = None
    max_minutes: Number | None = None
    min_effect: Number | None = None
    noise_floor: Number | None = None


class RunOutcome(NamedTuple):
    """Hold what one run came to, whatever the protocol: `metric` is ignored for a crash."""

    status: str
    metric: Number
    description: str
    commit: str = ""
    metrics: Mapping[str, Any] = {}
    asi: Mapping[str, Any] = {}
    samples: Sequence[Number] = ()
    reason: str = ""


class Trial(NamedTuple):
    """Hold what became of an experiment's commit, in full hashes: `reverted` is the commit that undid it.

    `more` has what measuring left for the record: the names of its output files, whether the guard passed.
    """

    kept: bool
    commit: str | None
    reverted: str | None
    more: Mapping[str, Any]


def next_run(state: State) -> int:
    """Give the number of the next run: the highest so far + 1."""
    return max(state.runs_seen.highest or 0, state.runs_lost.highest or 0) + 1


def stamp(state: State, now_ms: int) -> int:
    """Give a moment in the unit that the log's timestamps have: milliseconds, unless it counts seconds."""
    return now_ms // 1000 if state.time_unit == "s" else now_ms


def missing_metrics(names: Sequence[str], outcome: RunOutcome) -> list[str]:
    """List the secondary metrics among `names` that a run lacks without a word about them in its `asi`."""
    if outcome.status == "crash":
        return []
    said = dump(dict(outcome.asi))
    return [name for name in names if name not in outcome.metrics and not mentions(said, name)]
