"""What a repository must be before anything is committed in it."""

from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.loop.git.repository import Git

_UNBORN = "nothing is committed yet: commit the code that is to be improved first"


def check_ready(git: Git, *, nowhere: str, detached: str, author: str, unborn: str = _UNBORN) -> Path:
    """Give the top of a repository that can be committed to. Raises LedgerError where it cannot.

    The texts complete the error: `nowhere` for a folder in no repository, `unborn` for one without a commit, `detached`
    for a HEAD on no branch (empty: that is no matter), `author` for nobody to name as such.
    """
    if (top := git.top()) is None:
        raise LedgerError(nowhere)
    if git.look().head is None:
        raise LedgerError(unborn)
    if detached and git.branch() is None:
        raise LedgerError(f"HEAD is detached: {detached}")
    if (doing := git.under_way()) is not None:
        raise LedgerError(f"{doing} is under way: finish or abort it first")
    if not git.has_identity:
        raise LedgerError(f"git does not know {author}: set user.name and user.email with git config")
    return top
