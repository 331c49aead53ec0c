"""What a loop is told about the guard, errors that stop it, and a history that goes on or is complete."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ledger.base.numbers import is_number, text
from ledger.dialects.words import Quote, TimeLimits, Words


class CodexWords(Words):
    to_beat = "retained metric"
    how_to_measure = "`ledger run` measures by `metric.command` of `run.json`."
    scope_keeper = "run.json"
    how_to_end = "end it with ledger mark stopped --reason TEXT"
    endings: ClassVar = {
        "complete": "DONE (complete)", "stopped": "DONE (stopped)", "blocked": "BLOCKED", "error": "ERROR",
    }  # fmt: skip

    def closed(self, how: str) -> str:
        if how == "complete":
            return "the run is complete and nothing follows that; ledger archive moves it aside for another one"
        return f"the session is concluded ({how}); ledger mark resumed --reason TEXT goes on with it"

    def report(self, verdict: str) -> str:
        return "Report it with `ledger mark stopped --reason TEXT`."

    def failures(self, stated: Mapping[str, Any], limits: TimeLimits, quote: Quote) -> Iterator[str]:
        limit: Any = stated.get("timeout_seconds")
        after = f", or outlasts {text(limit)} s," if is_number(limit) else ""
        yield (
            f"There is no crash: a measurement that fails{after} is reverted, an `error` event is written, and the loop"
            " stops; `ledger mark resumed --reason TEXT` goes on."
        )
        if isinstance(guard := stated.get("guard"), str):
            yield f"The guard {quote(guard)} runs on every better trial; where it fails the trial is discarded."
