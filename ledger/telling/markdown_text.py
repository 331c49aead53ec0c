"""Text of logs and files in Markdown: whatever it holds, it cannot break out of its place."""

import re
from collections.abc import Sequence
from typing import Any

from ledger.base.text import plain
from ledger.log.jsontext import dump

_BACKTICKS = re.compile(r"`+")
_HIDDEN = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SPECIAL = re.compile(r"[\\|<`*\[]")


def exact(value: Any) -> str:
    """Write a decoded value as JSON on one line that reads back as the same value, every odd character escaped."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", dump(value))


def code(text: str) -> str:
    """Wrap a text without line breaks into a code span: it is shown as it is, backticks too."""
    if not text:
        return "(empty)"
    fence = "`" * (_longest(text) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def verbatim(text: str) -> str:
    """Wrap a text into a code span as it is; as JSON, and called so, where it has breaks or control characters."""
    return code(text) if plain(text) == text else f"(JSON) {code(exact(text))}"


def fenced(text: str, language: str = "") -> str:
    """Wrap a text of many lines into a code block; control and escape characters are taken out."""
    tidy = clean(text).strip("\n")
    fence = "`" * max(3, _longest(tidy) + 1)
    return f"{fence}{language}\n{tidy}\n{fence}"


def clean(text: str) -> str:
    """Take out control and escape characters, and leave line breaks and tabs."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in lines)


def inline(text: str) -> str:
    """Write a text on one line so that it stays in its place, in a table's cell too."""
    return _SPECIAL.sub(r"\\\g<0>", plain(text).strip())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of cells that are Markdown already."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def _longest(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
