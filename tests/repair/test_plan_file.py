"""Plans as files: what is none, and what no log could take, is refused with a sentence."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import make_plan
from ledger.repair.plan_file import plan_bytes, read_plan
from tests.support.cli import SOUND, ledger, log

TORN = Text(SOUND + b'{"run":4,"met')
PLAN = json.loads(plan_bytes(make_plan(TORN, TORN.diagnostics, Options()), Path("log.jsonl"), TORN))
Damage = Callable[[dict[str, Any]], Any]


def edited(**values: Any) -> Damage:
    return lambda plan: plan["items"][0]["edits"][0].update(values)


DAMAGES: dict[str, Damage] = {
    "another version": lambda plan: plan.update(version=9),
    "no items": lambda plan: plan.pop("items"),
    "items of another type": lambda plan: plan.update(items={"a": 1}),
    "an item that is a text": lambda plan: plan.update(items=["x"]),
    "a negative place": edited(start=-1),
    "a place past the end": edited(end=10**9),
    "an end before the start": edited(start=9, end=3),
    "a place that is a text": edited(start="1"),
    "a wild origin": edited(origin="x"),
    "no data": lambda plan: plan["items"][0]["edits"][0].pop("text"),
    "data of another type": edited(text=5),
    "no edits": lambda plan: plan["items"][0].update(edits=[]),
    "no findings": lambda plan: plan["items"][0].update(findings=[]),
    "a wild applicability": lambda plan: plan["items"][0].update(applicability="certain"),
    "the same item twice": lambda plan: plan["items"].append(plan["items"][0]),
    "wild options": lambda plan: plan.update(options={"side": 3}),
    "a wild side": lambda plan: plan.update(options={"side": "up"}),
    "options of another type": lambda plan: plan.update(options=[]),
    "a size of another type": lambda plan: plan.update(size=None),
    "a wild dialect": lambda plan: plan.update(dialect="cobol"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_plan_is_refused(damage: str, tmp_path: Path):
    plan = copy.deepcopy(PLAN)
    DAMAGES[damage](plan)
    path = log(tmp_path, json.dumps(plan).encode(), "plan.json")
    with pytest.raises(LedgerError, match="plan"):
        read_plan(path)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"null", b"[1]", b"[" * 10_000, SOUND])
def test_what_is_no_plan(data: bytes, tmp_path: Path):
    with pytest.raises(LedgerError, match="is no plan; ledger repair --plan FILE makes one"):
        read_plan(log(tmp_path, data, "plan.json"))


def test_bytes_that_are_no_text_come_back(tmp_path: Path):
    text = Text(b"".join((SOUND, b"<<<<<<< a\n\xff\n=======\n>>>>>>> b\n")))
    plan = make_plan(text, text.diagnostics, Options())
    assert b"base64" in plan_bytes(plan, tmp_path / "log.jsonl", text)
    path = log(tmp_path, plan_bytes(plan, tmp_path / "log.jsonl", text), "plan.json")
    assert [item.fix for item in read_plan(path).items] == [item.fix for item in plan.items]


def test_the_command_line_refuses_one_with_a_sentence(tmp_path: Path):
    path = log(tmp_path, TORN.data)
    log(tmp_path, b"{}", "plan.json")
    for name in ("plan.json", "none.json"):
        done = ledger(tmp_path, "repair", "--apply", name)
        assert done.code == 2 and done.err.startswith("ledger: ") and done.err.count("\n") == 1
    assert path.read_bytes() == TORN.data
