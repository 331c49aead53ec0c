"""Which files an experiment may change: those in scope, and never those off limits (protocols.md 7)."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ledger.dialects import policy_of
from ledger.log.source import read_small
from ledger.loop.git.repository import Git
from ledger.session.files import HARNESS, Session
from ledger.session.history import History
from ledger.session.prompt import Lists, lists

_MAGIC = re.compile(r"[*?[\\]")


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
        changed = git.look().changed
        if not changed or not (self.paths or self.off_limits):
            return []
        top = git.top()
        assert top is not None  # else there were no changes to see
        base = top if self.from_top else git.folder
        inside = _matching(git, top, base, self.paths, changed) if self.paths else set(changed)
        barred = _matching(git, top, base, self.off_limits, changed)
        return [path for path in changed if path not in inside or path in barred]


def _matching(git: Git, top: Path, base: Path, entries: Iterable[str], changed: Sequence[str]) -> set[str]:
    """Find the changed files that the entries name; one outside the repository names none."""
    names = [name for entry in entries if (name := _from_top(top, base, entry)) is not None]
    if "" in names:
        return set(changed)
    found = {path for path in changed if any(f"{path}/".startswith(f"{name}/") for name in names)}
    magic = [name for name in names if _MAGIC.search(name)]
    # From the top, only stars and the like being magic; `**/` means any depth only to the glob kind.
    if patterns := [f":(top,glob){name}" if "**" in name else f":(top){name}" for name in magic]:
        found |= git.matching([path for path in changed if path not in found], patterns)
    return found


def _from_top(top: Path, base: Path, entry: str) -> str | None:
    """Write an entry relative to the top, which itself is empty; None for one outside."""
    path = Path(os.path.relpath(base.resolve() / entry, top.resolve()))  # takes `..` out, and leaves links alone
    if path.parts[:1] == (os.pardir,):
        return None
    return "" if path == Path() else path.as_posix()


def find(session: Session, history: History) -> Scope:
    """Find a session's scope: in its configuration or its header, as the protocol has it, else in the prompt file.

    What the protocol's own place leaves open, the prompt file may say.
    """
    listed, state = _listed(session), history.state
    policy = policy_of(state)
    stated = state.replay.config or (history.header() if policy.scope_key else None) or {}
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
    pinned = session.get_object(HARNESS)
    return Lists(_texts(pinned.get("scope")), _texts(pinned.get("off_limits")))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()
