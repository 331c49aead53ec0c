"""Write records as JSON with every liberty a real writer takes: spacing, key order, escapes, number spellings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


class Num(str):
    """A JSON number kept as its text, such as `1.50` or `1e5`."""

    __slots__ = ()


@dataclass(frozen=True)
class Style:
    """How a writer spells its lines; `order` is "as is", "sorted" or "reversed"."""

    comma: str = ","
    colon: str = ":"
    order: str = "as is"
    ascii: bool = False
    end: str = "\n"


def dump(value: object, style: Style) -> str:
    """Return the JSON text of a value; numbers are int or Num, never float."""
    if isinstance(value, Num):
        return str(value)
    if isinstance(value, Mapping):
        keys = list(value)
        keys = {"as is": keys, "sorted": sorted(keys), "reversed": keys[::-1]}[style.order]
        return "{" + style.comma.join(dump(key, style) + style.colon + dump(value[key], style) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join(dump(item, style) for item in value) + "]"
    if isinstance(value, float):
        raise TypeError("spell the number: Num, not float")
    return json.dumps(value, ensure_ascii=style.ascii)


def lines(records: Sequence[Record | str], style: Style, final_newline: bool = True) -> bytes:
    """Return a log's bytes; a str among the records is a line to write as it stands (a blank one, for instance)."""
    texts = [record if isinstance(record, str) else dump(record, style) for record in records]
    data = "".join(text + style.end for text in texts)
    return (data if final_newline else data.removesuffix(style.end)).encode()
