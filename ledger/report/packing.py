"""Large parts of a page's data, packed: deflated JSON in base64, which the page's script opens when it needs it."""

import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from ledger.log.events import Runs
from ledger.log.jsontext import dump

PLAIN_BYTES = 256 * 1024
"""What is no larger stays readable text."""
CHUNK_RUNS = 1000
ROOM = 8_500_000
"""As many bytes a page has for its runs and what they unfold: past that it says what it leaves out."""


def pack(column: Sequence[Any] | str) -> Any:
    """Give a column as it is, or `{"deflate": base64}` of its JSON text where that is large."""
    text = dump(column).encode()
    return column if len(text) <= PLAIN_BYTES else _deflated(zlib.compress(text))


def size_of(data: Mapping[str, Any]) -> int:
    """Count the bytes that a part of a page's data takes."""
    return sum(len(dump(value)) for value in data.values())


def _deflated(data: bytes) -> dict[str, str]:
    return {"deflate": b64encode(data).decode()}


class Details:
    """Gather what only an unfolded run shows, as JSON text, a chunk for each CHUNK_RUNS runs.

    Chunks are compressed as they fill, so that neither memory nor the page grows with what few will open.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._full: list[bytes] = []
        self._size = 0

    def add(self, runs: Runs, place: int) -> None:
        """Take the next run: its secondary metrics, asi and further keys, null where it has none."""
        metrics, asi, extras = runs.metrics[place], runs.asi[place], runs.extras[place]
        parts = [
            f'"{name}":{text}'
            for name, text in (("metrics", dump(metrics) if metrics else ""), ("asi", asi), ("more", extras))
            if text and text != "{}"
        ]
        self._open.append(f"{{{','.join(parts)}}}" if parts else "null")
        if len(self._open) == CHUNK_RUNS:
            self._close()

    def _close(self) -> None:
        text = f"[{','.join(self._open)}]".encode()
        self._open = []
        self._full.append(zlib.compress(text))
        self._size += len(text)

    def chunks(self, room: int) -> list[Any]:
        """Give the chunks, each a JSON text of an array, or packed where they are large in all.

        Of those that take more than `room` bytes the earliest are left out: None stands for each.
        """
        if self._open:
            self._close()
        if self._size <= PLAIN_BYTES:
            return [zlib.decompress(data).decode() for data in self._full]
        found: list[Any] = []
        for data in reversed(self._full):
            room -= len(data) * 4 // 3 + 20
            found.append(_deflated(data) if room >= 0 else None)
        return found[::-1]
