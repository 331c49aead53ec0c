"""The loop by decisions: each result is decided by a record of its own, and `stop` is the one that ends the session."""

from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.dialects.policy import Policy
from ledger.dialects.state_protocol import writing
from ledger.dialects.state_protocol.records import THRESHOLDS
from ledger.dialects.writing import RESULT_STATUSES, Record, RunOutcome, SessionPlan
from ledger.fold.state import State


class StateProtocolPolicy(Policy):
    name = "state-protocol"
    failed_checks = "a discard"
    scope_keeper = "The log's header"
    how_to_end = "end it with ledger cancel, or ledger decide RUN stop --reason TEXT"
    endings: ClassVar = {"stopped by a decision": "DONE (stop)"}

    baseline_word = "baseline"
    statuses = RESULT_STATUSES
    outcomes = ("baseline", "keep", "discard", "crash", "undecided")
    errors = ("crash",)
    has_decisions = True
    keeps = frozenset(("max_iterations", "max_minutes", "min_effect", "noise_floor", "scope", "off_limits"))
    thresholds = THRESHOLDS
    scope_key, off_limits_key = "files_in_scope", "off_limits"

    def say_concluded(self, how: str) -> str:
        return f"the session is concluded ({how}) for good; ledger archive moves it aside for another one"

    def say_report(self, verdict: str) -> str:
        return "Report it; `ledger decide RUN stop --reason TEXT` concludes the session."

    def concluded(self, state: State) -> str | None:
        return "stopped by a decision" if state.stopped else None

    def opening(self, plan: SessionPlan, state: State, now_ms: int) -> list[Record]:
        return [writing.header(plan, now_ms)]

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
        return writing.result(state, outcome, now_ms)

    def decision(self, run: int, action: str, reason: str, now_ms: int) -> Record:
        return writing.decision(run, action, reason, now_ms)

    def check_mark(self, word: str, ack: int | None) -> None:
        raise LedgerError("a state-protocol log has no markers; ledger decide RUN stop ends it")

    def cancel(self, state: State, now_ms: int) -> Record:
        if state.last_run is None:
            raise LedgerError("there is no run yet that a stop could be decided on: nothing to cancel")
        return writing.decision(state.last_run, "stop", "cancelled by the user", now_ms)


POLICY = StateProtocolPolicy()
