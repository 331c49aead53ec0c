"""A rule that has a fix has the log that its fix makes: of `bad`, or of `fixable` where not every such log has one.

`fixed.jsonl` (`fixed` for a codex log) stands beside the rest in tests/rules/CODE.
"""

import re
from pathlib import Path

import pytest

from ledger.log.diagnostics import Applicability
from ledger.repair.carried_out import carry_out
from ledger.repair.fixer import Options
from ledger.repair.fixers import CODES
from ledger.repair.log_text import Text
from ledger.repair.plan import advice, make_plan
from ledger.rules import RULES

FOLDERS = Path(__file__).parents[1] / "rules"


def log(code: str, name: str) -> Path:
    single = FOLDERS / code / f"{name}.jsonl"
    return single if single.exists() else FOLDERS / code / name / "events.jsonl"


def fixable(code: str) -> Text:
    path = log(code, "fixable")
    return Text.read(path if path.exists() else log(code, "bad"))


def test_every_code_that_is_fixed_is_a_rule():
    assert set(RULES) > CODES


@pytest.mark.parametrize("code", RULES)
def test_the_documentation_says_whether_there_is_a_fix(code: str):
    said = RULES[code].doc.partition("Fix: ")[2]
    assert re.match(r"(safe|unsafe)\b" if code in CODES else r"none\b", said), said
    assert log(code, "fixed").exists() == (code in CODES)


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_fix_makes_the_log_that_it_should(code: str):
    text = fixable(code)
    items = [item for item in make_plan(text, text.diagnostics, Options()).items if code in item.codes]
    outcome = carry_out(text, items, Options())
    assert (outcome.refusal, outcome.done, outcome.left) == (None, items, [])
    assert outcome.text.data == log(code, "fixed").read_bytes()
    assert code not in {one.code for one in outcome.text.diagnostics}
    said = RULES[code].doc.partition("Fix: ")[2].split()[0].rstrip(";")
    assert {item.fix.applicability for item in items} == {Applicability(said)}


@pytest.mark.parametrize("code", sorted(set(RULES) - CODES))
def test_what_has_no_fix_is_given_none(code: str):
    text = Text.read(log(code, "bad"))
    assert code not in {one.code for item in make_plan(text, text.diagnostics, Options()).items for one in item.found}


@pytest.mark.parametrize("code", sorted(set(RULES) - CODES))
def test_what_has_no_fix_says_what_a_person_can_do(code: str):
    assert len(advice(code)) > 10
