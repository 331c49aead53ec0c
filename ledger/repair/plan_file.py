"""Plans as files that a person can read, thin out and apply later."""

import base64
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.dialects import names
from ledger.log.diagnostics import Applicability, Diagnostic, Edit, Fix, Severity
from ledger.log.jsontext import dump
from ledger.log.source import read_small
from ledger.repair.diff import unified
from ledger.repair.fixer import Options
from ledger.repair.log_text import Text, record_of
from ledger.repair.plan import Item, RepairPlan
from ledger.rules import RULES

_VERSION = 1
_MOST_BYTES = 1 << 30


def plan_bytes(plan: RepairPlan, log: Path, text: Text) -> bytes:
    """Write a plan as JSON, an item a line, with the SHA-256 of the log that it is for."""
    head = {
        "version": _VERSION, "log": show_path(log), "sha256": plan.sha256, "size": plan.size,
        "dialect": plan.dialect, "options": plan.options._asdict(),
    }  # fmt: skip
    items = [dump(_item_object(item, text)) for item in plan.items]
    left = [dump({"code": one.code, "line": one.line, "message": _text(one.message)}) for one in plan.left]
    return f'{dump(head)[:-1]},\n"items":[{_block(items)}],\n"without_fix":[{_block(left)}]}}\n'.encode()


def _block(lines: list[str]) -> str:
    return "\n" + ",\n".join(lines) + "\n" if lines else ""


def _text(message: str) -> str:
    return message.encode("utf-8", "replace").decode()


def _item_object(item: Item, text: Text) -> dict[str, Any]:
    first = item.found[0]
    return {
        "item": item.number,
        "code": first.code,
        "line": first.line,
        "applicability": item.fix.applicability.value,
        "description": _text(item.fix.description),
        "findings": [{"code": one.code, "line": one.line} for one in item.found],
        "edits": [_edit_object(edit) for edit in item.fix.edits],
        "diff": "\n".join(unified(text, item.fix.edits)),
    }


def _edit_object(edit: Edit) -> dict[str, Any]:
    try:
        data = {"text": edit.data.decode()}
    except UnicodeDecodeError:
        data = {"base64": base64.b64encode(edit.data).decode()}
    moved = {} if edit.origin is None else {"origin": edit.origin}
    return {"start": edit.start, "end": edit.end, **data, **moved}


def read_plan(path: Path) -> RepairPlan:
    """Read a plan. Raises LedgerError for a file that is none, or holds an edit that no log could take."""
    data = read_small(path, _MOST_BYTES)
    if data is None:
        raise LedgerError(f"there is no plan {show_path(path)}; ledger repair --plan FILE makes one")
    value = record_of(data.replace(b"\n", b" ").strip())
    if value is None or not {"items", "sha256"} <= value.keys():
        raise LedgerError(f"{show_path(path)} is no plan; ledger repair --plan FILE makes one")
    if value.get("version") != _VERSION:
        raise LedgerError(f"{show_path(path)} is a plan of another version of ledger; make it again")
    try:
        return _plan(value)
    except (KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()) or "it is not whole"
        raise LedgerError(f"{show_path(path)} is no plan that can be carried out: {reason[:200]}") from None


def _plan(value: dict[str, Any]) -> RepairPlan:
    options, size, dialect = value.get("options", {}), _whole(value["size"]), value.get("dialect")
    if dialect not in (None, *names()):
        raise ValueError(f"{str(dialect)[:40]!r} is no protocol")
    if not isinstance(options, dict) or any(not isinstance(one, str | None) for one in options.values()):
        raise TypeError("its options are no texts")
    items = [_item(one, size) for one in _list(value["items"])]
    if len({item.number for item in items}) < len(items):
        raise ValueError("two items have the same number")
    if options.get("side") not in (None, "both", "ours", "theirs"):
        raise ValueError("its option 'side' is none of both, ours, theirs")
    known = {name: options[name] for name in Options._fields if options.get(name) is not None}
    return RepairPlan(str(value["sha256"]), size, dialect, Options(**known), items, [])


def _item(value: dict[str, Any], size: int) -> Item:
    found = tuple(_finding(one) for one in _list(value["findings"]))
    edits = tuple(_edit(one) for one in _list(value["edits"]))
    ends = [0, *(place for edit in edits for place in (edit.start, edit.end)), size]
    number = _whole(value["item"])
    if not found or not edits or number < 1 or ends != sorted(ends):
        raise ValueError(f"item {number} has no findings, no edits, or edits that no log could take")
    return Item(number, found, Fix(Applicability(value["applicability"]), str(value["description"]), edits))


def _finding(value: dict[str, Any]) -> Diagnostic:
    rule = RULES.get(str(value["code"]))
    name, severity = (rule.name, rule.severity) if rule else ("", Severity.ERROR)
    return Diagnostic(_whole(value["line"]), 1, str(value["code"]), name, severity, "")


def _edit(value: dict[str, Any]) -> Edit:
    text = value["text"] if "text" in value else value["base64"]
    if not isinstance(text, str):
        raise TypeError("an edit has no text")
    data = text.encode() if "text" in value else base64.b64decode(text, validate=True)
    return Edit(
        _whole(value["start"]), _whole(value["end"]), data, _whole(value["origin"]) if "origin" in value else None
    )


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{str(value)[:40]!r} is no count")
    return value


def _list(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise TypeError("a list of objects is needed")
    return value
