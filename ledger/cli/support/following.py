"""The mirror brought up to date by a command that changed a log which it holds."""

from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.mirror import store
from ledger.mirror.engine import open_writer
from ledger.mirror.location import mirror_location
from ledger.mirror.raw import driver
from ledger.mirror.sync_one import sync_log


def follow(log: Path, db: str | None) -> str | None:
    """Take a log's new content, if the mirror holds the log; give what stood in the way, None if nothing did."""
    try:
        path = mirror_location(db)
        if isinstance(path, Path) and not path.exists():
            return None
        with open_writer(path) as connection:
            known = store.find(driver(connection), log)
            if known is None:
                return None
            outcome = sync_log(connection, log, replace=True, quarantine=known.quarantined)
    except LedgerError as error:
        return str(error)
    return outcome.reason if outcome.refused or outcome.status == "waiting" else None
