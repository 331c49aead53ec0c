"""A session as files: its log, what is beside it, and the folders that it is about (protocols.md 7)."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import canonical
from ledger.dialects.base import AUTO, FLAT, FileLayout
from ledger.log.jsontext import decode, dump
from ledger.log.source import check_kind, read_small, run_json_of
from ledger.reading.discovery import owned_layouts, session_log
from ledger.session.settings import Settings, find

SNAPSHOTS = ("AUTORESEARCH_STATE.json", "autoresearch-dashboard.md")
OUTPUT = "run.log"
SCRIPTS = ("measure", "checks")

# The program's own files beside a log; `Session.side` says where each is.
RUN_LOCK = "run.lock"
"""Held by the one who measures."""
LOOP_LOCK = "loop.lock"
STEER_LOCK = "steer.lock"

ITERATION = "iteration.json"
"""The iteration under way."""
HARNESS = "harness.json"
"""What a segment is measured with, and its scope."""
LEAVINGS = "leavings.json"
"""Untracked files that measuring made: they are no part of any experiment."""
MEASUREMENT = "measurement.json"
"""The last measurement."""
LOOP = "loop.json"
"""What a loop does, as others see it."""
STOP = "stop"
"""There when a loop is asked to stop."""
STEER = "steer.jsonl"
"""Texts for the next brief."""
HOOKS = "hooks.jsonl"
"""The hook records of those protocols that have no place for them in the log."""
BRIEF, NOTE = "brief.md", "note.json"
"""What an agent is told, and its answer."""

AGENT_OUTPUT, LOOP_OUTPUT, CHECKS_OUTPUT = "agent.log", "runtime.log", "checks.log"

ARCHIVE = "archive"
"""The folder that concluded sessions are moved to."""


class Session(NamedTuple):
    """Hold a session: its log, the folder it is about, the folder that commands run in, its layout and settings."""

    log: Path
    folder: Path
    workdir: Path
    layout: FileLayout
    settings: Settings

    def file(self, name: str) -> Path:
        """Name a session file: `prompt`, `measure`, `checks` or `ideas`."""
        return self.log.parent / str(getattr(self.layout, name))

    def side(self, name: str) -> Path:
        """Name a file of the program's own beside the log; it shares the log's stem, and so what is said of that."""
        return self.log.with_name(f"{self.log.stem}.{name}")

    def put_object(self, name: str, value: Any, *, durable: bool = False) -> None:
        """Replace the content of a side file by a JSON object."""
        try:
            data = dump(value).encode()
        except UnicodeEncodeError:  # a file's name may be any bytes
            data = json.dumps(value).encode()
        put(self.side(name), data + b"\n", durable=durable)

    def get_object(self, name: str) -> dict[str, Any]:
        """Read a side file that holds a JSON object; empty if there is none, or it holds anything else."""
        data = read_small(self.side(name)) or b""
        try:
            value = json.loads(data) if b"\\ud" in data else decode(data.strip()).value
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def hook(self, stage: str) -> Path:
        """Name the hook of a stage, `before` or `after`: the one under `.auto` if it is there."""
        first = self.folder / AUTO.hooks / f"{stage}.sh"
        return first if first.exists() else self.folder / FLAT.hooks / f"{stage}.sh"

    def snapshots(self) -> list[Path]:
        """Name the two snapshots, which are beside the log: the state, then the dashboard."""
        return list(map(self.log.with_name, SNAPSHOTS))

    def own(self) -> list[str]:
        """List the session's own files, relative to `workdir`, `*` matching any text: no experiment commits them."""
        owned = [layout.folder for layout in owned_layouts()]
        patterns = [AUTO.folder, "autoresearch.*", *owned, OUTPUT, ".claude/*.local.md"]
        patterns += [f"{name}*" for name in SNAPSHOTS]
        if self.layout == FLAT and self.log.stem != Path(FLAT.log).stem:
            patterns += [self.log.name, f"{self.log.stem}.*"]
        return patterns


def of_log(log: Path, settings: Settings | None = None, base: Path | None = None) -> Session:
    """Make the session of a log; `base` is the folder whose settings they are, if not the log's own project.

    Raises LedgerError for a pipe or a device.
    """
    log = canonical(log)
    check_kind(log)
    folder = project_folder(log)
    if settings is None:
        settings = find(folder)
    given = settings.working_dir
    workdir = canonical((base or folder) / given) if given else folder
    owned = (layout for layout in owned_layouts() if _is_of(log, layout))
    layout = AUTO if log.parent.name == AUTO.folder else next(owned, FLAT)
    return Session(log, folder, workdir, layout, settings)


def project_folder(log: Path) -> Path:
    """Name the folder that a log is about: the one around a layout's own folder, else that which the log is in."""
    folder = log.absolute().parent
    return folder.parent if folder.name in (AUTO.folder, *(layout.folder for layout in owned_layouts())) else folder


def _is_of(log: Path, layout: FileLayout) -> bool:
    """Tell whether a log is, or is to be, one of a protocol's own; without its configuration any may have that name."""
    if log.name != Path(layout.log).name:
        return False
    return log.parent.name == layout.folder or not (layout.configured and log.exists()) or run_json_of(log).exists()


def here(folder: Path) -> Session:
    """Find the session of the current folder, as verbs without LOG do. Raises LedgerError if there is none.

    Settings may name another folder to work in; the log is looked for there first.
    """
    settings = find(folder)
    return of_log(log_here(folder, settings), settings, folder)


def log_here(folder: Path, settings: Settings | None = None) -> Path:
    """Find the log of the current folder's session."""
    given = (settings or find(folder)).working_dir
    return session_log(folder / given if given and has_log(folder / given) else folder)


def has_log(folder: Path) -> bool:
    """Tell whether a folder has a session."""
    try:
        session_log(folder)
    except LedgerError:
        return False
    return True
