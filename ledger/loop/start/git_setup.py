"""The repository as `init --git` sets it up: a branch, the session's files ignored, the harness committed."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import show_path
from ledger.base.text import near
from ledger.dialects.base import FLAT
from ledger.log.source import read_small
from ledger.loop.git.repository import Git
from ledger.loop.start.session_files import Made
from ledger.loop.start.session_plan import slug
from ledger.session.files import OUTPUT, SCRIPTS, SNAPSHOTS, Session
from ledger.session.settings import CONFIG

PREFIX = "autoresearch/"
IGNORE_MESSAGE = "autoresearch: add session files to gitignore"
HARNESS_MESSAGE = "autoresearch: add the measuring harness"


class Repository(NamedTuple):
    """Hold the repository that a session is set up in; `fresh` tells that the session is new."""

    session: Session
    git: Git
    fresh: bool

    @classmethod
    def of(cls, session: Session, *, fresh: bool) -> Self:
        """Find the repository. Raises LedgerError if anything stands in the way of what is to be committed."""
        git = Git(session.folder)
        git.check_ready(
            nowhere=f"--git needs a repository: run git init in {near(show_path(session.folder))} first",
            unborn="--git needs a commit to branch off from: commit the code first",
            detached="",
            author="who commits",
        )
        made = cls(session, git, fresh)
        made._check_files()
        return made

    def _check_files(self) -> None:
        if self.ignore_file.is_symlink() or (self.ignore_file.exists() and not self.ignore_file.is_file()):
            raise LedgerError(f"{near(show_path(self.ignore_file))} is no regular file, which git would not read")
        changed = set(self.git.look_at([self.ignore_file]).changed)
        if harness := self._harness():
            seen = self.git.look_at(harness)
            changed |= set(seen.changed) - seen.untracked
        if changed:
            raise LedgerError(
                f"{', '.join(sorted(changed))} has changes that are not committed: commit or undo them first"
            )
        folder = self.session.log.parent
        if self.session.layout.folder and not self.session.layout.configured and self._is_ignored(folder):
            raise LedgerError(
                f"git ignores {near(show_path(folder))}, so the harness in it cannot be committed: take that line out"
                " of .gitignore, or leave --git out"
            )

    def _is_ignored(self, folder: Path) -> bool:
        """Tell whether git ignores a folder, there or not, as a whole."""
        try:
            self.git.ask("check-ignore", "--quiet", f"{folder.relative_to(self.session.folder).as_posix()}/")
        except LedgerError:
            return False
        return True

    @property
    def ignore_file(self) -> Path:
        """The .gitignore that the session's files go into."""
        return self.session.folder / ".gitignore"

    def _harness(self) -> list[Path]:
        if self.session.layout.configured:
            return []  # its commands are in run.json
        return [path for path in map(self.session.file, SCRIPTS) if path.exists()]

    def set_up(self, name: str, now_ms: int, made: Made) -> None:
        """Check out a branch for the session, and have git ignore its files: both, or where git refuses, neither."""
        left = self.git.branch() or ""
        new = self._branch_off(left, name, now_ms, made)
        try:
            self._ignore(made)
        except LedgerError:
            if new and not made.dry:
                self._checkout(left)
                self.git.ask("branch", "--quiet", "--delete", new)
            raise

    def _checkout(self, *branch: str) -> None:
        self.git.ask("checkout", "--quiet", *branch)
        self.git.forget()

    def _branch_off(self, current: str, name: str, now_ms: int, made: Made) -> str:
        """Check out a new branch of the session's own and name it; a new segment stays on the branch that it has."""
        if not self.fresh and current.startswith(PREFIX):
            return ""
        stem = f"{PREFIX}{slug(name)}-{datetime.fromtimestamp(now_ms / 1000, UTC):%Y%m%d}"
        branch, number = stem, 1
        while self.git.resolve(f"refs/heads/{branch}") is not None:
            number += 1
            branch = f"{stem}-{number}"
        if not made.dry:
            self._checkout("-b", branch)
        made.notes.append(f"on the new branch {branch}")
        return branch

    def _ignore(self, made: Made) -> None:
        """Add the lines that .gitignore lacks, and commit it."""
        self._note_tracked(made)
        before = read_small(self.ignore_file) or b""
        lines = self._missing_lines(before)
        if not lines:
            return
        made.paths.append(self.ignore_file)
        if not made.dry:
            gap = b"" if not before or before.endswith(b"\n") else b"\n"
            existed = self.ignore_file.exists()
            put(self.ignore_file, before + gap + b"".join(line.encode() + b"\n" for line in lines))
            try:
                self.git.commit([self.git.name(self.ignore_file)], IGNORE_MESSAGE)
            except LedgerError:  # a hook of the repository's may say no: as it was, so that it can be tried again
                put(self.ignore_file, before) if existed else self.ignore_file.unlink(missing_ok=True)
                raise
        made.notes.append(f"committed: {IGNORE_MESSAGE}")

    def _note_tracked(self, made: Made) -> None:
        """Say which living files git tracks: ignoring them changes nothing then, and a revert would undo them."""
        living = [self.session.log, self.session.file("prompt"), self.session.file("ideas")]
        names = (path.relative_to(self.session.folder).as_posix() for path in living)
        listed = self.git.ask("ls-files", "-z", "--", *(f":(literal){name}" for name in names))
        tracked = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        if tracked:
            made.notes.append(
                f"git tracks {', '.join(tracked)}, which no revert may touch: git rm --cached, and commit"
            )

    def _missing_lines(self, before: bytes) -> list[str]:
        """List the lines to add; those of a group go together, since the later line of two wins."""
        there = {line.strip().replace(b"!/", b"!").removeprefix(b"/") for line in before.split(b"\n")}
        missing = []
        for group in self._groups():
            if not {line.replace("!/", "!").removeprefix("/").encode() for line in group} <= there:
                missing += group
        return missing

    def _groups(self) -> list[list[str]]:
        scripts = [self.session.file(name).name for name in SCRIPTS]
        single = [[f"/{name}"] for name in (*SNAPSHOTS, OUTPUT, ".claude/*.local.md")]
        folder = self.session.layout.folder
        if self.session.layout.configured:
            return [[f"/{folder}/"], *single]
        if folder:
            return [[f"/{folder}/*", *(f"!/{folder}/{script}" for script in scripts)], *single]
        patterns = dict.fromkeys(("autoresearch.*", f"{self.session.log.stem}.*", self.session.log.name))
        patterns.pop(FLAT.log, None)
        own = [*(f"/{pattern}" for pattern in patterns), *(f"!/{script}" for script in scripts)]
        return [own, [f"/{CONFIG.as_posix()}"], *single]

    def commit_harness(self, made: Made) -> None:
        """Commit the measure and checks scripts, if HEAD has not them already."""
        if made.dry:
            new = [path for path in map(self.session.file, SCRIPTS) if path in made.paths]
        else:
            new = [path for path in self._harness() if self.git.look_at([path]).changed]
        if not new:
            return
        if not made.dry:
            self.git.commit(list(map(self.git.name, new)), HARNESS_MESSAGE)
        made.notes.append(f"committed: {HARNESS_MESSAGE}")
