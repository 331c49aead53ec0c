"""What a loop asks of the toy protocol, of which nobody writes logs."""

from typing import ClassVar

from ledger.base.errors import LedgerError
from ledger.dialects.policy import Policy
from ledger.dialects.words import Words
from ledger.dialects.writing import Record
from ledger.fold.state import State


class ToyWords(Words):
    how_to_end = "ring the bell"
    endings: ClassVar = {"done": "DONE"}

    def closed(self, how: str) -> str:
        return "the bell rang"

    def report(self, verdict: str) -> str:
        return "Ring the bell."


class ToyPolicy(Policy):
    name = "toy"
    words = ToyWords()
    statuses = outcomes = ("keep", "discard", "crash")
    errors = ("crash",)

    def concluded(self, state: State) -> str | None:
        return state.marker

    def check_mark(self, word: str, ack: int | None) -> None:
        raise LedgerError("nobody writes toy logs")

    def mark(
        self, state: State, word: str, now_ms: int, *, ack: int | None, reason: str | None, restart: bool
    ) -> Record:
        raise LedgerError("nobody writes toy logs")

    def cancel(self, state: State, now_ms: int) -> Record:
        raise LedgerError("nobody writes toy logs")


POLICY = ToyPolicy()
