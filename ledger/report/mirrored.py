"""A log read for a page out of the mirror, which has its bytes though the file may be gone."""

import os

from ledger.mirror import store
from ledger.mirror.raw import Raw
from ledger.mirror.store import Session
from ledger.report.account import Account, read
from ledger.source import LogFile


def read_stored(raw: Raw, session: Session, dialect: str | None = None) -> Account:
    """Read a mirrored log from its stored bytes."""
    file = store.spool(raw, session)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    with LogFile(None, file, size) as stored:
        return read(stored, session.file, dialect, session.run_json)
