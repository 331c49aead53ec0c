"""What a program wrote: kept in a file of bounded size, with its end at hand for a person."""

from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from ledger.base.errors import LedgerError, reason_of
from ledger.base.paths import show_path
from ledger.base.text import cut, plain

FIRST_BYTES = 32 * 1024 * 1024
"""So much of an output is kept from its start."""

LAST_BYTES = 1024 * 1024
"""So much is kept from its end, where it is longer."""

TAIL_BYTES = 4096
TAIL_LINES = 40

_LINE_COLUMNS = 500


class Output:
    """Keep an output in a file (None: nowhere), which is opened at once and written to as the output comes.

    `whole` keeps every byte, and makes the file's folder if need be; else it is FIRST_BYTES, a line that says how much
    is left out, and LAST_BYTES. `more` adds to the file. Raises LedgerError where the file cannot be written.
    """

    def __init__(self, path: Path | None, *, whole: bool = False, more: bool = False) -> None:
        self._path = path
        self._whole = whole
        self._size = 0
        self._end = bytearray()
        self._file = None if path is None else self._open(path, "a" if more else "w")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._finish()
        except LedgerError:
            if error is None:
                raise
        finally:
            if self._file is not None:
                self._file.close()

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._put(chunk if self._whole else chunk[: max(0, FIRST_BYTES - self._size)])
        self._size += len(chunk)
        self._end += chunk
        if len(self._end) > 2 * LAST_BYTES:
            del self._end[:-LAST_BYTES]

    @property
    def tail(self) -> str:
        """The last lines as plain text: at most TAIL_LINES, and of TAIL_BYTES."""
        data = bytes(self._end[-TAIL_BYTES:])
        if self._size > TAIL_BYTES and b"\n" in data[:-1]:
            data = data[data.index(b"\n") + 1 :]  # the first line is not whole
        lines = map(_shown, data.decode("utf-8", "replace").split("\n"))
        return "\n".join("\n".join(lines).strip("\n").split("\n")[-TAIL_LINES:])

    def _finish(self) -> None:
        left = self._size - FIRST_BYTES
        if self._whole or left <= 0:
            return
        if left > LAST_BYTES:
            self._put(f"\n[ledger left out {left - LAST_BYTES:,} bytes here]\n".encode())
        self._put(bytes(self._end[-min(left, LAST_BYTES) :]))

    def _open(self, path: Path, mode: str) -> FileIO:
        try:
            if self._whole:
                path.parent.mkdir(parents=True, exist_ok=True)
            return FileIO(path, mode)
        except OSError as error:
            raise self._failed(error) from None

    def _put(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while self._file is not None and left:
                left = left[self._file.write(left) or 0 :]  # a disk that is filling up takes a part
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> LedgerError:
        name = show_path(self._path or "")
        return LedgerError(f"cannot write the output to {name}: {reason_of(error)}")


def _shown(line: str) -> str:
    """Show a line as it looks once it is written: what a progress bar overwrote is gone."""
    return cut(plain(line.rstrip("\r").rpartition("\r")[2]).rstrip(), _LINE_COLUMNS)
