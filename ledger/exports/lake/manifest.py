"""What earlier exports left in the folder: a file of it says so, and nothing else may be there."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.files import replacing
from ledger.base.paths import show_path
from ledger.exports.lake import file_names
from ledger.log.jsontext import dump, load
from ledger.mirror.views import VIEWS

NAME = "ledger-export.json"
LOCK = "ledger-export.lock"
VERSION = 1

_IGNORED = (NAME, LOCK, ".DS_Store")
_NAMES = frozenset(view.name for view in VIEWS)


class SessionFiles(NamedTuple):
    """Say what the files hold of a session: its content when it was read, and whether its last line was unfinished.

    `lines` counts those that are held. `size` is in bytes.
    """

    path: str
    dialect: str | None
    size: int
    sha256: str
    open: bool
    lines: int
    files: tuple[str, ...]


class ViewFiles(NamedTuple):
    """Hold what there is of a view: its columns, whose each folder is, and its files; those of sessions are theirs.

    `revision` is the schema of the mirror whose rows they hold: another one may have derived other rows.
    """

    revision: str
    columns: list[str]
    folders: dict[str, str | None]
    files: list[str]
    sessions: dict[str, SessionFiles]

    def all_files(self) -> set[str]:
        """Give every file of the view."""
        return {*self.files, *(file for held in self.sessions.values() for file in held.files)}


def read(lake: Path) -> dict[str, ViewFiles]:
    """Read what is in the folder, by view; an empty folder is one with nothing in it.

    Raises LedgerError for a folder, or a file in it, that no export made.
    """
    path = lake / NAME
    if not path.is_file():
        if any(entry.name not in (LOCK, ".DS_Store") for entry in lake.iterdir()):
            raise LedgerError(f"{show_path(lake)} holds other things than an export; name a folder of its own with -o")
        return {}
    try:
        held = load(path.read_text("utf-8"))
        if held["version"] != VERSION:
            raise LedgerError(f"{show_path(path)} was written by another version of ledger; export to a new folder")
        return {name: _view_files(value) for name, value in held["views"].items() if name in _NAMES}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LedgerError(f"{show_path(path)} is damaged; remove its folder, and export again") from None


def _view_files(value: dict[str, Any]) -> ViewFiles:
    """Read a view's part; raise ValueError if what it names, which may be removed, is not of the folder's own."""
    sessions = {key: SessionFiles(**{**held, "files": tuple(held["files"])}) for key, held in value["sessions"].items()}
    made = ViewFiles(value["revision"], value["columns"], dict(value["folders"]), list(value["files"]), sessions)
    if not all(file_names.is_ours(file, _NAMES) for file in made.all_files()):
        raise ValueError
    return made


def save(lake: Path, held: dict[str, ViewFiles]) -> None:
    """Write down what is in the folder, in one step."""
    views = {
        name: {**view._asdict(), "sessions": {key: session._asdict() for key, session in view.sessions.items()}}
        for name, view in held.items()
    }
    with replacing(lake / NAME, fresh=lake / f"{NAME}.tmp") as file:
        file.write(dump({"version": VERSION, "views": views}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def sweep(lake: Path, held: dict[str, ViewFiles]) -> None:
    """Remove what an export that was interrupted left behind. Raises LedgerError, before that, for anything foreign."""
    known = {file for view in held.values() for file in view.all_files()}
    left = []
    for file in _files(lake):
        if file in known or file in _IGNORED:
            continue
        if not (file == f"{NAME}.tmp" or file_names.is_ours(file, _NAMES)):
            raise LedgerError(f"{show_path(lake / file)} is of no export; take it out of the folder of this one")
        left.append(file)
    for file in left:
        (lake / file).unlink()


def _files(lake: Path) -> Iterator[str]:
    """List what is in the folder, relative to it; a link to a folder is no folder."""
    for folder, folders, files in os.walk(lake):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        yield from ((here / name).relative_to(lake).as_posix() for name in (*files, *links))


def remove(lake: Path, files: set[str]) -> None:
    """Remove files, and folders that are empty then."""
    for file in files:
        path = lake / file
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == lake or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()
