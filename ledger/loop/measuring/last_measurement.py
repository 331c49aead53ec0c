"""The last measurement, noted beside the log: what failed its checks is not kept (protocols.md 7)."""

from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.times import iso, now_ms
from ledger.loop.git.repository import Git
from ledger.loop.measuring.measurement import Checked, Measurement
from ledger.session.files import MEASUREMENT, Session


def remember(session: Session, measurement: Measurement, checked: Checked | None, git: Git | None = None) -> None:
    """Write down a measurement, and the checks that ran after it, for HEAD and the tree as they are now.

    Where no checks ran, those of the same tree stand as they were. The tree is looked at only where checks failed.
    Raises LedgerError if the file cannot be written.
    """
    git = git or Git(session.workdir, session.own())
    inside = git.top() is not None
    failed = checked.failure if checked is not None and checked.status == "fail" else None
    before = _failed(session) if checked is None else None
    tree = git.capture() if inside and (failed is not None or before is not None) else None
    if before is not None and before["tree"] == tree:
        failed = before["checks_failure"]
    session.put_object(
        MEASUREMENT,
        {
            "time": iso(now_ms()),
            "head": git.head() if inside else None,
            "tree": tree,
            "metric": measurement.metric,
            "metrics": measurement.metrics,
            "failure": measurement.failure,
            "checks": "fail" if failed is not None else checked.status if checked is not None else "none",
            "checks_failure": failed,
        },
    )


def failed_checks(session: Session) -> str | None:
    """Say how the checks failed for the tree as it is now; None if they did not, or never ran for it.

    Outside a repository the last checks count whatever has changed since.
    """
    last = _failed(session)
    if last is None:
        return None
    git = Git(session.workdir, session.own())
    if git.top() is not None and last["tree"] != git.capture():
        return None
    return f"the checks of these files failed ({last['checks_failure']})"


def _failed(session: Session) -> dict[str, Any] | None:
    """Read the last measurement if its checks failed; a damaged file is nobody's word."""
    try:
        last = session.get_object(MEASUREMENT)
    except LedgerError:
        return None
    if last.get("checks") != "fail" or not isinstance(last.get("checks_failure"), str):
        return None
    tree = last.get("tree")
    return last if tree is None or isinstance(tree, str) else None
