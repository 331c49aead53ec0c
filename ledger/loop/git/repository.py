"""The repository that experiments are committed to and reverted in: git, asked and told by its command line."""

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ledger.base.address import for_others
from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.text import cut, plain

_QUIET = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "GIT_OPTIONAL_LOCKS": "0"}
_REASON_COLUMNS = 500
_GRACE = 2.0
"""Seconds that git has to end once it is told to."""
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


class Git:
    """Ask and change the repository around a folder. Paths are relative to the repository's top, `/` between names.

    `own` lists patterns, relative to the folder, of files that are no part of any experiment. Every method raises
    LedgerError with git's own words where git fails.
    """

    def __init__(self, folder: Path, own: Sequence[str] = ()) -> None:
        self.folder = folder
        self._own = [f":(exclude){pattern}" for pattern in own]

    def ask(self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """Run git and give what it prints."""
        done = self._run(arguments, stdin, more)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
            verb = next(word for word in arguments if not word.startswith("-"))
            reason = plain(said) or "it gave no reason; a hook of the repository's may have said no"
            raise LedgerError(f"git {verb} failed in {show_path(self.folder)}: {cut(reason, _REASON_COLUMNS)}")
        return done.stdout

    def _run(
        self, arguments: Sequence[str], stdin: bytes = b"", more: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        # As bytes: what a locale makes of a name or a message is not what git is to be told.
        command = [b"git", *(word.encode("utf-8", "surrogateescape") for word in arguments)]
        try:
            child = subprocess.Popen(
                command,
                cwd=self.folder,
                env=for_others({**os.environ, **_QUIET, **(more or {})}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C is for the loop, which lets git finish
            )
        except OSError as error:
            raise LedgerError(f"cannot run git: {(error.strerror or str(error)).lower()}") from None
        with child:
            try:
                out, err = child.communicate(stdin)
            except BaseException:
                _end(child)
                raise
        return subprocess.CompletedProcess(command, child.returncode, out, err)

    def _line(self, *arguments: str) -> str | None:
        """Give what git prints as one text; None where it fails."""
        done = self._run(arguments)
        return None if done.returncode else os.fsdecode(done.stdout).strip()

    def top(self) -> Path | None:
        """Give the folder of the working tree; None outside a repository, or without git."""
        try:
            found = self._line("rev-parse", "--show-toplevel")
        except LedgerError:
            return None
        return Path(found) if found else None

    def head(self) -> str | None:
        """Give the full hash of HEAD; None where nothing is committed."""
        return self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def branch(self) -> str | None:
        """Give the branch that is checked out; None on a detached HEAD."""
        return self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    def resolve(self, name: str) -> str | None:
        """Give the full hash of a commit; None if there is none of this name."""
        return self._line("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") if name else None

    def tree(self, commit: str) -> str:
        """Give the hash of a commit's tree."""
        return os.fsdecode(self.ask("rev-parse", "--verify", f"{commit}^{{tree}}")).strip()

    def parents(self, commit: str) -> list[str]:
        """Give the full hashes of a commit's parents."""
        return os.fsdecode(self.ask("rev-list", "--parents", "-n", "1", commit)).split()[1:]

    def message(self, commit: str) -> str:
        """Give a commit's message."""
        return self.ask("log", "-1", "--format=%B", commit).decode("utf-8", "replace").strip()

    def contains(self, commit: str, ancestor: str) -> bool:
        """Tell whether a commit is another one or comes after it."""
        return self._run(("merge-base", "--is-ancestor", ancestor, commit)).returncode == 0

    def subjects(self, count: int) -> list[str]:
        """List the last commits, latest first, each as its short hash and subject."""
        found = self._line("log", f"-{count}", "--format=%h %s")
        return found.splitlines() if found else []

    def under_way(self) -> str | None:
        """Name the operation that waits to be finished, such as a merge; None if there is none."""
        folder = self.private()
        return next((what for name, what in _UNDER_WAY.items() if (folder / name).exists()), None)

    def private(self) -> Path:
        """Give the folder that git keeps its own files of this working tree in."""
        return self.folder / os.fsdecode(self.ask("rev-parse", "--git-dir")).rstrip("\n")

    def has_identity(self) -> bool:
        """Tell whether git knows whom to name as the author of a commit."""
        return (
            self._line("var", "GIT_COMMITTER_IDENT") is not None and self._line("var", "GIT_AUTHOR_IDENT") is not None
        )

    def is_ignored(self, path: Path) -> bool:
        """Tell whether git ignores a file."""
        return self._run(("check-ignore", "--quiet", str(path))).returncode == 0

    def content(self, commit: str, path: Path) -> bytes | None:
        """Give a file of the folder as a commit has it; None where it has none."""
        done = self._run(("show", f"{commit}:./{path.relative_to(self.folder).as_posix()}"))
        return None if done.returncode else done.stdout

    def blob(self, commit: str, name: str) -> bytes | None:
        """Give a file, named from the repository's top, as a commit has it; None where it has none."""
        done = self._run(("cat-file", "blob", f"{commit}:{name}"))
        return None if done.returncode else done.stdout

    def changes(self, only: Iterable[str] = ()) -> list[str]:
        """List the files that differ from HEAD, new ones too, without the session's own.

        `only` are git path patterns relative to the folder, `:(top)…` for the repository's top.
        """
        listed = self.ask(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none",
            "--", *(list(only) or [":(top)"]), *self._own,
        )  # fmt: skip
        return [os.fsdecode(entry[3:]) for entry in listed.split(b"\0") if entry]

    def untracked(self) -> set[str]:
        """List the files that git does not know, without the session's own."""
        listed = self.ask("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", ":(top)", *self._own)
        return {os.fsdecode(entry[3:]) for entry in listed.split(b"\0") if entry.startswith(b"??")}

    def commit(self, paths: Sequence[str], message: str) -> str:
        """Commit these files as they are, and nothing else, staged or not; give the commit's hash."""
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            index = {"GIT_INDEX_FILE": str(Path(place, "index"))}
            if (head := self.head()) is not None:
                self.ask("read-tree", head, more=index)
            self._index(paths, index)
            self.ask("commit", "--quiet", "-m", message, more=index)
        names = b"\0".join(map(os.fsencode, paths))
        from_stdin = ("--pathspec-from-file=-", "--pathspec-file-nul")
        Git(self.top() or self.folder).ask("--literal-pathspecs", "reset", "--quiet", *from_stdin, stdin=names)
        return self.head() or ""

    def _index(self, paths: Iterable[str], more: Mapping[str, str] | None = None) -> None:
        """Put files into the index as they are, or take them out of it where they are gone."""
        top = self.top() or self.folder
        files = [path for path in paths if not (top / path).is_dir() or (top / path).is_symlink()]
        names = b"".join(os.fsencode(path) + b"\0" for path in files)  # a folder in a file's place goes by its files
        Git(top).ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names, more=more)

    def revert(self, commit: str) -> str:
        """Revert a commit by a further one; give that one's hash."""
        self.ask("revert", "--no-edit", commit)
        return self.head() or ""

    def unstage(self) -> None:
        """Make the index that of HEAD; files stay as they are."""
        self.ask("reset", "--quiet", "--mixed")

    def uncommit(self, commit: str) -> None:
        """Move the branch back to a commit; files stay as they are, what was committed since is a change again."""
        self.ask("reset", "--quiet", "--mixed", commit)

    def capture(self, *, store: bool = False) -> str:
        """Give the hash of the working tree, without the session's own files and what git ignores.

        Only a `store`d tree is in the repository afterwards, and can be restored.
        """
        import tempfile  # slow to import, and seldom needed

        with tempfile.TemporaryDirectory() as place:
            index = {"GIT_INDEX_FILE": str(Path(place, "index"))}
            if not store:
                objects = self._line("rev-parse", "--git-path", "objects") or ""
                index["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str((self.folder / objects).resolve())
                index["GIT_OBJECT_DIRECTORY"] = place
            if (head := self.head()) is not None:
                self.ask("read-tree", head, more=index)
            self._index(self.changes(), index)
            return os.fsdecode(self.ask("write-tree", more=index)).strip()

    def differing(self, one: str, other: str) -> list[str]:
        """List the files in which two commits or trees differ, without the session's own."""
        listed = self.ask(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other, "--", ":(top)", *self._own
        )
        return [os.fsdecode(name) for name in listed.split(b"\0") if name]

    def restore(self, tree: str, paths: Sequence[str]) -> None:
        """Give files the content that a commit or tree has, removing those that it has not; the index stays HEAD's."""
        at_top = Git(self.top() or self.folder)
        there = {os.fsdecode(name) for name in at_top.ask("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")}
        for path in paths:  # all of them first: a folder may stand where a file comes to be, or the other way round
            _remove(at_top.folder, path)
        kept = [path for path in paths if path in there]
        if kept:
            names = b"\0".join(map(os.fsencode, kept))
            at_top.ask(
                "--literal-pathspecs", "checkout", "--quiet", tree, "--pathspec-from-file=-", "--pathspec-file-nul",
                stdin=names,
            )  # fmt: skip
        self.unstage()

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files from the working tree."""
        top = self.top() or self.folder
        for path in paths:
            _remove(top, path)

    def keep_aside(self, what: str) -> str:
        """Keep the working tree as it is under a ref of its own, so that nothing of it is lost; give the ref."""
        name = f"refs/ledger/{what}-{time.time_ns() // 1_000_000}"
        made = os.fsdecode(self.ask("commit-tree", self.capture(store=True), "-m", what)).strip()
        self.ask("update-ref", name, made)
        return name


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End git, politely first: it removes its locks then."""
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _remove(top: Path, path: str) -> None:
    """Remove a file, and the folders that are empty without it."""
    file = top / path
    if file.is_dir() and not file.is_symlink():
        return
    try:
        file.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    for folder in (top / path).parents:
        if folder == top:
            return
        try:
            folder.rmdir()
        except OSError:
            return
