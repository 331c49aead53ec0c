"""Where a session's files are (PROTOCOLS 7): beside its log, in `.auto`, flat, or in autoresearch-results."""

from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical
from ledger.log.source import check_kind, session_log
from ledger.session.settings import Settings, find, project_folder

AUTO, FLAT, CODEX = "auto", "flat", "codex"
AUTO_FOLDER, CODEX_FOLDER = ".auto", "autoresearch-results"
SNAPSHOTS = ("AUTORESEARCH_STATE.json", "autoresearch-dashboard.md")
OUTPUT = "run.log"

_NAMES = {
    AUTO: {"prompt": "prompt.md", "measure": "measure.sh", "checks": "checks.sh", "ideas": "ideas.md"},
    FLAT: {
        "prompt": "autoresearch.md",
        "measure": "autoresearch.sh",
        "checks": "autoresearch.checks.sh",
        "ideas": "autoresearch.ideas.md",
    },
    CODEX: {"prompt": "prompt.md", "measure": "measure.sh", "checks": "checks.sh", "ideas": "ideas.md"},
}


class Session(NamedTuple):
    """Hold a session: its log, the folder it is about, the folder that commands run in, its layout and settings."""

    log: Path
    folder: Path
    workdir: Path
    layout: str
    settings: Settings

    def file(self, name: str) -> Path:
        """Name a session file: `prompt`, `measure`, `checks` or `ideas`."""
        return self.log.parent / _NAMES[self.layout][name]

    def side(self, name: str) -> Path:
        """Name a file of the program's own beside the log; it shares the log's stem, and so what is said of that."""
        return self.log.with_name(f"{self.log.stem}.{name}")

    def hook(self, stage: str) -> Path:
        """Name the hook of a stage, `before` or `after`: the one under `.auto` if it is there."""
        first = self.folder / AUTO_FOLDER / "hooks" / f"{stage}.sh"
        return first if first.exists() else self.folder / "autoresearch.hooks" / f"{stage}.sh"

    def snapshots(self) -> tuple[Path, Path]:
        """Name the two snapshots, which are beside the log."""
        state, dashboard = SNAPSHOTS
        return self.log.with_name(state), self.log.with_name(dashboard)

    def own(self) -> list[str]:
        """List the session's own files, relative to `workdir`, `*` matching any text: no experiment commits them."""
        patterns = [AUTO_FOLDER, "autoresearch.*", CODEX_FOLDER, OUTPUT, ".claude/*.local.md"]
        patterns += [f"{name}*" for name in SNAPSHOTS]
        if self.layout == FLAT and self.log.stem != "autoresearch":
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
    layout = AUTO if log.parent.name == AUTO_FOLDER else CODEX if log.name == "events.jsonl" else FLAT
    return Session(log, folder, workdir, layout, settings)


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
