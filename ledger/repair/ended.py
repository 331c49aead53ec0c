"""Decisions that a repair brought to an end, since each is bound to the content of a line."""

from collections.abc import Mapping

from ledger.accepted import Decision, Key
from ledger.diagnostics import Diagnostic
from ledger.repair.carry import Outcome
from ledger.repair.records import sha256
from ledger.repair.text import Text


def ended(decisions: Mapping[Key, Decision], outcome: Outcome) -> list[Diagnostic]:
    """Give the findings that these decisions were about before a repair, and are not any more."""
    before = _standing(decisions, outcome.before)
    still = _standing(decisions, outcome.text)
    return [one for key, one in before.items() if key not in still]


def _standing(decisions: Mapping[Key, Decision], text: Text) -> dict[Key, Diagnostic]:
    codes = {key.code for key in decisions}
    asked = (one for one in text.diagnostics if one.code in codes and one.source is None)
    found = {Key(one.code, None, sha256(text.line(one.line) if one.line else text.data)): one for one in asked}
    return {key: one for key, one in found.items() if key in decisions}
