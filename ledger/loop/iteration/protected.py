"""What an agent must leave alone, and what becomes of it if it did not: the log, HEAD, the branch (protocols.md 7)."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.locks import lock_of, locked
from ledger.base.paths import show_path
from ledger.base.text import plain
from ledger.log.source import read_small, run_json_of
from ledger.loop.git.repository import Git
from ledger.session.files import HARNESS, ITERATION, LEAVINGS, LOOP, SCRIPTS, STEER, Session
from ledger.session.history import History

_EDITED_BY_LEDGER = (LEAVINGS, HARNESS)
"""Files that only ledger writes, and not while an agent or a benchmark is at work."""
_EDITED_MEANWHILE = (STEER, LOOP, ITERATION)
"""Files that change while one is at work, and must not get lost."""

MOST_BYTES = 1 << 20
"""A larger file beside the log is not kept at hand."""


class Before(NamedTuple):
    """Hold how things stood ahead of an agent's turn: HEAD, the branch, the log's bytes, and the files beside it.

    `config` is the configuration that is a part of the log, if there is one; a file beside it comes with its mode.
    """

    head: str
    branch: str
    log: bytes
    config: bytes | None
    beside: Mapping[Path, tuple[bytes, int]]


def note(session: Session, history: History, git: Git) -> Before:
    """Note how things stand."""
    config = read_small(run_json_of(session.log)) if session.layout.configured else None
    hooks = (session.folder / place for place in (".auto/hooks", "autoresearch.hooks"))
    named = [
        *map(session.file, ("prompt", *SCRIPTS, "ideas")),
        *map(session.side, (*_EDITED_MEANWHILE, *_EDITED_BY_LEDGER)),
        session.folder / ".auto" / "config.json",
        *(path for folder in hooks if folder.is_dir() for path in folder.iterdir()),
    ]
    files = [path for path in named if path.is_file() and path.stat().st_size <= MOST_BYTES]
    beside = {path: (read_small(path) or b"", path.stat().st_mode & 0o777) for path in files}
    return Before(git.head() or "", git.branch() or "", bytes(history.renew().content), config, beside)


def check_log(session: Session, history: History, before: Before) -> None:
    """Put the log back if the agent rewrote it, or appended what makes it unsound; its version is kept beside.

    Raises LedgerError if that was so. Sound records that were appended stay: another writer may have done that.
    """
    _make_folder(session.log.parent)
    with locked(lock_of(session.log)):
        _check_config(session, before)
        _put_own_back(session, before)
        if _goes_on(history, before):
            return
        aside = _put_back(session.log, before.log)
        if aside is None:
            for path, (data, mode) in before.beside.items():
                if not path.exists():
                    _put_file(path, data, mode)
    what = f"edited the log (its version is {show_path(aside)})" if aside else "removed the log"
    raise LedgerError(
        f"the agent {what}, which only ledger writes; the log is as it was before, and the agent's other changes are in"
        " the working tree: tell the agent, then ledger loop --resume"
    )


def undo(session: Session, history: History, before: Before) -> list[str]:
    """Undo what a program that was measured did to the session's own files; name each."""
    undone = []
    _make_folder(session.log.parent)
    with locked(lock_of(session.log)):
        config = run_json_of(session.log)
        if before.config is not None and _content(config) != before.config:
            _put_back(config, before.config)
            undone.append("run.json")
        if not _goes_on(history, before):
            _put_back(session.log, before.log)
            undone.append("the log")
        _put_own_back(session, before)
    fixed = set(map(session.file, SCRIPTS))
    for path, (data, mode) in before.beside.items():
        if not path.exists() or (path in fixed and _content(path) != data):
            _put_file(path, data, mode)
            undone.append(path.name)
    return undone


def undo_head(git: Git, before: Before) -> list[str]:
    """Undo what it did to HEAD and the branch; name that."""
    if (git.head(), git.branch()) == (before.head, before.branch):
        return []
    git.ask("symbolic-ref", "HEAD", f"refs/heads/{before.branch}")
    git.uncommit(before.head)
    return ["HEAD"]


def _put_own_back(session: Session, before: Before) -> None:
    for path in map(session.side, _EDITED_BY_LEDGER):
        if path in before.beside:
            if _content(path) != before.beside[path][0]:
                put(path, before.beside[path][0])
        elif path.is_file():
            path.unlink()


def _put_file(path: Path, data: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(_free(path))
    put(path, data)
    path.chmod(mode)


def _make_folder(folder: Path) -> None:
    """Make the log's folder if it is gone; what took its place goes into it."""
    aside = None
    if folder.exists() and not folder.is_dir():
        aside = folder.rename(_free(folder))
    folder.mkdir(parents=True, exist_ok=True)
    if aside is not None:
        aside.rename(folder / aside.name)


def _check_config(session: Session, before: Before) -> None:
    """Put the log's configuration back, which never changes. Raises LedgerError if it did."""
    path = run_json_of(session.log)
    if before.config is None or _content(path) == before.config:
        return
    aside = _put_back(path, before.config)
    said = f", its version is {show_path(aside)}" if aside else ""
    raise LedgerError(f"the agent changed {show_path(path)}, which never changes: it is as it was before{said}")


def _goes_on(history: History, before: Before) -> bool:
    """Tell whether the log is as it was, byte for byte, or that and further records that keep it sound."""
    if history.path.is_symlink() or not history.path.is_file():
        return False
    now = history.renew(thoroughly=True).content
    return now == before.log or (now.startswith(before.log) and now.endswith(b"\n") and history.log.ok)


def _content(path: Path) -> bytes | None:
    """Read a file; None for anything that is not the regular file it was."""
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _put_back(path: Path, data: bytes) -> Path | None:
    """Give a file its content back; what took its place is moved aside, and named if there was anything."""
    aside = None
    if path.exists() or path.is_symlink():
        aside = _free(path)
        if (now := _content(path)) is not None:
            put(aside, now, durable=True)  # not moved, so that there is a log at every moment
        else:
            path.rename(aside)
    put(path, data, durable=True)
    return aside


def _free(path: Path) -> Path:
    """Find a name beside a path that nothing has yet; it shares the stem, and so what is said of the session's own."""
    number = 1
    while (free := path.with_name(f"{path.stem}.edited-{number}{path.suffix}")).exists() or free.is_symlink():
        number += 1
    return free


def undo_commits(git: Git, before: Before) -> str:
    """Make the agent's own commits changes of the working tree again; say so, empty if there were none.

    Raises LedgerError if it left the branch, left something unfinished, or HEAD does not come after where it was.
    """
    try:
        head = git.look().head
    except LedgerError:
        head = None
    if head is None:
        raise LedgerError(
            f"the agent took the repository away, or left its branch: nothing is committed in {git.folder}"
        )
    if (doing := git.under_way()) is not None:
        raise LedgerError(f"the agent left {doing} under way: finish or abort it, then ledger loop --resume")
    branch = git.branch() or ""
    if branch != before.branch:
        raise LedgerError(
            f"the agent left the branch {plain(before.branch)} for {plain(branch) or 'a detached HEAD'}; go back with"
            f" git checkout {plain(before.branch)}, then ledger loop --resume"
        )
    if head == before.head:
        return ""
    if not git.contains(head, before.head):
        raise LedgerError(
            f"the agent moved HEAD from {before.head[:7]} to {head[:7]}, which does not come after it; go back with"
            f" git reset --mixed {before.head[:7]}, which leaves the files as they are, then ledger loop --resume"
        )
    git.uncommit(before.head)
    return f"you committed ({head[:7]}); the loop commits itself, so that is a change of the working tree again"
