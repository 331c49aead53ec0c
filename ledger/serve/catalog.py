"""The logs that may be shown: those that were named, found in a folder that was named, or in the mirror."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.base.text import counted
from ledger.log.source import run_json_of
from ledger.mirror import store
from ledger.mirror.engine import open_reader
from ledger.mirror.location import Location, show
from ledger.mirror.raw import driver
from ledger.mirror.store import StoredSession
from ledger.reading.discovery import find_logs
from ledger.serve.fingerprint import id_of, mirror_fingerprint

_PAUSE = 1.0
"""Seconds between two looks into a folder, however many ask; a folder that takes long is left alone for longer."""

_TOLD = 3


class ServedLog(NamedTuple):
    """Hold a log: `top` is the folder that it was found in, `stored` what the mirror has of it."""

    id: str
    path: Path
    top: Path | None = None
    stored: StoredSession | None = None


class NamedLogs:
    """Hold the logs and folders that were named; new logs are found, and those that vanish are remembered."""

    mirror: Location | None = None

    def __init__(self, places: Sequence[Path]) -> None:
        more = len(places) - _TOLD
        self.label = ", ".join(map(show_path, places[:_TOLD])) + (f" and {more:,} more" if more > 0 else "")
        self.notes: list[str] = []
        self._folders = [place for place in places if place.is_dir()]
        self._known: dict[str, ServedLog] = {}
        self._lock = threading.Lock()
        self._next = 0.0
        for place in places:
            if place not in self._folders:
                self._add([ServedLog(id_of(log), log) for log in find_logs((str(place),)) if log is not None])

    def entries(self) -> list[ServedLog]:
        """List the logs as they are by now."""
        with self._lock:
            if (begun := time.monotonic()) >= self._next:
                self._look()
                now = time.monotonic()
                self._next = now + max(_PAUSE, 10 * (now - begun))
            return list(self._known.values())

    def find(self, name: str) -> ServedLog | None:
        """Find a log by its opaque name."""
        return self._known.get(name) or next((one for one in self.entries() if one.id == name), None)

    def _add(self, found: Sequence[ServedLog]) -> None:
        for one in found:
            self._known.setdefault(one.id, one)

    def _look(self) -> None:
        notes, astray = [], 0
        for top in self._folders:
            try:
                logs = [log for log in find_logs((str(top),)) if log is not None]
            except LedgerError as error:
                notes.append(str(error))
                continue
            inside = [log for log in logs if log.is_relative_to(top)]
            astray += len(logs) - len(inside)
            self._add([ServedLog(id_of(log), log, top) for log in inside])
        if astray:
            notes.append(f"{counted(astray, 'link')} to a log outside the folder: name such a log itself to see it")
        self.notes = notes


class MirroredLogs:
    """Hold the sessions of a mirror, whose logs are shown as they are by now, or from the mirror if they are gone."""

    def __init__(self, mirror: Location) -> None:
        self.mirror: Location | None = mirror
        self.label = f"the mirror {show(mirror)}"
        self.notes: list[str] = []
        self._path = mirror
        self._known: dict[str, ServedLog] = {}
        self._lock = threading.Lock()
        self._seen: Any = None

    def entries(self) -> list[ServedLog]:
        """List the sessions that the mirror has by now. Raises LedgerError if it cannot be read."""
        with self._lock:
            now = mirror_fingerprint(self._path)
            if now != self._seen:
                self._look()
                self._seen = now
            return list(self._known.values())

    def find(self, name: str) -> ServedLog | None:
        """Find a session by its opaque name."""
        self.entries()
        return self._known.get(name)

    def _look(self) -> None:
        with open_reader(self._path) as connection:
            sessions = [] if connection is None else store.every(driver(connection))
        none_yet = f"There is no mirror at {show(self._path)} yet: run ledger sync, or name logs and folders."
        self.notes = [] if connection is not None else [none_yet]
        # The fold is long, and nothing here asks for it.
        self._known = {
            name: ServedLog(name, place, None, one._replace(fold="", run_json=None))
            for one in sessions
            for place in (Path(f"{one.host}:{one.file}") if one.foreign else one.file,)
            for name in (id_of(place),)
        }


Catalog = NamedLogs | MirroredLogs


def check_place(entry: ServedLog) -> None:
    """Raise LedgerError if a log's place has become a link: it would lead out of what was named."""
    held = [entry.path] if entry.top is None else [entry.path, run_json_of(entry.path)]
    for path in held:
        if canonical(path) != path:
            raise LedgerError(f"{show_path(path)} is a link to somewhere else; it is not followed")
