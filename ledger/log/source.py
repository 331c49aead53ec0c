"""Log files as bytes: opened safely, split into physical lines, and watched for change while they are read."""

import hashlib
import io
import os
import stat
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Self

from ledger.base.errors import LedgerError, reason_of
from ledger.base.paths import show_path

BLOCK_BYTES = 64 * 1024
PEEK_BYTES = 4 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
STDIN = "-"
RUN_JSON = "run.json"
"""The file beside a log that configures it, where the log's protocol has one."""
DECISIONS = ".accepted.jsonl"
"""What the name of the file with a log's decisions has behind the log's."""


class Block(NamedTuple):
    """Hold whole physical lines as they stand in the file: `data` verbatim, `lines` without their newline.

    `offset` counts bytes from 0, `first_line` lines from 1. Only the file's last line may lack its newline
    (`terminated` false).
    """

    offset: int
    first_line: int
    data: bytes
    lines: list[bytes]
    terminated: bool


class LogFile:
    """Read one log: what was in it when it was opened, and nothing that came since.

    One that `appends` can be written to as well, at its end.
    """

    def __init__(self, path: Path | None, stream: IO[bytes], size: int, *, appends: bool = False) -> None:
        self.path = path
        self.size = size
        self.appends = appends
        self._stream = stream
        self._opened = os.fstat(stream.fileno()) if path else None
        self.hash = hashlib.sha256()  # of all that was handed out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def fileno(self) -> int:
        """Give the file's descriptor."""
        return self._stream.fileno()

    def restart(self) -> os.stat_result:
        """Stand at the start again, of what the file holds by now; give its status."""
        self._opened = os.fstat(self._stream.fileno())
        self.size = self._opened.st_size
        self._stream.seek(0)
        self.hash = hashlib.sha256()
        return self._opened

    def hold_back(self) -> None:
        """Leave out a last line that has no newline yet, before anything is read."""
        end, left = b"", self.size
        while left and b"\n" not in end:
            left = max(0, left - BLOCK_BYTES)
            self._stream.seek(left)
            end = self._stream.read(min(BLOCK_BYTES, self.size - left))
        self.size = left + end.rfind(b"\n") + 1
        self._stream.seek(0)

    def peek(self) -> Generator[tuple[int, bytes, bool], None, None]:
        """Yield (number, line, whether it ends with a newline) from the start; the file is left at its start."""
        try:
            for block in self.blocks(at_once=PEEK_BYTES):
                for number, line in enumerate(block.lines, block.first_line):
                    yield number, line, block.terminated
        finally:
            self._stream.seek(0)
            self.hash = hashlib.sha256()

    def skip(self, length: int) -> bytes:
        """Pass over the first `length` bytes, hashing them, and return their SHA-256."""
        left = length
        while left and (chunk := self._stream.read(min(left, 1 << 20))):
            self.hash.update(chunk)
            left -= len(chunk)
        return self.hash.copy().digest()

    def blocks(self, offset: int = 0, first_line: int = 1, at_once: int | None = None) -> Iterator[Block]:
        """Yield the rest of the file, from where the reading stands, in blocks of whole lines.

        Each has about 64 KiB, or `at_once`.
        """
        left, carry = self.size - offset, b""
        pieces: list[bytes] = []
        while left > 0 and (chunk := self._stream.read(min(left, at_once or BLOCK_BYTES))):
            left -= len(chunk)
            cut = chunk.rfind(b"\n") + 1
            if not cut:
                pieces.append(chunk)
                continue
            data = b"".join((carry, *pieces, chunk[:cut]))
            carry, pieces = chunk[cut:], []
            lines = data.split(b"\n")
            lines.pop()
            self.hash.update(data)
            yield Block(offset, first_line, data, lines, True)
            offset += len(data)
            first_line += len(lines)
        if last := b"".join((carry, *pieces)):
            self.hash.update(last)
            yield Block(offset, first_line, last, [last], False)

    def check_unchanged(self) -> None:
        """Raise LedgerError if what was read is no longer what the file holds: a rewrite was under way."""
        if self.path is None or self._opened is None:
            return
        name = show_path(self.path)
        try:
            now = self.path.stat()
        except FileNotFoundError:
            raise LedgerError(f"{name} was removed while it was read; run the command again") from None
        if (now.st_dev, now.st_ino) != (self._opened.st_dev, self._opened.st_ino) or now.st_size < self.size:
            raise LedgerError(f"{name} was replaced while it was read; run the command again")
        if now.st_mtime_ns == self._opened.st_mtime_ns:
            return
        read, self.hash = self.hash.digest(), hashlib.sha256()
        self._stream.seek(0)
        if self.skip(self.size) != read:
            raise LedgerError(f"{name} was rewritten while it was read; run the command again")


def open_log(path: Path | None, *, appends: bool = False) -> LogFile:
    """Open a log for reading (None: standard input), and where that `appends` and may, for writing at its end.

    Raises LedgerError for anything but a readable regular file.
    """
    if path is None:
        import shutil
        import tempfile

        spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the LogFile that takes it
        shutil.copyfileobj(sys.stdin.buffer, spool)
        size = spool.tell()
        spool.seek(0)
        return LogFile(None, spool, size)
    appends = appends and os.access(path, os.W_OK) and path.is_file()
    way = os.O_RDWR | os.O_APPEND if appends else os.O_RDONLY
    try:
        descriptor = os.open(path, way | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise LedgerError(f"cannot read {show_path(path)}: {reason_of(error)}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _irregular(path, status.st_mode)
    return LogFile(path, io.FileIO(descriptor), status.st_size, appends=appends)


def check_kind(path: Path) -> None:
    """Raise LedgerError for a pipe or a device, before anything is made beside it."""
    try:
        mode = path.stat().st_mode
    except OSError:  # whoever opens it will say so
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _irregular(path, mode)


def _irregular(path: Path, mode: int) -> LedgerError:
    kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    return LedgerError(f"cannot read {show_path(path)}: it is {kind}")


def read_small(path: Path, limit: int = MAX_LINE_BYTES) -> bytes | None:
    """Read a side file whole (run.json, settings); None if there is none. Raises LedgerError if it cannot be read."""
    try:
        with open_log(path) as file:
            if file.size > limit:
                raise LedgerError(f"cannot read {show_path(path)}: it is larger than {limit:,} bytes")
            return b"".join(block.data for block in file.blocks())
    except LedgerError:
        if not path.exists():
            return None
        raise


def run_json_of(log: Path) -> Path:
    """Name the file that configures a log, where its protocol has one."""
    return log.with_name(RUN_JSON)


def decisions_of(log: Path) -> Path:
    """Name the file with the decisions on a log's findings."""
    return log.with_name(f"{log.name}{DECISIONS}")
