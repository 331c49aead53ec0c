"""The runs of a log as columns, a hundred thousand of which fit in little memory and on a small page."""

from decimal import Decimal
from typing import Any

from ledger.base.numbers import text
from ledger.base.text import cut, plain
from ledger.log.events import Runs
from ledger.report.packing import ROOM, Details, pack, size_of
from ledger.report.secondary_metrics import Secondary

LETTERS = {"keep": "k", "discard": "d", "crash": "x", "checks_failed": "f", "baseline": "b", "measured": "m"}
"""What stands for a status in the page's data; the script has the same list."""
KEPT = "kb"
FAILED = "dx"
UNDECIDED = "m"
CRASH = "x"

_WIDTHS = (120, 60, 30)
"""What descriptions are cut to, one after the other, on a page that has no room for them."""


class Columns:
    """Hold every run of a log, in file order; a run's *row* is its place here, counted from 0.

    Texts are stripped of what steers a terminal or turns the writing direction. `exact` has the digits of metrics that
    no double reproduces.
    """

    def __init__(self) -> None:
        self.run: list[int] = []
        self.line: list[int] = []
        self.status: list[str] = []
        self.metric: list[float] = []
        self.exact: dict[int, str] = {}
        self.at_ms: list[int | None] = []
        self.commit: list[str] = []
        self.description: list[str] = []
        self.confidence: list[float | None] = []
        self.details = Details()
        self.secondary = Secondary()

    def __len__(self) -> int:
        return len(self.run)

    def add(self, runs: Runs) -> None:
        """Take the next runs."""
        row = len(self)
        self.run += runs.run
        self.line += runs.line
        self.status += map(LETTERS.__getitem__, runs.status)
        self.metric += map(float, runs.metric)
        self.at_ms += runs.at_ms
        self.commit += (plain(commit or "") for commit in runs.commit)
        self.description += (plain(description or "") for description in runs.description)
        self.confidence += (None if value is None else float(f"{float(value):.4g}") for value in runs.confidence)
        for place, (metric, metrics) in enumerate(zip(runs.metric, runs.metrics, strict=True)):
            if isinstance(metric, Decimal):
                self.exact[row + place] = text(metric)
            if metrics and runs.status[place] != "crash":
                self.secondary.add(row + place, metrics)
            self.details.add(runs, place)

    def value(self, row: int) -> str:
        """Write a run's metric with all its digits; a crash measured nothing."""
        return "—" if self.status[row] == CRASH else self.exact.get(row) or text(self.metric[row])

    def data(self, room: int = ROOM) -> dict[str, Any]:
        """Give the columns for the page's script; `cut` is what descriptions are cut to if `room` bytes are too few."""
        made = {
            "count": len(self),
            "cut": None,
            "run": pack(self.run),
            "line": pack(self.line),
            "status": "".join(self.status),
            "metric": pack(self.metric),
            "exact": {str(row): digits for row, digits in self.exact.items()},
            "at": pack(self.at_ms),
            "commit": pack(self.commit),
            "description": pack(self.description),
            "confidence": pack(self.confidence),
        }
        for width in _WIDTHS:
            if size_of(made) <= room:
                break
            made["description"] = pack([cut(text, width) for text in self.description])
            made["cut"] = width
        return made
