"""Every fix held to what is said of it, on logs as editors, crashes, merges and disks leave them."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ledger.log.diagnostics import Applicability, Diagnostic, Edit
from ledger.log.events import Place
from ledger.log.jsontext import BOM
from ledger.repair.carried_out import FixedLog, carry_out
from ledger.repair.diff import unified
from ledger.repair.edits import apply_edits
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text
from ledger.repair.plan import make_plan
from ledger.repair.plan_file import plan_bytes, read_plan
from ledger.repair.plan_shown import plan_lines
from tests.support.damaged import anything
from tests.support.mirroring import examples
from tests.support.reading import laid_open

OPTIONS = (Options(), Options("ms", "lower", "n", "", "ours"), Options(side="theirs"))
PLACES = {"place", "line", "last_line", "touched_line"}


def text_of(drawn: tuple[bytes, Any]) -> Text:
    data, config = drawn
    return Text(data, None, None if config is None else json.dumps(config, indent=2).encode())


def folded(text: Text) -> Any:
    """Give the state at the end, without where things stand."""
    return without_places(text.state)


def without_places(value: Any) -> Any:
    if isinstance(value, Place):
        return None
    if isinstance(value, dict):
        return {key: without_places(item) for key, item in value.items()}
    if hasattr(value, "_fields"):
        return [without_places(item) for item in value]
    if isinstance(value, list | tuple) or type(value).__name__ == "deque":
        return [without_places(item) for item in value]
    slots = getattr(value, "__slots__", None) or getattr(value, "__dict__", None)
    if slots is None or type(value).__module__ == "decimal":
        return laid_open(value)
    return {slot: without_places(getattr(value, slot)) for slot in slots if slot not in (*PLACES, "_gauge", "_gauged")}


def bare(data: bytes) -> bytes:
    """Leave out white space and byte order marks at the start of a line."""
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        marks = 0
        while line.startswith(BOM, marks):
            marks += len(BOM)
        lines[place] = line[marks:]
    return b"".join(lines).translate(None, b" \t\r\n")


@examples(300)
@given(anything)
def test_a_safe_fix_loses_nothing_and_leaves_the_state_as_it_is(drawn: tuple[bytes, Any]) -> None:
    text = text_of(drawn)
    for item in make_plan(text, text.diagnostics, Options()).items:
        if item.fix.applicability is Applicability.SAFE:
            outcome = carry_out(text, [item], Options())
            assert (outcome.refusal, outcome.done) == (None, [item])
            assert bare(outcome.text.data) == bare(text.data)
            assert folded(outcome.text) == folded(text)


@examples(300)
@given(anything, st.sampled_from(OPTIONS))
def test_what_is_not_refused_is_better(drawn: tuple[bytes, Any], options: Options) -> None:
    text = text_of(drawn)
    plan = make_plan(text, text.diagnostics, options)
    for items in ([item] for item in plan.items[:8]):
        outcome = carry_out(text, items, options)
        check_edits(text, list(items[0].fix.edits))
        check_better(text, outcome)
    check_better(text, carry_out(text, plan.items, options))


def check_edits(text: Text, edits: list[Edit]) -> None:
    """Edits lie in order and apart, and do something; their diff takes the log to what they make of it."""
    ends = [0, *(place for edit in edits for place in (edit.start, edit.end)), len(text.data)]
    assert ends == sorted(ends) and edits
    after = apply_edits(text.data, edits)
    assert after != text.data
    assert patched(text.data, list(unified(text, edits))) == shown(after)


def patched(data: bytes, diff: list[str]) -> str:
    """Carry a diff out the way `patch` does: context and removed lines must be there."""
    old, made, here = split(shown(data)), [], 0
    for place, line in enumerate(diff):
        if line.startswith("@@"):
            start = int(line.split()[1][1:].split(",")[0])
            count = int(line.split()[1].split(",")[1])
            start = start - 1 if count else start
            made += old[here:start]
            here = start
        elif line.startswith("\\"):
            continue
        else:
            ended = place + 1 >= len(diff) or not diff[place + 1].startswith("\\")
            text = line[1:] + ("\n" if ended else "")
            if line[0] in " -":
                assert old[here] == text
                here += 1
            if line[0] in " +":
                made.append(text)
    return "".join(made + old[here:])


def shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def split(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def check_better(text: Text, outcome: FixedLog) -> None:
    if outcome.refusal is not None or not outcome.done:
        return
    before, after = text.diagnostics, outcome.text.diagnostics
    assert outcome.done and outcome.worse == []
    if (missed := unreadable(after) - unreadable(before)) == 0:
        errors = [sum(one.is_error for one in found) for found in (before, after)]
        assert errors[1] < errors[0] or (errors[1] == errors[0] and len(after) < len(before))
        assert {one.code for one in after if one.is_error} <= {one.code for one in before}
    else:  # what can be read now may have faults of its own
        assert missed < 0
    assert outcome.text.dialect == text.dialect or text.dialect is None


def unreadable(found: list[Diagnostic]) -> int:
    """Count the lines that keep a record from being read."""
    return len({one.line for one in found if one.is_error and one.code[0] == "L" and one.code not in ("L102", "L119")})


@examples(150)
@given(drawn=anything, options=st.sampled_from(OPTIONS))
def test_a_plan_comes_back_from_its_file(drawn: tuple[bytes, Any], options: Options, folder: Path) -> None:
    text = text_of(drawn)
    plan, path = make_plan(text, text.diagnostics, options), folder / "plan.json"
    path.write_bytes(plan_bytes(plan, folder / "log.jsonl", text))
    again = read_plan(path)
    assert [(item.number, item.fix) for item in again.items] == [(item.number, item.fix) for item in plan.items]
    assert (again.sha256, again.size, again.dialect, again.options) == (plan.sha256, plan.size, text.dialect, options)
    assert all(line.isprintable() for line in plan_lines(folder / "log.jsonl", plan, text))
    assert sum(len(item.found) for item in plan.items) + len(plan.left) == len(text.diagnostics)
