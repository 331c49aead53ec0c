"""The loop by decisions: each result is decided by a record of its own, and `stop` is the one that ends the session."""

from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.base.times import iso
from ledger.dialects.policy import Policy
from ledger.dialects.state_protocol.records import THRESHOLDS
from ledger.dialects.writing import RESULT_STATUSES, Record, RunOutcome, SessionPlan, next_run
from ledger.fold.segment import KEPT
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
        stated = {
            "unit": plan.unit or None,
            "min_effect_size_pct": plan.min_effect,
            "noise_floor_pct": plan.noise_floor,
            "max_runs": plan.max_iterations,
            "max_minutes": plan.max_minutes,
            "files_in_scope": list(plan.scope) or None,
            "off_limits": list(plan.off_limits) or None,
        }
        return [{
            "type": "config", "schema_version": 1, "name": plan.name, "metric": plan.metric,
            "direction": plan.direction, **{key: value for key, value in stated.items() if value is not None},
            "created_at": iso(now_ms),
        }]  # fmt: skip

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
        crashed, number = outcome.status == "crash", next_run(state)
        made: Record = {"type": "result", "run": number}
        if outcome.commit:
            made["commit"] = outcome.commit
        made |= {"metric": state.current().metric_name, "value": 0 if crashed else outcome.metric}
        if outcome.samples and not crashed:
            made |= {"samples": list(outcome.samples), "median": outcome.metric}
        made |= {"status": "crash" if crashed else "measured", "timestamp": iso(now_ms)}
        made["description"] = outcome.description
        if outcome.metrics:
            made["metrics"] = dict(outcome.metrics)
        if outcome.asi:
            made["asi"] = dict(outcome.asi)
        if outcome.status == "measured":
            return [made]
        action = outcome.status if outcome.status in KEPT else "discard"
        failed = {"crash": "the measurement crashed", "checks_failed": "the checks failed"}.get(outcome.status)
        reason = outcome.reason or failed or outcome.description or action
        return [made, self.decision(number, action, reason, now_ms)]

    def decision(self, run: int, action: str, reason: str, now_ms: int) -> Record:
        return {"type": "decision", "run": run, "action": action, "reason": reason, "timestamp": iso(now_ms)}

    def check_mark(self, word: str, ack: int | None) -> None:
        raise LedgerError("a state-protocol log has no markers; ledger decide RUN stop ends it")

    def cancel(self, state: State, now_ms: int) -> Record:
        if state.last_run is None:
            raise LedgerError("there is no run yet that a stop could be decided on: nothing to cancel")
        return self.decision(state.last_run, "stop", "cancelled by the user", now_ms)


POLICY = StateProtocolPolicy()
