"""A log read for a page out of the mirror, which has its bytes though the file may be gone."""

import os

from ledger.log.diagnostics import Diagnostic
from ledger.log.source import LogFile
from ledger.mirror import store
from ledger.mirror.raw import Raw
from ledger.mirror.store import StoredSession
from ledger.reading.whole_log import judged
from ledger.report.account import Account, read

_ACCEPTED = """SELECT d.source, d.line, d.code, a.reason FROM diagnostic AS d
JOIN acceptance AS a ON a.session = d.session AND a.number = d.accepted WHERE d.session = ?"""


def read_stored(raw: Raw, session: StoredSession, dialect: str | None = None) -> Account:
    """Read a mirrored log from its stored bytes, with the decisions that were mirrored with it."""
    reasons = {(source, line, code): reason for source, line, code, reason in raw.execute(_ACCEPTED, (session.id,))}

    def judge(found: list[Diagnostic]) -> list[Diagnostic]:
        return [one._replace(accepted=reasons.get((one.source, one.line, one.code))) for one in judged(None, found)]

    file = store.spool(raw, session)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with LogFile(None, file, size) as stored:
        return read(stored, session.file, dialect, session.run_json, judge)
