"""What is served under which name: the index, a page a log, the comparison; each read again when it has changed."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.times import now_ms
from ledger.dialects import of
from ledger.log.source import open_log
from ledger.mirror import store
from ledger.mirror.engine import open_reader
from ledger.mirror.location import Location
from ledger.mirror.queries import Filters
from ledger.mirror.raw import driver
from ledger.mirror.store import StoredSession
from ledger.report.account import Account, read, verdict_on
from ledger.report.comparison import compare
from ledger.report.data import report
from ledger.report.from_mirror import read_stored
from ledger.serve.catalog import Catalog, ServedLog, check_place
from ledger.serve.fingerprint import Fingerprint, is_fresh, log_fingerprint, mirror_fingerprint, tag_of
from ledger.serve.index import Row, Standing, index, standings
from ledger.serve.temporary_mirror import TemporaryMirror

LARGE = 4 * 1024 * 1024
"""Logs of more bytes than this are read one at a time, so that memory does not grow with the readers."""


class GoneError(LedgerError):
    """A log that was here is no more."""


class Shown(NamedTuple):
    """Hold what an address stands for: the `tag` of its state by now, and how its data is made."""

    tag: str
    data: Callable[[], Mapping[str, Any]]


class Site:
    """Answer for a catalog of logs; `temporary` reads those that no mirror has."""

    def __init__(self, catalog: Catalog, temporary: TemporaryMirror) -> None:
        self._catalog = catalog
        self._temporary = temporary
        self._large = threading.Lock()
        self._stood: dict[str, tuple[Any, Standing]] = {}
        self._clocked: set[str] = set()

    def index(self) -> Shown:
        """Show which sessions there are."""
        entries = self._catalog.entries()
        seen = {one.id: log_fingerprint(one.path)[:3] for one in entries}
        tag = tag_of("index", self._mirror_fingerprint(), self._catalog.notes, *seen.items())
        return Shown(tag, lambda: index(list(self._rows(entries, seen)), self._catalog.label, self._catalog.notes))

    def compare(self) -> Shown:
        """Show the sessions against each other: from the mirror, or by what the named logs hold."""
        if self._catalog.mirror is not None:
            return Shown(tag_of("compare", self._mirror_fingerprint()), lambda: _compared(self._catalog.mirror))
        entries = self._catalog.entries()
        seen = {one.id: log_fingerprint(one.path)[:3] for one in entries}
        return Shown(tag_of("compare", *seen.items()), lambda: self._compare(entries, seen))

    def log(self, name: str) -> Shown | None:
        """Show a log by its opaque name, None if there is none of that name. Raises GoneError if it has vanished."""
        entry = self._catalog.find(name)
        if entry is None:
            return None
        seen = log_fingerprint(entry.path)
        if seen[0] is None and entry.stored is None:
            raise GoneError(f"{show_path(entry.path)} is gone")
        stored = (entry.stored.sha256, entry.stored.tail_size) if entry.stored and seen[0] is None else None
        minute = now_ms() // 60_000 if name in self._clocked else None
        torn = is_fresh(seen[0], time.time_ns()) and _is_unfinished(entry.path)
        return Shown(tag_of("log", name, seen, stored, minute, torn), lambda: self._log(entry, seen[0], torn))

    def _log(self, entry: ServedLog, seen: Fingerprint | None, torn: bool) -> Mapping[str, Any]:
        with self._large if seen and seen[2] > LARGE else nullcontext():
            account = self._read(entry, torn) if seen is not None else self._read_stored(entry)
            made = report(account, verdict_on(account, None if seen is None else entry.path, now_ms()))
        if of(account.state).watches_clock:
            self._clocked.add(entry.id)
        if seen is None:
            where = "on another machine" if entry.stored and entry.stored.foreign else "gone"
            made["log"]["name"] += f" ({where}; this is what the mirror has of it)"
        return made

    def _read(self, entry: ServedLog, torn: bool) -> Account:
        check_place(entry)
        with open_log(entry.path) as file:
            if torn:  # its writer is at it; what a crash left is shown once nobody writes any more
                file.hold_back()
            return read(file, entry.path)

    def _read_stored(self, entry: ServedLog) -> Account:
        assert self._catalog.mirror is not None
        with open_reader(self._catalog.mirror) as connection:
            known = entry.stored.id if entry.stored else 0
            session = None if connection is None else store.read(driver(connection), known)
            if connection is None or session is None:
                raise GoneError(f"{show_path(entry.path)} is gone, and the mirror has it no more")
            with connection.begin():
                return read_stored(driver(connection), session)

    def _rows(self, entries: list[ServedLog], seen: Mapping[str, tuple[Fingerprint | None, ...]]) -> Iterator[Row]:
        """Make the rows of the index; only what has changed since the last time is read again."""
        alive = [one for one in entries if seen[one.id][0] is not None]
        behind = [one for one in alive if one.stored is None or _is_behind(one.stored, seen[one.id])]
        problems = self._follow(behind, seen)
        marks = {one.id: (seen[one.id], one.stored) for one in entries}
        changed = [one for one in entries if one.id not in self._stood or self._stood[one.id][0] != marks[one.id]]
        newer = set(behind)
        self._stand(self._temporary.path, [one for one in changed if one in newer], marks)
        if self._catalog.mirror is not None:
            self._stand(self._catalog.mirror, [one for one in changed if one not in newer], marks)
        for one in entries:
            _, standing = self._stood.get(one.id, (None, None))
            yield Row(one, standing, seen[one.id][0] is None, problems.get(one.path, ""))

    def _follow(self, entries: list[ServedLog], seen: Mapping[str, Any]) -> dict[Path, str]:
        problems = {}
        for one in entries:
            try:
                check_place(one)
            except LedgerError as error:
                problems[one.path] = str(error)
        taken = {one.path: seen[one.id] for one in entries if one.path not in problems}
        return {**problems, **self._temporary.follow(taken)}

    def _stand(self, mirror: Location, entries: list[ServedLog], marks: Mapping[str, Any]) -> None:
        if not entries:
            return
        own = mirror == self._temporary.path
        names = {one.id: one.stored.path if one.stored and not own else store.path_text(one.path) for one in entries}
        with _reading(mirror) as raw:
            found = {} if raw is None else standings(raw, list(names.values()))
        for one in entries:
            if (standing := found.get(names[one.id])) is not None:
                self._stood[one.id] = (marks[one.id], standing)

    def _compare(self, entries: list[ServedLog], seen: Mapping[str, Any]) -> Mapping[str, Any]:
        self._follow([one for one in entries if seen[one.id][0] is not None], seen)
        return _compared(self._temporary.path)

    def _mirror_fingerprint(self) -> Any:
        return self._catalog.mirror and mirror_fingerprint(self._catalog.mirror)


def _is_unfinished(log: Path) -> bool:
    try:
        with open_log(log) as file:
            size = file.size
            file.hold_back()
            return file.size < size
    except LedgerError:
        return False


def _is_behind(stored: StoredSession, fingerprints: tuple[Fingerprint | None, ...]) -> bool:
    """Tell whether a log, or a file beside it, may have changed since it was mirrored."""
    seen = fingerprints[0]
    if not seen:
        return False
    held = stored.size + stored.tail_size + stored.pending_bytes
    return seen[2] != held or any(one[3] // 1_000_000 > stored.synced_ms for one in fingerprints if one)


def _compared(mirror: Location | None) -> Mapping[str, Any]:
    assert mirror is not None
    with _reading(mirror) as raw:
        return compare(raw, Filters())


@contextmanager
def _reading(mirror: Location) -> Iterator[Any]:
    """Open a mirror as it is now; None if there is none."""
    with open_reader(mirror) as connection:
        if connection is None:
            yield None
            return
        with connection.begin():
            yield driver(connection)
