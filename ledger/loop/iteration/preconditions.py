"""The preconditions of an iteration: the repository, the branch, who commits, what may have changed."""

import re
import shutil
from collections.abc import Sequence, Set
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.text import plain
from ledger.dialects import policy_of
from ledger.fold.state import State
from ledger.fold.verdict import BACKSTOP, WALL, Verdict
from ledger.loop.git.repository import Git
from ledger.loop.iteration import harness
from ledger.loop.iteration.scope import Scope
from ledger.session.files import LEAVINGS, Session
from ledger.session.history import History

_SURROGATE = re.compile(r"[\ud800-\udfff]")  # a byte that is no UTF-8
_ADVICE = {
    "max_iterations": "the segment has all the runs that were asked for; raise the limit to go on",
    "max_minutes": "the time is up; a new segment (ledger init) starts another",
    "wall": f"more than {WALL} failed runs in a row; a new segment (ledger init) starts another direction",
    "backstop": f"{BACKSTOP} more runs without a limit; ledger mark running --backstop-ack N goes on past N runs",
    "concluded": "the session is over",
}


def check_verdict(verdict: Verdict) -> None:
    """Raise LedgerError, with what to do, unless the verdict is to continue."""
    if verdict.verdict != "continue":
        advice = _ADVICE[verdict.verdict].replace(" N ", f" {verdict.segment_runs} ")
        raise LedgerError(f"the verdict is {verdict.verdict}: {advice}")


def check_repository(session: Session, history: History, git: Git) -> None:
    """Raise LedgerError if nothing can be committed or reverted in the repository that experiments go to."""
    if not session.settings.enabled:
        raise LedgerError("the settings say `enabled: false`: no run and no loop here")
    for program in ("git", "bash"):
        if shutil.which(program) is None:
            raise LedgerError(f"{program} is not on PATH, and no experiment goes without it")
    git.check_ready(
        nowhere=f"{show_path(session.workdir)} is in no git repository, and experiments are commits: git init",
        detached="check out a branch, which the kept commits can stay on",
        author="whom to name as author",
    )
    check_place(history.state, git)
    retained = policy_of(history.state).retained_head(history.state)
    if retained is not None and retained != git.head() and git.resolve(retained) != git.head():
        raise LedgerError(
            f"the history retains {retained[:12]}, HEAD is {(git.head() or '')[:12]}: check the retained commit out"
        )
    harness.check(session, history, git)


def check_place(state: State, git: Git) -> None:
    """Raise LedgerError unless this is the repository and the branch that the session is bound to, if it is."""
    if (bound := policy_of(state).binding(state)) is None:
        return
    (repo, due), top, branch = bound, git.top(), git.branch()
    if top is None or top.resolve() != Path(repo).resolve():
        raise LedgerError(f"run.json is about the repository {repo}, this is {top or 'none'}")
    if branch != due:
        raise LedgerError(f"run.json is about branch {due}, this is {branch or 'a detached HEAD'}")


def changed_files(session: Session, git: Git, scope: Scope) -> list[str]:
    """List what the experiment changed. Raises LedgerError if any of it is out of scope or off limits."""
    aside = made_by_measuring(session, git)
    outside = [path for path in scope.outside(git) if path not in aside]
    if outside:
        raise LedgerError(
            f"changed out of scope or off limits: {listed(outside)}; undo it, have git ignore it, or add it to the"
            " session's scope; nothing was committed"
        )
    found = changed(session, git)
    top = git.top() or session.workdir
    if nested := [path for path in found if (top / path / ".git").exists()]:
        raise LedgerError(
            f"a repository within this one cannot be reverted with an experiment: put {listed(nested)} back as it was,"
            " or have git ignore it"
        )
    if odd := [path for path in found if _SURROGATE.search(path)]:
        raise LedgerError(f"a name that is no UTF-8 cannot be logged: rename {listed([show_path(one) for one in odd])}")
    return found


def changed(session: Session, git: Git) -> list[str]:
    """List what differs from HEAD and is neither the session's own nor left by measuring."""
    aside = made_by_measuring(session, git)
    return [path for path in git.look().changed if path not in aside]


def made_by_measuring(session: Session, git: Git) -> set[str]:
    """List the files that measuring left behind; one that git knows meanwhile is a file like any other."""
    return _noted(session) & git.look().untracked


def note_made(session: Session, files: Set[str]) -> None:
    """Remember more files that measuring made."""
    session.put_object(LEAVINGS, {"files": sorted(_noted(session) | files)})


def _noted(session: Session) -> set[str]:
    return set(session.get_object(LEAVINGS).get("files", ()))


def listed(paths: Sequence[str], most: int = 5) -> str:
    """Write some paths, plainly, and how many more there are."""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(map(plain, paths[:most])) + more
