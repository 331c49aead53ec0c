"""Log by hand: a run, a decision, a marker, the end, with every refusal that a log deserves (protocols.md 7)."""

import re
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.dialects import policy_of
from ledger.dialects.writing import Record, RunOutcome, missing_metrics
from ledger.fold.segment import KEPT
from ledger.log.diagnostics import Diagnostic
from ledger.log.events import Run
from ledger.session.files import Session
from ledger.session.history import History, secondary_names
from ledger.session.writer import Pen, writing
from ledger.telling import snapshots

SHORT = 7
"""Hex digits of a commit in a log."""

_HASH = re.compile(r"[0-9a-f]+")


class Appended(NamedTuple):
    """Hold what was appended: the records, the run among them if any, the log after it, and what to say about it."""

    records: Sequence[Record]
    run: Run | None
    history: History
    warnings: Sequence[Diagnostic]
    problem: str | None


def log_run(session: Session, outcome: RunOutcome, now_ms: int, *, force: bool = False, dry: bool = False) -> Appended:
    """Append a run. A keep without a commit takes HEAD's, where there is a repository.

    Raises LedgerError for a keep after failed checks, a missing secondary metric without `force`, a concluded session,
    a log with errors, and where a run needs the commits that `ledger run` makes.
    """
    if outcome.status in KEPT:
        from ledger.loop.git.repository import Git

        _check_checks(session)
        head = outcome.commit or (Git(session.workdir).head() if shutil.which("git") else None) or ""
        outcome = outcome._replace(commit=head[:SHORT] if _HASH.fullmatch(head) else head)
    with writing(session.log, dry=dry) as pen:
        policy = policy_of(pen.state)
        policy.check_by_hand()
        policy.check_open(pen.state)
        if pen.state.current().metric_name in outcome.metrics:
            raise LedgerError(f"{pen.state.current().metric_name} is the primary metric: --metric states it")
        missing = missing_metrics(secondary_names(pen.history), outcome)
        if missing and not force:
            raise LedgerError(
                f"the segment also measures {', '.join(missing)}: give them with --metrics, say in --asi why one is"
                " missing, or use --force"
            )
        made = policy.run_records(pen.state, outcome, now_ms)
        return _append(session, pen, made, dry=dry)


def _check_checks(session: Session) -> None:
    """Raise LedgerError if the files as they are now failed their checks when they were measured last."""
    from ledger.loop.measuring import last_measurement  # with git and all that measures, which other runs do without

    if failed := last_measurement.failed_checks(session):
        raise LedgerError(f"no keep after failed checks: {failed}; log it as checks_failed, or measure again")


def decide(session: Session, run: int, action: str, reason: str, now_ms: int, *, dry: bool = False) -> Appended:
    """Append a decision about a run.

    Raises LedgerError for a keep after failed checks, and where a run has its status in its own record.
    """
    if action in KEPT:
        _check_checks(session)
    with writing(session.log, dry=dry) as pen:
        policy = policy_of(pen.state)
        made = policy.decision(run, action, reason, now_ms)
        policy.check_open(pen.state)
        return _append(session, pen, [made], dry=dry)


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
        state, policy = pen.state, policy_of(pen.state)
        policy.check_mark(word, ack)
        if policy.binding(state) is not None:
            from ledger.loop.git.repository import Git
            from ledger.loop.iteration.preconditions import check_place

            check_place(state, Git(session.workdir))
        made = policy.mark(state, word, now_ms, ack=ack, reason=reason, restart=restart)
        return _append(session, pen, [made], dry=dry)


def cancel(session: Session, now_ms: int, *, dry: bool = False) -> Appended:
    """Append what ends the session for the user's sake; nothing is deleted or reverted."""
    with writing(session.log, dry=dry) as pen:
        policy = policy_of(pen.state)
        policy.check_open(pen.state)
        return _append(session, pen, [policy.cancel(pen.state, now_ms)], dry=dry)


def _append(session: Session, pen: Pen, made: Sequence[Record], *, dry: bool) -> Appended:
    runs = pen.append(*made)
    run = runs[-1] if runs else None
    if run is not None and run.run in pen.state.results:
        run = run._replace(status=pen.state.results[run.run].status)
    problem = None if dry else snapshots.refresh(session, pen.history)
    return Appended(made, run, pen.history, pen.warnings, problem)
