"""Decisions that a repair brought to an end, since each is bound to the content of a line."""

from collections.abc import Mapping

from ledger.log.diagnostics import Diagnostic
from ledger.reading.accepted import Acceptance, Key
from ledger.repair.carried_out import FixedLog
from ledger.repair.log_text import Text
from ledger.repair.repairs_made import sha256


def ended(decisions: Mapping[Key, Acceptance], outcome: FixedLog) -> list[Diagnostic]:
    """Give the findings that these decisions were about before a repair, and are not any more."""
    before = _standing(decisions, outcome.before)
    still = _standing(decisions, outcome.text)
    return [one for key, one in before.items() if key not in still]


def _standing(decisions: Mapping[Key, Acceptance], text: Text) -> dict[Key, Diagnostic]:
    codes = {key.code for key in decisions}
    asked = (one for one in text.diagnostics if one.code in codes and one.source is None)
    found = {Key(one.code, None, sha256(text.line(one.line) if one.line else text.data)): one for one in asked}
    return {key: one for key, one in found.items() if key in decisions}
