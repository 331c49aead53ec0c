"""What the rules report: a diagnostic names its code, its place and its way out."""

from enum import Enum
from typing import Any, NamedTuple


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


class Applicability(Enum):
    """Say what a fix needs: nothing is lost by a safe one, an unsafe one needs a person's word."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Edit(NamedTuple):
    """Put `data` in the place of the bytes `start` to `end` of a log, counted from 0; `end` itself stays.

    `origin` says where data stood before that another edit of the same fix takes away.
    """

    start: int
    end: int
    data: bytes
    origin: int | None = None


class Fix(NamedTuple):
    """Hold what puts a finding right: `edits` lie in order and do not overlap; `description` says what they do.

    A fix is safe only if the folded state is the same after it (a byte order mark counted as skipped) and no byte but
    white space or a leading byte order mark is lost.
    """

    applicability: Applicability
    description: str
    edits: tuple[Edit, ...]


class Diagnostic(NamedTuple):
    """Hold one finding of one rule at one place.

    `line` counts from 1 (0: the file as a whole), `column` counts bytes from 1. `source` is the file at fault where
    that is not the log itself (a codex log's run.json). `accepted` is the reason for which a person took the finding
    as it is; `fix` is known only where somebody asked for it.
    """

    line: int
    column: int
    code: str
    name: str
    severity: Severity
    message: str
    source: str | None = None
    accepted: str | None = None
    fix: Fix | None = None

    @property
    def is_error(self) -> bool:
        """Tell whether the finding makes the log untrustworthy: an accepted one does not."""
        return self.severity is Severity.ERROR and self.accepted is None


_WORDS = {None: "null", True: "true", False: "false"}


def show(value: Any) -> str:
    """Write a value for a message, shortened."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = repr(value) if isinstance(value, str) else _WORDS[value] if isinstance(value, bool | None) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def article(noun: str) -> str:
    """Put `a` or `an` before a noun."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
