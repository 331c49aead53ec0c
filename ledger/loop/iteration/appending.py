"""What a decided iteration appends to its log, in each protocol, exactly once whatever kills it."""

from typing import Any, Protocol

from ledger.base.errors import LedgerError
from ledger.base.files import append
from ledger.base.locks import lock_of, locked
from ledger.base.numbers import Number, better, is_number, text
from ledger.base.times import now_ms
from ledger.fold.state import State
from ledger.loop.by_hand import Appended
from ledger.loop.iteration.journal import Journal
from ledger.session import new_records
from ledger.session.files import Session
from ledger.session.history import History
from ledger.session.new_records import Record, RunOutcome
from ledger.session.writer import check_open, writing
from ledger.telling import snapshots


class _Step(Protocol):
    @property
    def session(self) -> Session: ...
    @property
    def history(self) -> History: ...
    @property
    def watch(self) -> Any: ...


def log(step: _Step, entry: Journal) -> tuple[Journal, Appended]:
    """Append the outcome of an iteration, unless that is done; give the journal that says so, and what was logged."""
    session = step.session
    step.watch("logging")
    complete(step.history, entry)
    with writing(step.history) as pen:
        if entry.logged or _is_there(pen.history, entry):
            size, end = entry.size or 0, (entry.size or 0) + len((entry.lines or "").encode())
            found = [run for run in pen.history.runs() if size <= run.place.offset < end]
            problem = snapshots.refresh(session, pen.history)
            logged = Appended((), found[0] if found else None, pen.history, (), problem)
            return entry.save(session, logged=True), logged
        check_open(pen.state)
        made = _records(pen.state, entry)
        saved = [entry]
        runs = pen.append(
            *made, before=lambda size, data: saved.append(entry.save(session, size=size, lines=data.decode()))
        )
        entry = saved[-1].save(session, logged=True)
        problem = snapshots.refresh(session, pen.history)
        run = runs[0] if runs else None
        if run is not None and pen.state.dialect == "state-protocol":
            run = run._replace(status=pen.state.results[run.run].status, confidence=pen.state.current().confidence)
        return entry, Appended(made, run, pen.history, pen.warnings, problem)


def complete(history: History, entry: Journal) -> None:
    """Write the rest of a line that a kill cut short: the journal knows the whole of it."""
    if entry.logged or entry.size is None or entry.lines is None:
        return
    data = entry.lines.encode()
    with locked(lock_of(history.path)):
        there = history.renew().content[entry.size :]
        if there and len(there) < len(data) and data.startswith(there):
            append(history.path, data[len(there) :], entry.size + len(there))


def _is_there(history: History, entry: Journal) -> bool:
    if entry.size is None or entry.lines is None:
        return False
    data = entry.lines.encode()
    return history.content[entry.size : entry.size + len(data)] == data


def _records(state: State, entry: Journal) -> list[Record]:
    outcome = RunOutcome(**(entry.outcome or {}))
    if state.dialect == "codex":
        return _codex(state, entry, outcome)
    return new_records.run_records(state, outcome, now_ms())


def _codex(state: State, entry: Journal, outcome: RunOutcome) -> list[Record]:
    """Make the iteration and what ends the run with it, or the error that stopped it."""
    replay, more = state.replay, entry.more
    if outcome.status == "crash":
        reason = str(outcome.asi.get("error_details") or "the measurement failed").split("\n", 1)[0]
        return [new_records.event(state, "error", now_ms(), {
            "reason": reason, "head": entry.reverted or entry.trial or replay.head, "metric": replay.metric,
            "trial_commit": entry.trial, "revert_commit": entry.reverted, "log": more.get("verify_log"),
        })]  # fmt: skip
    retained = outcome.metric if entry.kept else replay.metric
    head = entry.trial if entry.kept else entry.reverted
    if retained is None or head is None:
        raise LedgerError("the history retains no metric: its baseline is missing")
    number = replay.iterations[0] + 1
    made = [new_records.event(state, "iteration", now_ms(), {
        "iteration": number, "outcome": "keep" if entry.kept else "discard", "description": outcome.description,
        "previous_metric": replay.metric, "trial_metric": outcome.metric, "retained_metric": retained,
        "trial_commit": entry.trial, "head": head, "revert_commit": None if entry.kept else entry.reverted,
        "guard": more["guard"], "verify_log": more["verify_log"], "guard_log": more["guard_log"],
    })]  # fmt: skip
    if end := end_of(state, number, retained, head):
        made.append({**end, "seq": state.records + 1})
    return made


def end_of(state: State, iterations: int, metric: Number, head: str) -> Record | None:
    """Make the event that ends a codex run at this metric after so many iterations, if it ends."""
    config, direction = state.replay.config or {}, state.replay.direction
    target, limit, name = config.get("target"), config.get("max_iterations"), state.current().metric_name
    retained = {"head": head, "metric": metric}
    if is_number(target) and direction and not better(target, metric, direction):  # type: ignore[arg-type]
        sign = "<=" if direction == "lower" else ">="
        reason = f"target met: {name} {text(metric)} {sign} {text(target)}"  # type: ignore[arg-type]  # a number
        return new_records.event(state, "complete", now_ms(), {"reason": reason, **retained})
    if type(limit) is int and iterations >= limit:
        reason = f"max_iterations: {iterations} of {limit}"
        return new_records.event(state, "stopped", now_ms(), {"reason": reason, **retained})
    return None
