"""A mirror of its own, in a temporary folder: the figures of logs that no mirror has, or not yet all of."""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.engine import open_writer
from ledger.mirror.ingest import SyncOutcome
from ledger.mirror.raw import driver
from ledger.mirror.sync_one import sync_log


class TemporaryMirror:
    """Follow logs; only what was appended is read, whatever is wrong with them is no reason to leave them out."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mirror.db"
        self._lock = threading.Lock()
        self._held: dict[Path, Any] = {}
        self._problems: dict[Path, str] = {}

    def follow(self, logs: Mapping[Path, Any]) -> dict[Path, str]:
        """Take the logs as they are, each with its fingerprint; give those that could not be read, and why.

        Logs that are not among them any more are dropped.
        """
        with self._lock:
            changed = [log for log, seen in logs.items() if log not in self._held or self._held[log] != seen]
            dropped = [log for log in self._held if log not in logs]
            if changed or dropped:
                with open_writer(self.path) as connection:
                    raw = driver(connection)
                    raw.execute("PRAGMA synchronous = OFF")  # nobody needs it after a crash
                    for log in dropped:
                        if (known := store.find(raw, log)) is not None:
                            with connection.begin():
                                store.remove(raw, known.id)
                        self._problems.pop(log, None)
                        del self._held[log]
                    for log in changed:
                        self._take(log, partial(sync_log, connection, log, quarantine=True, lost=()))
                        self._held[log] = logs[log]
            return dict(self._problems)

    def _take(self, log: Path, sync: Callable[..., SyncOutcome]) -> None:
        try:
            outcome = sync()
            if outcome.refused:  # rewritten: what is there now counts
                outcome = sync(replace=True)
            problem = outcome.reason
        except LedgerError as error:
            problem = str(error)
        if problem:
            self._problems[log] = problem
        else:
            self._problems.pop(log, None)
