"""The folders that were named: nothing outside of them is read, written or run."""

from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.log.source import run_json_of
from ledger.reading.discovery import find_logs
from ledger.session.files import Session, here, of_log

_FILES = ("prompt", "ideas", "measure", "checks")


class Roots(NamedTuple):
    """Hold the folders, canonical; in the first of them commands run, and from there on paths are read."""

    folders: tuple[Path, ...]

    @property
    def first(self) -> Path:
        """The folder that commands run in."""
        return self.folders[0]

    def admit(self, argument: str | None) -> str | None:
        """Give the path that a command may take for this argument; None for the session of the first folder.

        Raises LedgerError for what leads outside by `..` or a link: a log, whatever a folder has of them, the files of
        its session, and the folder that its commands run in. Whether anything is there is not told.
        """
        if argument is None:
            self._check_session(here(self.first))
            return None
        if "\0" in argument:
            raise LedgerError("a path has no NUL in it")
        place = self.first / argument
        self._check(place)
        if place.exists():
            logs = find_logs((str(place),))
            for log in logs:
                if log is not None:
                    self._check_session(of_log(log))
        return str(place)

    def logs(self) -> list[Path]:
        """List the logs in the folders, each once; links that lead out of them are not followed."""
        found: dict[Path, None] = {}
        for folder in self.folders:
            try:
                logs = find_logs((str(folder),))
            except LedgerError:  # it has none, yet
                continue
            found.update((log, None) for log in logs if log is not None and self._has(log))
        return [log for log in found if self._has(run_json_of(log))]

    def _check_session(self, session: Session) -> None:
        for path in (session.log, run_json_of(session.log), session.folder, session.workdir):
            self._check(path)
        for name in _FILES:
            self._check(session.file(name))

    def _check(self, path: Path) -> None:
        if not self._has(path):
            named = ", ".join(map(show_path, self.folders))
            raise LedgerError(f"{show_path(path)} is outside the folders that ledger mcp may use: {named}")

    def _has(self, path: Path) -> bool:
        place = canonical(path)
        return any(place.is_relative_to(folder) for folder in self.folders)


def roots_of(folders: tuple[str, ...]) -> Roots:
    """Take the folders that were named, which must be there; none: the current one."""
    places = [canonical(Path(folder)) for folder in folders or (".",)]
    for place in places:
        if not place.is_dir():
            raise LedgerError(f"{show_path(place)} is no folder; ledger mcp takes folders")
    return Roots(tuple(places))
