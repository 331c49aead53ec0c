"""The measuring harness: what the segment's baseline was measured with is what every later run is measured with."""

import hashlib
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.text import near
from ledger.dialects import policy_of
from ledger.log.source import read_small, run_json_of
from ledger.loop.git.repository import Git
from ledger.loop.iteration.scope import find as find_scope
from ledger.session.files import HARNESS, SCRIPTS, Session
from ledger.session.history import History


def check(session: Session, history: History, git: Git) -> None:
    """Raise LedgerError if a script is not what was committed, or not what the segment's runs were measured with."""
    if policy_of(history.state).commands_in_config:
        check_config(session)
        return
    measured = history.state.current().best is not None
    for name, committed in _committed(session, git, git.head() or "").items():
        path = session.file(name)
        if committed is not None and committed != _digest(read_small(path)):
            shown = near(str(path))
            anew = "commit it and open a new segment with ledger init" if measured else "commit it"
            raise LedgerError(
                f"{shown} differs from what is committed; put it back with git checkout -- {shown}, or {anew}"
            )
    if not measured:
        return
    for name, digest in _pinned(session, history, git).items():
        path = session.file(name)
        if _digest(read_small(path)) != digest:
            raise LedgerError(
                f"{near(str(path))} is not what the segment's baseline was measured with, so nothing measured now"
                " compares with it; put it back, or open a new segment with ledger init"
            )


def check_config(session: Session) -> None:
    """Raise LedgerError if run.json, which never changes, is not what it was when this was first asked."""
    digest = _digest(read_small(run_json_of(session.log)))
    known = session.get_object(HARNESS)
    if not known:
        session.put_object(HARNESS, {"run_json": digest})
    elif known.get("run_json") not in (None, digest):
        raise LedgerError("run.json was changed, which never changes: put it back, or start anew after ledger archive")


def pin(session: Session, history: History) -> None:
    """Remember the scripts that the current segment is measured with, and its scope, should the prompt get lost."""
    made: dict[str, Any] = {name: _digest(read_small(session.file(name))) for name in SCRIPTS}
    scope = find_scope(session, history)
    made |= {"scope": list(scope.paths), "off_limits": list(scope.off_limits)}
    session.put_object(HARNESS, {"line": history.state.current().line, **made})


def _pinned(session: Session, history: History, git: Git) -> dict[str, Any]:
    """Give the digests remembered; on a fresh clone those at the commit of the segment's first keep."""
    known = session.get_object(HARNESS)
    if known.get("line") == history.state.current().line:
        return {name: known.get(name) for name in SCRIPTS}
    commit = next((run.commit for run in history.runs() if run.commit and git.resolve(run.commit)), None)
    found = _committed(session, git, commit) if commit else {}
    return {name: digest for name, digest in found.items() if digest is not None}


def _committed(session: Session, git: Git, commit: str) -> dict[str, str | None]:
    """Give the digests of the scripts as a commit has them."""
    paths = {name: path for name in SCRIPTS if (path := session.file(name)).is_relative_to(git.folder)}
    return dict(zip(paths, map(_digest, git.contents(commit, paths.values())), strict=True))


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
