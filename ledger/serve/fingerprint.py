"""What tells whether a file is still the one that was read, without reading it."""

import hashlib
import os
from pathlib import Path
from typing import Any

from ledger import __version__
from ledger.log.source import decisions_of, run_json_of
from ledger.mirror.engine import open_reader
from ledger.mirror.location import Location
from ledger.mirror.raw import driver
from ledger.session.files import project_folder
from ledger.session.settings import CONFIG, PLUGIN

Fingerprint = tuple[int, ...]

_FRESH_NS = 5_000_000_000
"""What is written in one go takes no longer than this, in nanoseconds."""


def fingerprint(path: Path) -> Fingerprint | None:
    """Take a file's identity, size and times; None if it is gone, nothing in it if it may not be looked at."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def log_fingerprint(log: Path) -> tuple[Fingerprint | None, ...]:
    """Take the fingerprints of all that a log's page is made of, the log's own first."""
    folder = project_folder(log)
    beside = (run_json_of(log), decisions_of(log), folder / CONFIG, folder / PLUGIN)
    return tuple(map(fingerprint, (log, *beside)))


def is_fresh(seen: Fingerprint | None, now_ns: int) -> bool:
    """Tell whether a file was written to so lately that its writer may be in the middle of a line."""
    return seen is not None and len(seen) > 3 and 0 <= now_ns - seen[3] < _FRESH_NS


def mirror_fingerprint(mirror: Location) -> tuple[Any, ...]:
    """Take those of a mirror and of its write-ahead log, to one of which every commit goes; on a server ask it."""
    if not isinstance(mirror, Path):
        with open_reader(mirror) as connection:
            sql = "SELECT count(*), sum(id), max(synced_ms) FROM session"
            return () if connection is None else tuple(driver(connection).execute(sql).fetchone())
    return fingerprint(mirror), fingerprint(mirror.with_name(f"{mirror.name}-wal"))


def tag_of(*parts: object) -> str:
    """Make an entity tag of what an answer depends on; another version of the program may answer otherwise."""
    return hashlib.sha256(repr((__version__, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def id_of(path: Path) -> str:
    """Make the opaque name by which a log is asked for; no path is read from an address."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
