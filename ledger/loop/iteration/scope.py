"""Which files an experiment may change: those in scope, and never those off limits (protocols.md 7)."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.dialects import policy_of
from ledger.fold.state import State
from ledger.log.jsontext import decode
from ledger.log.source import read_small
from ledger.loop.git.repository import Git
from ledger.session.files import Session
from ledger.session.objects import get_object
from ledger.session.prompt import Lists, lists

PINNED = "harness.json"
"""The side file that remembers what a segment is measured with, and its scope."""


class Scope(NamedTuple):
    """Hold what may be changed: `paths` (none: everything), and never what is in `off_limits`.

    Each is a file, a folder with all that is in it, or a pattern as git reads it, relative to the folder that git is
    asked about, or to the repository's top if `from_top`.
    """

    paths: tuple[str, ...]
    off_limits: tuple[str, ...]
    from_top: bool = False

    def outside(self, git: Git) -> list[str]:
        """List the changed files that are out of scope or off limits, relative to the repository's top."""
        changed = git.changes()
        if not changed or not (self.paths or self.off_limits):
            return []
        top = git.top()
        if top is None:
            raise LedgerError("this folder is in no git repository")
        base = top if self.from_top else git.folder
        inside = _matching(git, top, base, self.paths) if self.paths else set(changed)
        barred = _matching(git, top, base, self.off_limits)
        return [path for path in changed if path not in inside or path in barred]


def _matching(git: Git, top: Path, base: Path, entries: Iterable[str]) -> set[str]:
    """Find the changed files that the entries name; one outside the repository names none."""
    patterns = [pattern for entry in entries if (pattern := _pattern(top, base, entry)) is not None]
    return set(git.changes(patterns)) if patterns else set()


def _pattern(top: Path, base: Path, entry: str) -> str | None:
    """Write an entry as a git path pattern from the top, in which no character of it can be magic."""
    path = Path(os.path.relpath(base.resolve() / entry, top.resolve()))  # takes `..` out, and leaves links alone
    if path.parts[:1] == (os.pardir,):
        return None
    name = "" if path == Path() else path.as_posix()
    return f":(top,glob){name}" if "**" in name else f":(top){name}"  # `**/` means any depth only to the glob kind


def find(session: Session, state: State) -> Scope:
    """Find a session's scope: in its configuration or its header, as the protocol has it, else in the prompt file.

    What the protocol's own place leaves open, the prompt file may say.
    """
    listed, policy = _listed(session), policy_of(state)
    stated = policy.config(state) or (_header(session.log, state.current().line) if policy.scope_key else {})
    return Scope(
        _texts(stated.get(policy.scope_key)) or listed.scope,
        _texts(stated.get(policy.off_limits_key)) or listed.off_limits,
        policy.scope_from_top,
    )


def _listed(session: Session) -> Lists:
    """Read the prompt file's lists; where it is gone, what they were when the segment was measured first."""
    data = read_small(session.file("prompt"))
    if data is not None:
        return lists(data.decode("utf-8", "replace"))
    pinned = get_object(session.side(PINNED)) or {}
    return Lists(_texts(pinned.get("scope")), _texts(pinned.get("off_limits")))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def _header(log: Path, line: int) -> dict[str, Any]:
    """Read the record on a line of a log, counted from 1; empty if there is none."""
    if line < 1:
        return {}
    with log.open("rb") as file:
        value = decode(next(_nth(file, line), b"").rstrip(b"\r\n")).value
    return value if isinstance(value, dict) else {}


def _nth(lines: Iterable[bytes], number: int) -> Iterator[bytes]:
    return islice(lines, number - 1, number)
