"""The append of a decided iteration to its log, exactly once whatever kills it."""

from ledger.base.files import append
from ledger.base.locks import lock_of, locked
from ledger.base.times import now_ms
from ledger.dialects import policy_of
from ledger.dialects.writing import RunOutcome, Trial
from ledger.loop.by_hand import Appended
from ledger.loop.iteration.journal import Journal
from ledger.session.files import Session
from ledger.session.history import History
from ledger.session.writer import writing
from ledger.telling import snapshots


def log(session: Session, history: History, entry: Journal) -> tuple[Journal, Appended]:
    """Append the outcome of an iteration, unless that is done; give the journal that says so, and what was logged."""
    complete(history, entry)
    with writing(history) as pen:
        size, data = entry.size or 0, (entry.lines or "").encode()
        if entry.logged or (data and history.content[size : size + len(data)] == data):
            run = next((run for run in history.runs() if size <= run.place.offset < size + len(data)), None)
            logged = Appended((), run, history, (), snapshots.refresh(session, history))
            return entry.save(session, logged=True), logged
        policy = policy_of(pen.state)
        policy.check_open(pen.state)
        outcome = RunOutcome(**(entry.outcome or {}))
        trial = Trial(entry.kept, entry.trial, entry.reverted, entry.more)
        made = policy.iteration_records(pen.state, outcome, trial, now_ms())
        saved = [entry]
        runs = pen.append(
            *made, before=lambda size, data: saved.append(entry.save(session, size=size, lines=data.decode()))
        )
        entry = saved[-1].save(session, logged=True)
        problem = snapshots.refresh(session, history)
        run = runs[0] if runs else None
        if run is not None and run.run in pen.state.results:
            run = run._replace(status=pen.state.results[run.run].status, confidence=pen.state.current().confidence)
        return entry, Appended(made, run, history, pen.warnings, problem)


def complete(history: History, entry: Journal) -> None:
    """Write the rest of a line that a kill cut short: the journal knows the whole of it."""
    if entry.logged or entry.size is None or entry.lines is None:
        return
    data = entry.lines.encode()
    with locked(lock_of(history.path)):
        there = history.renew().content[entry.size :]
        if there and len(there) < len(data) and data.startswith(there):
            append(history.path, data[len(there) :], entry.size + len(there))
