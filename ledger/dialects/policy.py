"""How a loop goes by a protocol: what it measures, what it writes and when, what it lacks, and how it ends."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, compare, is_number, text
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, Trial, next_run
from ledger.fold.segment import STATUSES, Segment
from ledger.fold.state import State

Quote = Callable[[str], str]
"""Puts a text of a log or a file into a page of Markdown."""


class Policy(ABC):
    """Answer what the loop asks of a protocol: as data, or given the fold.

    What stands here is the answer of most: runs logged with their status, by the scripts' METRIC lines, wherever the
    repository is.
    """

    name: str
    """The protocol's name."""

    # What is said in its own words.

    rival: str = "best kept run"
    """What a run has to beat."""

    failed_checks: str = "`checks_failed`"
    """What checks that fail make of a run."""

    how_to_measure: str = ""
    """How a session without scripts is measured, for its prompt."""

    scope_keeper: str = ""
    """What decides on the scope, if it is not the prompt; it begins a sentence."""

    how_to_end: str
    """How a session is ended, for who wants to archive it."""

    endings: ClassVar[Mapping[str, str]]
    """The status that a loop prints in the end, by how the session was concluded."""

    @abstractmethod
    def say_concluded(self, how: str) -> str:
        """Say that the session is concluded, and the one way on that is left open."""

    @abstractmethod
    def say_report(self, verdict: str) -> str:
        """Say what to write down about a loop that the verdict stops."""

    def say_failures(
        self, stated: Mapping[str, Any], measurement: Number, checks: Number, quote: Quote
    ) -> Iterator[str]:
        """Yield what becomes of a measurement and of checks that fail; `stated` is the header or the configuration.

        The settings give them `measurement` and `checks` seconds.
        """
        yield (
            f"A measurement that fails, or outlasts {text(measurement)} s, is a crash; checks that fail, or outlast"
            f" {text(checks)} s, make the run {self.failed_checks}. Both are reverted."
        )

    # What is measured, and when.

    commands_in_config: bool = False
    """Whether the commands that measure, and print a number, are in the configuration; else scripts print METRIC lines.

    A guard in it is asked only about a trial that is better; checks by script run on every measurement.
    """

    measured_start: bool = False
    """Whether a start measures the baseline; else the segment's first run is it."""

    baseline_word: str = "keep"
    """The status that a baseline is logged with."""

    repeats: bool = True
    """Whether a measurement may be repeated, its median taken."""

    lacks: tuple[str, ...] = ()
    """Which wishes about a run have no place in it: `keep_equal`, `discard`, `max_regress`."""

    # What is written.

    logs_before_revert: bool = True
    """Whether a run is logged before what is not kept is reverted; else its record names the revert."""

    statuses: tuple[str, ...] = STATUSES
    """What a run can be logged as."""

    outcomes: tuple[str, ...] = STATUSES
    """What runs are counted by, in this order."""

    errors: tuple[str, ...] = ("crash", "checks_failed")
    """The statuses of runs in which something went wrong."""

    has_decisions: bool = False
    """Whether a run is decided by a record of its own."""

    has_events: bool = False
    """Whether the log tells, beside its runs, how the session was stopped and went on."""

    has_hook_records: bool = False
    """Whether each firing of a hook is a record of the log, and a run's record is what hooks are to read."""

    # What a session is about, and where that stands.

    needs: tuple[str, ...] = ()
    """Which fields of a plan no session can do without, beside those of every one."""

    keeps: frozenset[str] = frozenset()
    """Which fields of a plan its own records keep; the others are the prompt's or the settings' to keep."""

    plain_scope: bool = False
    """Whether the scope is a list of paths, without patterns."""

    scope_from_top: bool = False
    """Whether the scope is relative to the repository's top; else to the folder that is worked in."""

    scope_key: str = ""
    """The key of the header, or of the configuration, with what may be changed; empty where there is none."""

    off_limits_key: str = ""
    """The key with what must never be changed."""

    limit_key: str = "max_runs"
    """The key with the number of runs to stop after."""

    thresholds: tuple[str, ...] = ()
    """The keys of the header with the percents that a gain has to reach, each of them."""

    verdict_takes_limit: bool = True
    """Whether the verdict heeds a limit of runs that was given as an option or in the settings."""

    def binding(self, state: State) -> tuple[str, str] | None:
        """Give the repository and the branch that the session is bound to; None where it is bound to none."""
        return None

    # How it stands.

    def next_number(self, state: State) -> int:
        """Give the number that the next iteration gets."""
        return next_run(state)

    def to_beat(self, state: State) -> Number | None:
        """Give the metric that a run has to beat; None where there is none yet."""
        return state.current().best

    def retained_head(self, state: State) -> str | None:
        """Give the commit that the history says to be the state of the work; None where only the kept runs tell it."""
        return None

    def least_gain(self, segment: Segment) -> Number | None:
        """Give the percent by which a run has to beat the best; None where any gain counts."""
        least: Number | None = None
        for key in self.thresholds:
            value: Any = segment.settings.get(key)
            if is_number(value) and compare(value, least or 0) > 0:
                least = value
        return least

    @abstractmethod
    def concluded(self, state: State) -> str | None:
        """Say how the session was concluded; None for one that goes on."""

    def check_open(self, state: State) -> None:
        """Raise LedgerError if the session is concluded: only an explicit restart goes on with it."""
        if (how := self.concluded(state)) is not None:
            raise LedgerError(self.say_concluded(how))

    def final_status(self, state: State) -> str:
        """Give the status that a loop prints about a session that is concluded."""
        return self.endings[self.concluded(state) or ""]

    # The records.

    def opening(self, plan: SessionPlan, state: State, now_ms: int) -> list[Record]:
        """Make the records that a segment starts with; `state` is the fold of the log so far."""
        raise NotImplementedError(f"a {self.name} session has a measured start")

    def run_config(
        self, plan: SessionPlan, run_id: str, repo: str, branch: str, timeout: float, now_ms: int
    ) -> dict[str, Any]:
        """Make the configuration of a measured start; `timeout` is in seconds."""
        raise NotImplementedError(f"a {self.name} session has no configuration beside its log")

    def measured_opening(self, state: State, baseline: Mapping[str, Any], now_ms: int) -> list[Record]:
        """Make the records of a measured start; `state` is a fold of nobody else's, and used up."""
        raise NotImplementedError(f"a {self.name} session has no measured start")

    def check_by_hand(self) -> None:  # noqa: B027 - by hand is the rule
        """Raise LedgerError if no run can be logged by hand."""

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        """Make the records of the next run. Raises LedgerError for a status that the protocol does not know."""
        raise NotImplementedError(f"a {self.name} run is an iteration")

    def iteration_records(self, state: State, outcome: RunOutcome, trial: Trial, now_ms: int) -> list[Record]:
        """Make the records of a run that was an experiment in the repository."""
        return self.run_records(state, outcome, now_ms)

    def check_status(self, status: str) -> None:
        """Raise LedgerError for a status that no run can be logged as."""
        known = self.statuses
        if status not in known:
            raise LedgerError(f"a run of this log is {', '.join(known[:-1])} or {known[-1]}: say so with --status")

    def decision(self, run: int, action: str, reason: str, now_ms: int) -> Record:
        """Make a decision about a run. Raises LedgerError where a run has its status in its own record."""
        raise LedgerError("only a state-protocol log has decisions: here a run is logged with its status")

    @abstractmethod
    def check_mark(self, word: str, ack: int | None) -> None:
        """Raise LedgerError for a marker, or an acknowledged number of runs, that there cannot be."""

    def mark(
        self, state: State, word: str, now_ms: int, *, ack: int | None, reason: str | None, restart: bool
    ) -> Record:
        """Make a marker. Raises LedgerError for one that cannot follow; `restart` goes on with a concluded session."""
        raise NotImplementedError(f"a {self.name} log has no markers")

    @abstractmethod
    def cancel(self, state: State, now_ms: int) -> Record:
        """Make the record that ends a session for its user's sake. Raises LedgerError where there can be none."""

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        """Make the record of a loop's end; None where the verdict follows from the records that are there.

        `word` is the marker for it; `ack` the number of runs after which a person has to be asked.
        """
        return None
