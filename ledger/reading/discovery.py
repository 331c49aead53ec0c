"""Which logs are meant: those that arguments name, those of a folder, and the one of the session in it."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from ledger import dialects
from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.dialects.base import AUTO, FLAT, FileLayout
from ledger.log.source import DECISIONS, RUN_JSON, STDIN

_SKIPPED_FOLDERS = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__"))


def owned_layouts() -> list[FileLayout]:
    """List the layouts that a protocol has to itself."""
    return [dialect.layout for dialect in dialects.DIALECTS if dialect.layout is not None]


def find_logs(arguments: tuple[str, ...]) -> list[Path | None]:
    """Turn command-line arguments into logs, each once: files as named, folders searched for the known names.

    `-` is standard input (None). A log is named by its file, its folder, the configuration beside it where its protocol
    has one, or the decisions beside it, since a hook is given what was changed. Raises LedgerError for a missing path
    and for a folder without logs.
    """
    found: dict[Path | None, None] = {}
    for argument in arguments:
        for log in [None] if argument == STDIN else _logs_of(Path(argument)):
            found.setdefault(log)
    return list(found)


def _logs_of(path: Path) -> list[Path]:
    if path.name == RUN_JSON and not path.is_dir():
        names = [PurePath(layout.log).name for layout in owned_layouts() if layout.configured]
        beside = [path.with_name(name) for name in names if path.with_name(name).exists()]
        if not beside:
            raise LedgerError(f"{show_path(path)} has no {' or '.join(names)} beside it; name the log itself")
        return list(map(canonical, beside))
    if path.name.endswith(DECISIONS) and path.with_name(path.name.removesuffix(DECISIONS)).is_file():
        path = path.with_name(path.name.removesuffix(DECISIONS))
    if not path.is_dir():
        if not path.exists():
            raise LedgerError(f"cannot read {show_path(path)}: no such file or folder")
        return [canonical(path)]
    logs = sorted(_walk(path))
    if not logs:
        *names, last = (layout.log for layout in (FLAT, AUTO, *owned_layouts()))
        raise LedgerError(
            f"no log in {show_path(path)}: looked for {', '.join(names)} and {last}; name a file to read one with"
            " another name"
        )
    return [canonical(log) for log in logs]


def _walk(top: Path) -> Iterator[Path]:
    layouts = FLAT, AUTO, *owned_layouts()
    for folder, folders, files in os.walk(top):
        here = Path(folder)
        kept = set(folders) - _SKIPPED_FOLDERS
        folders[:] = sorted(name for name in kept if not (here / name / "pyvenv.cfg").exists())
        yield from dict.fromkeys(here / PurePath(layout.log).name for layout in layouts if _holds(here, files, layout))


def _holds(folder: Path, files: list[str], layout: FileLayout) -> bool:
    """Tell whether a folder with these files has a log of this layout: in its own folder, or beside its configuration.

    A log of a layout without a folder of its own may be in any.
    """
    if PurePath(layout.log).name not in files:
        return False
    return layout.folder in ("", folder.resolve().name) or (layout.configured and RUN_JSON in files)


def session_log(folder: Path) -> Path:
    """Find the current folder's session log, as verbs without LOG do. Raises LedgerError if there is none."""
    for layout in (AUTO, FLAT, *owned_layouts()):
        for name in (layout.log, PurePath(layout.log).name) if layout.configured else (layout.log,):
            if (folder / name).is_file():  # beside its configuration, a log may be anywhere
                return canonical(folder / name)
    raise LedgerError(f"No active session in {show_path(folder)}: name a log, or change to a folder that has one")
