"""Every fixer, in the order in which they are asked: what spans several lines goes first, and has their findings."""

from ledger.repair import conflicts, broken, whitespace, value_fixers, numbering, headers  # noqa: F401, I001 - order
from ledger.repair.fixer import CODES, FIXERS, Fixer

__all__ = ["CODES", "FIXERS", "Fixer"]
