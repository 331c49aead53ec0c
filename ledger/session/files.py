"""A session as files: its log, what is beside it, and the folders that it is about (protocols.md 7)."""

from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.dialects.base import AUTO, FLAT, FileLayout
from ledger.log.source import check_kind
from ledger.reading.discovery import owned_layouts, session_log
from ledger.session.layouts import layout_of, project_folder
from ledger.session.settings import Settings, find

SNAPSHOTS = ("AUTORESEARCH_STATE.json", "autoresearch-dashboard.md")
OUTPUT = "run.log"


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

    def hook(self, stage: str) -> Path:
        """Name the hook of a stage, `before` or `after`: the one under `.auto` if it is there."""
        first = self.folder / AUTO.hooks / f"{stage}.sh"
        return first if first.exists() else self.folder / FLAT.hooks / f"{stage}.sh"

    def snapshots(self) -> tuple[Path, Path]:
        """Name the two snapshots, which are beside the log."""
        state, dashboard = SNAPSHOTS
        return self.log.with_name(state), self.log.with_name(dashboard)

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
    return Session(log, folder, workdir, layout_of(log), settings)


def here(folder: Path) -> Session:
    """Find the session of the current folder, as verbs without LOG do. Raises LedgerError if there is none.

    Settings may name another folder to work in; the log is looked for there first.
    """
    settings = find(folder)
    return of_log(log_here(folder, settings), settings, folder)


def log_here(folder: Path, settings: Settings | None = None) -> Path:
    """Find the log of the current folder's session."""
    given = (settings or find(folder)).working_dir
    for place in [folder / given, folder] if given else [folder]:
        if has_log(place):
            return session_log(place)
    return session_log(folder)


def has_log(folder: Path) -> bool:
    """Tell whether a folder has a session."""
    try:
        session_log(folder)
    except LedgerError:
        return False
    return True
