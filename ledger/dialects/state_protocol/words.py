"""What a loop is told about decisions, and about an end that is for good."""

from typing import ClassVar

from ledger.dialects.words import Words


class StateProtocolWords(Words):
    failed_checks = "a discard"
    scope_keeper = "The log's header"
    how_to_end = "end it with ledger cancel, or ledger decide RUN stop --reason TEXT"
    endings: ClassVar = {"stopped by a decision": "DONE (stop)"}

    def closed(self, how: str) -> str:
        return f"the session is concluded ({how}) for good; ledger archive moves it aside for another one"

    def report(self, verdict: str) -> str:
        return "Report it; `ledger decide RUN stop --reason TEXT` concludes the session."
