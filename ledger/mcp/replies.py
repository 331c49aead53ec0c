"""What a tool answers: what its command printed, as text and structured, within bounds."""

import json
import re
from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult, ContentBlock, TextContent

from ledger.log.jsontext import decode, dump
from ledger.mcp.commands import CommandResult

MOST_CHARACTERS = 100_000
"""Of the text of an answer: more would drown the rest of an agent's context."""
MOST_SAID = 4_000

_USAGE = re.compile(r"^(?:Usage: .*|Try .* for help\.|)\n", re.MULTILINE)
_PREFIX = re.compile(r"^(?:ledger|Error): ", re.MULTILINE)
_CUTS = (1000, 300, 100, 30, 10, 3, 1)


def answer(gives: str, ended: CommandResult, rows: int = 0) -> CallToolResult:
    """Make the answer of a command that `gives` text, json or rows: at most so many of these.

    Exit status 0 and 1 are answers, findings among them; any other is an error with the command's own sentence. So is 1
    without any output: who finds something prints it.
    """
    # without what only a person at a terminal needs
    said = _PREFIX.sub("", _USAGE.sub("", ended.err.decode("utf-8", "replace"))).strip()
    if ended.code not in (0, 1) or (ended.code == 1 and not ended.out):
        return refusal(said or f"the command ended with status {ended.code} and said nothing")
    if gives == "text":
        return _result(_shortened(ended.out.decode("utf-8", "replace"), MOST_CHARACTERS), said)
    if gives == "rows":
        whole = ended.out.split(b"\n")[:-1]
        values = [decode(line).value for line in whole[:rows]]
        more = len(whole) > rows or ended.cut
        note = f"there are more rows than these {len(values)}: narrow the question, or sort it" if more else ""
        return _structured(values, {"rows": values, "more": more}, "\n".join(filter(None, (said, note))))
    if ended.cut or (value := decode(ended.out.strip()).value) is None:
        return refusal(f"the answer is too long: ask about one log, or select codes. {said}".strip())
    return _structured(value, value, said)


def refusal(sentence: str) -> CallToolResult:
    """Make the answer of a call that was refused."""
    return CallToolResult(content=[TextContent(text=_shortened(sentence, MOST_SAID))], is_error=True)


def _structured(shown: Any, value: Any, said: str) -> CallToolResult:
    """Give a value as text and structured; where that is too long, lists and texts in it are shortened."""
    text = dump(shown)
    if len(text) > MOST_CHARACTERS:
        for most in _CUTS:
            fitting = _fit(value, most)
            text = dump(fitting["rows"] if shown is not value else fitting)
            if len(text) <= MOST_CHARACTERS:
                said += f"\nshortened to fit: at most {most} items of a list and {100 * most} characters of a text"
                return _result(text, said.strip(), fitting)
        return refusal("the answer is too long: ask for fewer columns, or about one log")
    return _result(text, said, value)


def _fit(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {key: _fit(item, most) for key, item in value.items()}
    if isinstance(value, list):
        return [_fit(item, most) for item in value[:most]]
    return _shortened(value, 100 * most) if isinstance(value, str) else value


def _result(text: str, said: str, value: Any = None) -> CallToolResult:
    content: Sequence[ContentBlock] = [TextContent(text=part) for part in (text, _shortened(said, MOST_SAID)) if part]
    # Exact decimals are no JSON type of the protocol's library: a double is what a reader of JSON makes of them.
    structured = None if value is None else json.loads(dump(value))
    return CallToolResult(content=list(content), structured_content=structured)


def _shortened(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n[… {left:,} more characters]"
