"""The rules of the toy protocol."""

from collections.abc import Iterator

from ledger.dialects.base import Object
from ledger.fold.state import State
from ledger.log.diagnostics import Finding, Severity
from ledger.log.events import Run
from ledger.log.rule import rule

OWN = "toy"


@rule("E390", "bout-out-of-order", Severity.ERROR, "event", "toy:bout")
def bout_out_of_order(run: Run, before: State, record: Object) -> Iterator[Finding]:
    """Report bouts that do not count 1, 2, 3."""
    due = (before.last_run or 0) + 1
    if run.run != due:
        yield Finding(f"bout {run.run} where bout {due} was due", "no")


@rule("E391", "bell-missing", Severity.WARNING, "end", OWN)
def bell_missing(before: State) -> Iterator[Finding]:
    """Report a log that reaches its limit without a bell."""
    segment = before.current()
    if before.marker is None and segment.settings.get("limit") == segment.runs:
        yield Finding("the limit is reached, and no bell rang")
