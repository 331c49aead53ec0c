"""The verdict on a log that is read for a page."""

from pathlib import Path

from ledger.loop.judging import judge_session
from ledger.loop.session import of_log
from ledger.report.account import Account
from ledger.verdict import Verdict, judge


def judged(account: Account, path: Path | None, now_ms: int) -> Verdict:
    """Judge a log by its project's settings; `path` None means that there are none. `now_ms` is UTC milliseconds."""
    if path is None:
        return judge(account.state, None, now_ms)
    return judge_session(account.state, of_log(path), None, now_ms)
