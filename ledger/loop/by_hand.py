"""Log by hand: a run, a decision, a marker, the end, with every refusal that a log deserves (PROTOCOLS 7)."""

import shutil
from collections.abc import Sequence
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.fold.segment import KEPT
from ledger.fold.state import State
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Run
from ledger.session import new_records
from ledger.session.files import Session
from ledger.session.history import History, secondary_names
from ledger.session.writer import Pen, check_open, concluded, writing
from ledger.telling import snapshots

SHORT = 7
"""Hex digits of a commit in a log."""


class Appended(NamedTuple):
    """Hold what was appended: the records, the run among them if any, the log after it, and what to say about it."""

    records: Sequence[new_records.Record]
    run: Run | None
    history: History
    warnings: Sequence[Diagnostic]
    problem: str | None


def log_run(
    session: Session, outcome: new_records.RunOutcome, now_ms: int, *, force: bool = False, dry: bool = False
) -> Appended:
    """Append a run. A keep without a commit takes HEAD's, where there is a repository.

    Raises LedgerError for a keep after failed checks, a missing secondary metric without `force`, a concluded session,
    a log with errors, and for a codex log, whose iterations need the commits that `ledger run` makes.
    """
    if outcome.status in KEPT:
        outcome = _kept(session, outcome)
    with writing(session.log, dry=dry) as pen:
        _check_hand(pen.state)
        check_open(pen.state)
        if pen.state.current().metric_name in outcome.metrics:
            raise LedgerError(f"{pen.state.current().metric_name} is the primary metric: --metric states it")
        missing = new_records.missing_metrics(secondary_names(pen.history), outcome)
        if missing and not force:
            raise LedgerError(
                f"the segment also measures {', '.join(missing)}: give them with --metrics, say in --asi why one is"
                " missing, or use --force"
            )
        made = new_records.run_records(pen.state, outcome, now_ms)
        return _append(session, pen, made, dry=dry)


def _kept(session: Session, outcome: new_records.RunOutcome) -> new_records.RunOutcome:
    from ledger.loop.git.repository import Git

    _check_checks(session)
    head = outcome.commit or (Git(session.workdir).head() if shutil.which("git") else None) or ""
    return outcome._replace(commit=head[:SHORT] if _is_hash(head) else head)


def _check_checks(session: Session) -> None:
    """Raise LedgerError if the files as they are now failed their checks when they were measured last."""
    from ledger.loop.measuring import last_measurement  # with git and all that measures, which other runs do without

    if failed := last_measurement.failed_checks(session):
        raise LedgerError(f"no keep after failed checks: {failed}; log it as checks_failed, or measure again")


def _is_hash(text: str) -> bool:
    return len(text) > SHORT and all(char in "0123456789abcdef" for char in text)


def _check_hand(state: State) -> None:
    if state.dialect == "codex":
        raise LedgerError("a codex iteration needs the commits that ledger run makes; ledger run writes it")


def decide(session: Session, run: int, action: str, reason: str, now_ms: int, *, dry: bool = False) -> Appended:
    """Append a decision about a result of a state-protocol log. Raises LedgerError for a keep after failed checks."""
    if action in KEPT:
        _check_checks(session)
    with writing(session.log, dry=dry) as pen:
        if pen.state.dialect != "state-protocol":
            raise LedgerError("only a state-protocol log has decisions: here a run is logged with its status")
        check_open(pen.state)
        return _append(session, pen, [new_records.decision(run, action, reason, now_ms)], dry=dry)


def mark(
    session: Session,
    word: str,
    now_ms: int,
    *,
    ack: int | None = None,
    reason: str | None = None,
    restart: bool = False,
    dry: bool = False,
) -> Appended:
    """Append a marker; `restart` lets `running` follow a concluded session."""
    with writing(session.log, dry=dry) as pen:
        state = pen.state
        if state.dialect == "state-protocol":
            raise LedgerError("a state-protocol log has no markers; ledger decide RUN stop ends it")
        if state.dialect == "codex":
            made = _codex_mark(session, state, word, reason, now_ms)
        else:
            made = new_records.marker(state, word, now_ms, ack, reason)
            if not (restart and word == "running"):
                check_open(state)
        return _append(session, pen, [made], dry=dry)


def _codex_mark(session: Session, state: State, word: str, reason: str | None, now_ms: int) -> new_records.Record:
    if word not in new_records.CODEX_MARKS:
        raise LedgerError(f"a codex history is marked {', '.join(new_records.CODEX_MARKS)}, not {word!r}")
    from ledger.loop.git.repository import Git
    from ledger.loop.iteration.preconditions import check_place

    check_place(state, Git(session.workdir))
    if word != "resumed" or concluded(state) == "complete":
        check_open(state)
    elif concluded(state) is None:
        raise LedgerError("the run is active: there is nothing to resume")
    if not reason:
        raise LedgerError(f"say why: ledger mark {word} --reason TEXT")
    return new_records.ending(state, word, reason, now_ms)


def cancel(session: Session, now_ms: int, *, dry: bool = False) -> Appended:
    """Append what ends the session for the user's sake; nothing is deleted or reverted."""
    with writing(session.log, dry=dry) as pen:
        state = pen.state
        check_open(state)
        if state.dialect == "codex":
            made = new_records.ending(state, "stopped", "cancelled by the user", now_ms)
        elif state.dialect == "state-protocol":
            last = pen.history.last()
            if last is None:
                raise LedgerError("there is no run yet that a stop could be decided on: nothing to cancel")
            made = new_records.decision(last.run, "stop", "cancelled by the user", now_ms)
        else:
            made = new_records.marker(state, "cancelled", now_ms)
        return _append(session, pen, [made], dry=dry)


def _append(session: Session, pen: Pen, made: Sequence[new_records.Record], *, dry: bool) -> Appended:
    runs = pen.append(*made)
    run = runs[-1] if runs else None
    if run is not None and pen.state.dialect == "state-protocol":
        run = run._replace(status=pen.state.results[run.run].status)
    problem = None if dry else snapshots.refresh(session, pen.history)
    return Appended(made, run, pen.history, pen.warnings, problem)
