"""What folders and files are called: safe on every file system, and read back by every reader of Hive partitions."""

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import quote

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What readers of Hive partitions take for a missing value."""

_LONGEST = 200
"""Bytes of an encoded name past which it is cut: with its key it has to fit into the 255 of a file's name."""

_KEPT = 100
"""What is left of such a name, in whole characters."""

_OURS = re.compile(
    r"(?P<view>[a-z]+)/(?:[a-z_]+=[^/]*/)?(?:part-(?:all|none|[0-9a-f]+-\d+-[0-9a-f]{8})\.parquet|\.part-[0-9a-f]+\.tmp)"
)


def is_ours(path: str, views: frozenset[str]) -> bool:
    """Tell whether a path in the folder is one that an export gives to its files."""
    found = _OURS.fullmatch(path)
    return found is not None and found["view"] in views


class Folders:
    """Name the folders of a column's values, as `key=value`; `known` are those of earlier exports, by their names.

    Where another value's folder differs in case alone, which some file systems do not tell apart, letters are encoded
    too.
    """

    def __init__(self, key: str, known: Mapping[str, str | None]) -> None:
        self._key = key
        self._names = {value: name for name, value in known.items()}
        self._taken = {name.casefold() for name in known}

    def of(self, value: str | None) -> str:
        """Give the folder of a value, always the same."""
        if value not in self._names:
            name = f"{self._key}={_encoded(value)}"
            if name.casefold() in self._taken:
                name = f"{self._key}={_encoded(value, letters=True)}"
            self._names[value] = name
            self._taken.add(name.casefold())
        return self._names[value]

    def names(self) -> dict[str, str | None]:
        """Give all folders with their values."""
        return {name: value for value, name in self._names.items()}


def _encoded(value: str | None, *, letters: bool = False) -> str:
    """Encode a value by percent signs.

    One that is too long, or is what readers take for a missing value, is told by a hash and not read back from there.
    """
    if value is None:
        return NULL
    made = "".join(f"%{byte:02X}" for byte in value.encode()) if letters else _quoted(value)
    if len(made) <= _LONGEST and value != NULL:
        return made
    digest = hashlib.sha256(value.encode()).hexdigest()
    while len(_quoted(value)) > _KEPT:
        value = value[: min(_KEPT, len(value) - 1)]
    return f"{_quoted(value)}~{digest[:16]}"


def _quoted(value: str) -> str:
    """Encode what is no letter, digit, `_`, `-` or `.`, and a dot at the end, which Windows would drop."""
    made = quote(value, safe="").replace("~", "%7E")
    return f"{made[:-1]}%2E" if made.endswith(".") else made


def part(session: str, line: int, content: str) -> str:
    """Name the file of a session's rows from a line on; other content of the session gives another name."""
    return f"part-{session}-{line}-{hashlib.sha256(content.encode()).hexdigest()[:8]}.parquet"
