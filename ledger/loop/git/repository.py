"""The repository that experiments are committed to and reverted in: git, asked and told by its command line."""

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ledger.base.errors import LedgerError, reason_of
from ledger.base.paths import for_others, show_path
from ledger.base.text import cut, plain
from ledger.loop.git.snapshot import COMMAND as STATUS
from ledger.loop.git.snapshot import Patterns, Snapshot

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
_PLACES = ("objects", "hooks")
_BRANCHES = "refs/heads/"
_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")
_UNBORN = "nothing is committed yet: commit the code that is to be improved first"
_RULES = (".gitignore", ".gitattributes", ".gitmodules")
"""Files that say which others git sees, and how."""


class _Facts(NamedTuple):
    """Hold what does not change while a command runs: where the repository's parts are, and the folder in it."""

    top: Path
    private: Path
    prefix: str
    objects: Path
    hooks: Path


class Git:
    """Ask and change the repository around a folder. Paths are relative to the repository's top, `/` between names.

    `own` lists patterns, relative to the folder, of files that are no part of any experiment. What the repository is,
    and what it holds at one moment, is asked once; who lets a program run that may change it calls `forget`. Every
    method raises LedgerError with git's own words where git fails.
    """

    def __init__(self, folder: Path, own: Sequence[str] = ()) -> None:
        self.folder = folder
        self._patterns = own
        self._seen: Snapshot | None = None
        self._place: tuple[str | None, str | None] | None = None  # HEAD and the branch, cheaper than all of it
        self._blobs: dict[tuple[str, str], bytes | None] = {}

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
            raise LedgerError(f"cannot run git: {reason_of(error)}") from None
        with child:
            try:
                out, err = child.communicate(stdin)
            except BaseException:
                child.terminate()  # politely first: git removes its locks then
                try:
                    child.wait(_GRACE)
                except subprocess.TimeoutExpired:
                    child.kill()
                raise
        return subprocess.CompletedProcess(command, child.returncode, out, err)

    def _lines(self, *arguments: str) -> list[str] | None:
        """Give the lines that git prints; None where it fails."""
        done = self._run(arguments)
        return None if done.returncode else os.fsdecode(done.stdout).removesuffix("\n").split("\n")

    def _line(self, *arguments: str) -> str | None:
        """Give what git prints as one text; None where it fails."""
        lines = self._lines(*arguments)
        return None if lines is None else "\n".join(lines).strip()

    @cached_property
    def _facts(self) -> "_Facts | None":
        """What the repository is; None outside one, or without git."""
        asked = [("--show-toplevel",), ("--git-dir",), ("--show-prefix",), *(("--git-path", name) for name in _PLACES)]
        try:
            told = self._lines("rev-parse", *(word for words in asked for word in words))
            if told is not None and len(told) != len(asked):  # a folder's name may have a line end in it
                told = ["\n".join(self._lines("rev-parse", *words) or ()) for words in asked]
        except LedgerError:
            return None
        if told is None:
            return None
        top, private, prefix, *places = told
        return _Facts(Path(top), self.folder / private, prefix, *(self.folder / place for place in places))

    def top(self) -> Path | None:
        """Give the folder of the working tree; None outside a repository, or without git."""
        return self._facts.top if self._facts else None

    def _known(self) -> "_Facts":
        if self._facts is None:
            raise LedgerError(f"{show_path(self.folder)} is in no git repository")
        return self._facts

    def private(self) -> Path:
        """Give the folder that git keeps its own files of this working tree in."""
        return self._known().private

    def name(self, path: Path) -> str:
        """Name a file in the folder from the repository's top."""
        return f"{self._known().prefix}{path.relative_to(self.folder).as_posix()}"

    @cached_property
    def _own(self) -> Patterns:
        return Patterns(self._patterns, self._facts.prefix if self._facts else "")

    def look(self) -> Snapshot:
        """Give the working tree as it is at this moment, without the session's own files."""
        if self._seen is None:
            seen = Snapshot.of(self.ask(*STATUS))
            self._place = seen.head, seen.branch
            self._seen = seen.without(path for path in seen.changed if self._own.name(path))
        return self._seen

    def forget(self) -> None:
        """Begin another moment: something ran that may have changed the tree, HEAD or the branch."""
        self._seen = self._place = None

    def _where(self) -> tuple[str | None, str | None]:
        if self._place is None:
            told = self._lines("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
            if told is None or len(told) != 2:
                self._place = None, self._line("symbolic-ref", "--quiet", "--short", "HEAD")
            else:
                head, name = told
                self._place = head, name.removeprefix(_BRANCHES) if name.startswith(_BRANCHES) else None
        return self._place

    def head(self) -> str | None:
        """Give the full hash of HEAD; None where nothing is committed."""
        return self._where()[0]

    def branch(self) -> str | None:
        """Give the branch that is checked out; None on a detached HEAD."""
        return self._where()[1]

    def look_at(self, paths: Iterable[Path]) -> Snapshot:
        """Give the state of some files in the folder, the session's own or not."""
        return Snapshot.of(self.ask(*STATUS, "--", *(f":(top,literal){self.name(path)}" for path in paths)))

    def resolve(self, name: str) -> str | None:
        """Give the full hash of a commit; None if there is none of this name."""
        return self._line("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") if name else None

    def same_tree(self, one: str, other: str) -> bool:
        """Tell whether two commits have the same files."""
        trees = self._lines("rev-parse", f"{one}^{{tree}}", f"{other}^{{tree}}")
        return trees is not None and len(set(trees)) == 1

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
        return next((what for name, what in _UNDER_WAY.items() if (self.private() / name).exists()), None)

    def check_ready(self, *, nowhere: str, detached: str, author: str, unborn: str = _UNBORN) -> None:
        """Raise LedgerError unless the repository can be committed to.

        The texts complete the error: `nowhere` for a folder in no repository, `unborn` for one without a commit,
        `detached` for a HEAD on no branch (empty: that is no matter), `author` for nobody to name as such.
        """
        if self.top() is None:
            raise LedgerError(nowhere)
        if self.look().head is None:
            raise LedgerError(unborn)
        if detached and self.branch() is None:
            raise LedgerError(f"HEAD is detached: {detached}")
        if (doing := self.under_way()) is not None:
            raise LedgerError(f"{doing} is under way: finish or abort it first")
        if not self._has_identity:
            raise LedgerError(f"git does not know {author}: set user.name and user.email with git config")

    @cached_property
    def _has_identity(self) -> bool:
        return all(self._line("var", who) is not None for who in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"))

    def contents(self, commit: str, paths: Iterable[Path]) -> list[bytes | None]:
        """Give files of the folder as a commit has them; None for one that it has not."""
        names = list(map(self.name, paths))
        if new := [name for name in names if (commit, name) not in self._blobs]:
            self._blobs.update({(commit, name): data for name, data in zip(new, self._read(commit, new), strict=True)})
        return [self._blobs[commit, name] for name in names]

    def _read(self, commit: str, names: Sequence[str]) -> list[bytes | None]:
        if any("\n" in name for name in names):
            return [self.blob(commit, name) for name in names]
        told = self.ask("cat-file", "--batch", stdin=b"".join(os.fsencode(f"{commit}:{name}\n") for name in names))
        found: list[bytes | None] = []
        for _ in names:
            head, _, told = told.partition(b"\n")
            if head.endswith(b" missing"):
                found.append(None)
                continue
            _, kind, size = head.split(b" ")
            found.append(told[: int(size)] if kind == b"blob" else None)
            told = told[int(size) + 1 :]
        return found

    def blob(self, commit: str, name: str) -> bytes | None:
        """Give a file, named from the repository's top, as a commit has it; None where it has none."""
        done = self._run(("cat-file", "blob", f"{commit}:{name}"))
        return None if done.returncode else done.stdout

    def matching(self, paths: Iterable[str], patterns: Sequence[str]) -> set[str]:
        """Find those of some paths that git path patterns name, which are relative to the folder, or `:(top)…`."""
        import tempfile

        found, anything = set[str](), (self.head() or _EMPTY).encode()
        names = {path.removesuffix("/"): path for path in paths}
        folders = names.keys() & {str(folder) for name in names for folder in PurePosixPath(name).parents}
        for some in (folders, names.keys() - folders):  # no index has a file and a folder of one name
            if not some:
                continue
            with tempfile.TemporaryDirectory() as place:
                index = {"GIT_INDEX_FILE": str(Path(place, "index"))}
                entries = b"".join(b"100644 %s\t%s\0" % (anything, os.fsencode(name)) for name in some)
                self.ask("update-index", "-z", "--index-info", stdin=entries, more=index)
                listed = self.ask("ls-files", "-z", "--full-name", "--", *patterns, more=index)
            found.update(names[os.fsdecode(name)] for name in listed.split(b"\0") if name)
        return found

    def commit(self, paths: Sequence[str], message: str) -> str:
        """Commit these files as they are, and nothing else, staged or not; give the commit's hash."""
        before, at_top = self.look(), Git(self._known().top)
        names = b"\0".join(map(os.fsencode, paths))
        only = ("--only", *_FROM_STDIN) if before.staged else ()
        try:
            self._index(paths)
            at_top.ask("--literal-pathspecs", "commit", "--quiet", "-m", message, *only, stdin=names)
        except LedgerError:
            at_top.ask("--literal-pathspecs", "reset", "--quiet", *_FROM_STDIN, stdin=names)
            raise
        finally:
            self.forget()
        if only and self._has_hooks:  # they may have put more into the files, for that commit alone
            at_top.ask("--literal-pathspecs", "reset", "--quiet", *_FROM_STDIN, stdin=names)
        self._foresee(before, paths)
        return self.head() or ""

    def _foresee(self, before: Snapshot | None, paths: Iterable[str]) -> None:
        """Derive this moment from that before files became what HEAD has, where nothing else can have happened."""
        rules = any(path.rpartition("/")[2] in _RULES for path in paths)
        if before is not None and not rules and not self._has_hooks:
            self._seen = before.without(paths)._replace(head=self.head())

    @property
    def _has_hooks(self) -> bool:
        """Whether the repository has hooks of its own, which may change anything."""
        try:
            return any(name.suffix != ".sample" for name in self._known().hooks.iterdir())
        except OSError:
            return False

    def _index(self, paths: Iterable[str], more: Mapping[str, str] | None = None) -> None:
        """Put files into the index as they are, or take them out of it where they are gone."""
        top = self._known().top
        files = [path for path in paths if not (top / path).is_dir() or (top / path).is_symlink()]
        names = b"".join(os.fsencode(path) + b"\0" for path in files)  # a folder in a file's place goes by its files
        Git(top).ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=names, more=more)

    def revert(self, commit: str, paths: Iterable[str]) -> str:
        """Revert a commit of these files by a further one; give that one's hash."""
        before = self._seen
        self.ask("revert", "--no-edit", commit)
        self.forget()
        self._foresee(before, paths)
        return self.head() or ""

    def unstage(self) -> None:
        """Make the index that of HEAD; files stay as they are."""
        self.uncommit("HEAD")

    def uncommit(self, commit: str) -> None:
        """Move the branch back to a commit; files stay as they are, what was committed since is a change again."""
        self.ask("reset", "--quiet", "--mixed", commit)
        self.forget()

    def capture(self, *, store: bool = False) -> str:
        """Give the hash of the working tree, without the session's own files and what git ignores.

        Only a `store`d tree is in the repository afterwards, and can be restored.
        """
        import tempfile  # slow to import, and seldom needed

        head, changes = self.head(), self.look().changed
        if head is not None and not changes:
            return os.fsdecode(self.ask("rev-parse", f"{head}^{{tree}}")).strip()
        with tempfile.TemporaryDirectory() as place:
            index = {"GIT_INDEX_FILE": str(Path(place, "index"))}
            if not store:
                index["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(self._known().objects.resolve())
                index["GIT_OBJECT_DIRECTORY"] = place
            if head is not None:
                self.ask("read-tree", head, more=index)
            self._index(changes, index)
            return os.fsdecode(self.ask("write-tree", more=index)).strip()

    def differing(self, one: str, other: str) -> list[str]:
        """List the files in which two commits or trees differ, without the session's own."""
        listed = self.ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other)
        names = map(os.fsdecode, filter(None, listed.split(b"\0")))
        return [name for name in names if not self._own.name(name)]

    def restore(self, tree: str, paths: Sequence[str]) -> None:
        """Give files the content that a commit or tree has, removing those that it has not; the index stays HEAD's."""
        at_top = Git(self._known().top)
        there = {os.fsdecode(name) for name in at_top.ask("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")}
        for path in paths:  # all of them first: a folder may stand where a file comes to be, or the other way round
            _remove(at_top.folder, path)
        kept = [path for path in paths if path in there]
        if kept:
            names = b"\0".join(map(os.fsencode, kept))
            at_top.ask("--literal-pathspecs", "checkout", "--quiet", tree, *_FROM_STDIN, stdin=names)
        self.unstage()

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files from the working tree."""
        for path in paths:
            _remove(self._known().top, path)
        self.forget()

    def keep_aside(self, what: str) -> str:
        """Keep the working tree as it is under a ref of its own, so that nothing of it is lost; give the ref."""
        name = f"refs/ledger/{what}-{time.time_ns() // 1_000_000}"
        made = os.fsdecode(self.ask("commit-tree", self.capture(store=True), "-m", what)).strip()
        self.ask("update-ref", name, made)
        return name


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
