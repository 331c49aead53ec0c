"""What can be wrong with a log: every rule, those of all protocols from here, a protocol's own from its folder."""

from ledger import dialects  # noqa: F401 - each registers its own rules
from ledger.log.rule import RULES, Rule, by_code
from ledger.rules import line, record, sequence  # noqa: F401 - they register themselves

__all__ = ["RULES", "Rule", "by_code"]
