"""What the rules report: a diagnostic names its code, its place and its way out."""

from enum import Enum
from typing import NamedTuple


class Severity(Enum):
    """Say what a finding means for the log: error refuses it, warning flags it, info only tells."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(NamedTuple):
    """Hold what a rule saw, before it is tied to a file.

    `key` names the record's key at fault, from which the column is found; `column` counts bytes from 1 and wins.
    `line` is given only by rules that report elsewhere than at the record they read; 0 is the file as a whole.
    """

    message: str
    key: str | None = None
    column: int | None = None
    line: int | None = None
    source: str | None = None


class Diagnostic(NamedTuple):
    """Hold one finding of one rule at one place.

    `line` counts from 1 (0: the file as a whole), `column` counts bytes from 1. `source` is the file at fault where
    that is not the log itself (a codex log's run.json).
    """

    line: int
    column: int
    code: str
    name: str
    severity: Severity
    message: str
    source: str | None = None

    @property
    def is_error(self) -> bool:
        """Tell whether the finding makes the log untrustworthy."""
        return self.severity is Severity.ERROR
