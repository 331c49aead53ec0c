"""The number that a metric command prints: its last line of stdout, or a key of the JSON object there."""

import codecs
from typing import Any

from ledger.base.numbers import Number, is_number, normal, number
from ledger.base.text import cut, plain
from ledger.log.jsontext import decode

ANSWER_BYTES = 1024 * 1024
"""So much of the end of stdout is looked at."""

_HARMLESS = frozenset(("nul", "bigint"))
_SHOWN = 80


class Answer:
    """Collect a command's stdout, in constant memory, for the one number that it is to end with."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_text = True
        self._size = 0
        self._end = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of stdout."""
        self._check(chunk)
        self._size += len(chunk)
        self._end += chunk
        if len(self._end) > 2 * ANSWER_BYTES:
            del self._end[:-ANSWER_BYTES]

    def _check(self, chunk: bytes, *, final: bool = False) -> None:
        if self._is_text:
            try:
                self._decoder.decode(chunk, final)
            except UnicodeDecodeError:
                self._is_text = False

    def value(self, json_key: str | None) -> Number:
        """Give the number. Raises ValueError with what was printed instead, as the rest of "it …"."""
        self._check(b"", final=True)
        if not self._is_text:
            raise ValueError("printed text that is not UTF-8")
        data, cut_off = bytes(self._end[-ANSWER_BYTES:]), self._size > ANSWER_BYTES
        if cut_off:
            data = data.partition(b"\n")[2]  # the first line is not whole
        last = next((line for line in reversed(data.split(b"\n")) if line.strip()), None)
        if last is None:
            raise ValueError(f"printed a line of more than {ANSWER_BYTES:,} bytes" if cut_off else "printed no number")
        if json_key is not None:
            return _member(last, None if cut_off else data, json_key)
        try:
            return number(last.decode().strip())
        except ValueError:
            raise ValueError(f"printed no finite decimal number as its last line but {_shown(last)}") from None


def _member(last: bytes, whole: bytes | None, key: str) -> Number:
    """Give a key's number: of the last line, or else of all the output, which may be one object on many lines."""
    read = decode(last.strip())
    if not isinstance(read.value, dict) and whole is not None and whole.lstrip().startswith(b"{"):
        read = decode(whole.strip())
    if wrong := next((note for note in read.notes if note.kind not in _HARMLESS), None):
        said = plain(f"{wrong.kind} {wrong.detail}").strip()
        raise ValueError(f"printed no sound JSON object as its last line but {_shown(last)} ({said})")
    if not isinstance(read.value, dict):
        raise ValueError(f"printed no JSON object as its last line but {_shown(last)}")
    found = _at(read.value, key)
    if not is_number(found):
        what = "no" if found is None else "no number as"
        raise ValueError(f"printed a JSON object with {what} {cut(plain(key), _SHOWN)!r}")
    return normal(found)


def _at(value: dict[str, Any], key: str) -> Any:
    """Look a key up: as it is written, else as a path of keys with dots between them."""
    if key in value:
        return value[key]
    found: Any = value
    for name in key.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _shown(line: bytes) -> str:
    return repr(cut(plain(line.decode("utf-8", "replace")).strip(), _SHOWN))
