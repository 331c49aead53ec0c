"""Every fixer, in the order in which they are asked: what spans several lines goes first, and has their findings."""

from ledger.repair import (  # noqa: F401, I001 - order
    conflict_fixer,
    line_fixers,
    whitespace_fixers,
    value_fixers,
    whole_log_fixers,
)
from ledger.repair.fixer import CODES, FIXERS, Fixer

__all__ = ["CODES", "FIXERS", "Fixer"]
