"""What is at work on a session right now, as its side files tell: the loop, a half-done iteration, queued words."""

from ledger.session.files import ITERATION, LOOP, RUN_LOCK, Session


def live_lines(session: Session, now_ms: int) -> dict[str, str]:
    """Give the lines that `ledger status` adds, by their label; none where nothing is at work. `now_ms` is UTC."""
    found = {}
    if session.side(LOOP).exists():
        from ledger.loop.driving.background import described, live

        loop = live(session)
        found["loop"] = described(loop, now_ms) if loop else "not running"
    if session.side(ITERATION).exists() and not found.get("loop", "").startswith("alive"):
        from ledger.base.locks import is_locked
        from ledger.loop.iteration import journal

        entry = journal.load(session)
        if entry is None:
            return found
        if is_locked(session.side(RUN_LOCK)):
            found["at work"] = f"ledger run, on run {entry.number}"
        else:
            found["half done"] = f"run {entry.number}: the next ledger run or loop finishes it or undoes it"
    return found
