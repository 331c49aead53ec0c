"""How a loop goes by the toy protocol: bouts, and a bell that ends it."""

from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.base.times import iso
from ledger.dialects.policy import Policy
from ledger.dialects.writing import Record, RunOutcome, SessionPlan, next_run
from ledger.fold.state import State
from tests.support.toy_dialect.records import OUTCOMES

WON, LOST, FELL = OUTCOMES


class ToyPolicy(Policy):
    name = "toy"
    rival = "best bout"
    failed_checks = "a lost bout"
    scope_keeper = "The trainer"
    how_to_end = "ring the bell"
    endings: ClassVar = {"done": "DONE (bell)"}

    lacks = ("keep_equal",)
    outcomes = ("keep", "discard", "crash")
    errors = ("crash",)
    keeps = frozenset(("max_iterations",))
    limit_key = "limit"

    def say_concluded(self, how: str) -> str:
        return "the bell rang"

    def say_report(self, verdict: str) -> str:
        return "Ring the bell."

    def concluded(self, state: State) -> str | None:
        return state.marker

    def opening(self, plan: SessionPlan, state: State, now_ms: int) -> list[Record]:
        limit = {"limit": plan.max_iterations} if plan.max_iterations else {}
        return [{"what": "card", "measures": plan.metric, "better": plan.direction, **limit}]

    def run_records(self, state: State, outcome: RunOutcome, now_ms: int) -> list[Record]:
        self.check_status(outcome.status)
        came = {"keep": WON, "crash": FELL}.get(outcome.status, LOST)
        took = 0 if came == FELL else outcome.metric
        at, tried = iso(now_ms), outcome.description
        return [{"what": "bout", "no": next_run(state), "took": took, "came": came, "at": at, "tried": tried}]

    def check_mark(self, word: str, ack: int | None) -> None:
        if word != "done":
            raise LedgerError("a bell says that it is done")

    def mark(
        self, state: State, word: str, now_ms: int, *, ack: int | None, reason: str | None, restart: bool
    ) -> Record:
        self.check_open(state)
        return _bell(reason or "somebody said so")

    def cancel(self, state: State, now_ms: int) -> Record:
        return _bell("cancelled")

    def end(self, state: State, word: str, reason: str, now_ms: int, ack: int | None) -> Record | None:
        return None if word == "running" else _bell(reason or word)


def _bell(why: str) -> Record:
    return {"what": "bell", "why": why}


POLICY = ToyPolicy()
