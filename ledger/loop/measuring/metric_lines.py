"""METRIC lines, found in a program's output as it comes (protocols.md 7)."""

import re

from ledger.base.numbers import Number, number
from ledger.base.text import cut, plain
from ledger.dialects.base import FORBIDDEN_NAMES

LINE_BYTES = 4096
"""A METRIC line may have so many bytes; a longer one is refused before it fills the memory."""

NAMES = 1000
"""So many names are taken from one output."""

WARNINGS = 20
"""So many warnings are told one by one; the rest is a count."""

_START = b"\nMETRIC"
_LINE = re.compile(r"METRIC[ \t]+([\w.µ]+)=(\S+)\s*")
_SHOWN = 80


class Metrics:
    """Collect METRIC lines from output that comes in chunks, in constant memory whatever it is.

    `found` has the last value of each name, in the order in which the names came first.
    """

    def __init__(self) -> None:
        self.found: dict[str, Number] = {}
        self._rest = b"\n"  # what may become a METRIC line, with the newline before it; empty inside any other line
        self._warnings: list[str] = []
        self._refused = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the output."""
        data = self._rest + chunk
        place = data.find(_START)
        while place >= 0 and (end := data.find(b"\n", place + 1)) >= 0:
            self._take(data[place + 1 : end])
            place = data.find(_START, end)
        last = data.rfind(b"\n")
        self._rest = data[last:] if last >= 0 and _START.startswith(data[last : last + len(_START)]) else b""
        if len(self._rest) > LINE_BYTES + 1:
            self._take(self._rest[1:])
            self._rest = b""

    def close(self) -> None:
        """Take the last line, which may lack its newline."""
        if self._rest.startswith(_START):
            self._take(self._rest[1:])
        self._rest = b""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was refused and why: the first lines, then how many more there were."""
        more = self._refused - len(self._warnings)
        return (*self._warnings, f"{more:,} more METRIC lines were refused") if more else tuple(self._warnings)

    def _take(self, line: bytes) -> None:
        if line[6:7] not in (b" ", b"\t"):
            return  # another word, such as METRICS
        if problem := self._problem(line):
            self._refused += 1
            if len(self._warnings) < WARNINGS:
                shown = cut(plain(line[:LINE_BYTES].decode("utf-8", "replace")).strip(), _SHOWN)
                self._warnings.append(f"a METRIC line was refused, {problem}: {shown}")

    def _problem(self, line: bytes) -> str:
        """Take a line, or say what is wrong with it."""
        if len(line) > LINE_BYTES:
            return f"it is longer than {LINE_BYTES:,} bytes"
        try:
            matched = _LINE.fullmatch(line.decode())
        except UnicodeDecodeError:
            return "it is not UTF-8"
        if matched is None:
            return "it is not of the form METRIC name=number"
        name, value = matched.groups()
        if name in FORBIDDEN_NAMES:
            return "no metric may have this name"
        if name not in self.found and len(self.found) == NAMES:
            return f"there are {NAMES:,} names before it"
        try:
            self.found[name] = number(value)
        except ValueError:
            return "its value is no finite decimal number"
        return ""
