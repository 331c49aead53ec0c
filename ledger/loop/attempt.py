"""`ledger run`: one iteration on the working tree, from the verdict to the last check (PROTOCOLS 7)."""

from collections.abc import Callable
from typing import NamedTuple

from ledger.appending import locked
from ledger.errors import LedgerError
from ledger.loop import ground, iterate
from ledger.loop.entry import Entry
from ledger.loop.git import Git
from ledger.loop.history import History, read, sound
from ledger.loop.iterate import Say, Step
from ledger.loop.journal import Journal, Wishes
from ledger.loop.judging import judge_session
from ledger.loop.records import next_run
from ledger.loop.recover import abandon, recover
from ledger.loop.scope import Scope
from ledger.loop.scope import find as find_scope
from ledger.loop.session import Session
from ledger.loop.writer import check_open
from ledger.state import State
from ledger.times import now_ms

LOCK = "run.lock"
PATIENCE = 1.0
"""Seconds for those who only look whether a run is under way."""
BASELINE = "baseline"

_CODEX_LACKS = ("keep_equal", "discard", "max_regress")


class Limits(NamedTuple):
    """Hold what the caller limits: runs of the segment (None: nobody's word), and the scope, where it is known."""

    max_iterations: int | None = None
    scope: Scope | None = None


class Listener(NamedTuple):
    """Bundle who is told: sentences, the name of each step, the log ahead of an iteration, and what was logged."""

    say: Say
    step: Say
    ahead: Callable[[History], object]
    logged: Callable[[Entry], object]


def attempt(
    session: Session, wishes: Wishes | None, limits: Limits, listener: Listener, *, recover_only: bool = False
) -> None:
    """Do one iteration, or (without wishes) measure the unchanged tree as the segment's baseline.

    A half-done iteration is finished or undone first, if need be that alone, and a segment without a run gets its
    baseline first. Raises LedgerError for anything that stands against it; KeyboardInterrupt after the iteration was
    undone.
    """
    with locked(session.side(LOCK), PATIENCE, busy="another ledger run, or a loop, is measuring here"):
        step = Step(session, Git(session.workdir, session.own()), listener.say, listener.step)
        try:
            if _resume(step, wishes, listener) or recover_only:
                return
            history = sound(read(session.log))
            check_open(history.state)
            ground.check_verdict(judge_session(history.state, session, limits.max_iterations, now_ms()))
            ground.check_repository(session, history)
            _fresh(step, history, wishes, limits, listener)
        except KeyboardInterrupt:
            abandon(step)
            raise


def _resume(step: Step, wishes: Wishes | None, listener: Listener) -> bool:
    """Finish or undo a half-done iteration; tell whether that was all that the caller came for."""
    if step.git.top() is None:
        return False
    found, finished = recover(step)
    if finished is None:
        return False
    listener.logged(finished)
    return found and (wishes is None or not ground.changed(step.session, step.git))


def _fresh(step: Step, history: History, wishes: Wishes | None, limits: Limits, listener: Listener) -> None:
    state = history.state
    if wishes is None:
        listener.logged(_baseline(step, history))
        return
    _check_wishes(state, wishes)
    paths = ground.changed_files(step.session, step.git, limits.scope or find_scope(step.session, state))
    if not paths:
        raise LedgerError("nothing was changed: edit the code in scope first (--baseline measures it as it is)")
    if state.dialect != "codex" and state.current().baseline is None:
        step.say("the segment has no baseline yet: the unchanged tree is measured first")
        listener.logged(_baseline(step, history, paths))
        history = sound(read(step.session.log))
    listener.ahead(history)
    entry = _begun(step, history, wishes._asdict(), paths)
    listener.logged(iterate.conduct(step, iterate.commit(step, entry)))


def _begun(
    step: Step, history: History, wishes: dict[str, object], paths: list[str], *, baseline: bool = False
) -> Journal:
    codex = history.state.dialect == "codex"
    number = history.state.replay.iterations[0] + 1 if codex else next_run(history.state)
    base, branch = step.git.head() or "", step.git.branch() or ""
    return Journal(number, branch, base, paths, wishes, baseline).save(step.session)


def _baseline(step: Step, history: History, beside: list[str] | None = None) -> Entry:
    """Measure the tree as HEAD has it; files `beside` it are put away meanwhile."""
    state = history.state
    if state.dialect == "codex":
        raise LedgerError("a codex run has its baseline from ledger init")
    if state.current().baseline is not None:
        raise LedgerError(
            f"the segment has its baseline, run {state.current().baseline_run}; ledger init opens a new one"
        )
    if beside is None and (changed := ground.changed(step.session, step.git)):
        raise LedgerError(
            f"the baseline is the unchanged tree, but this differs from HEAD: {ground.listed(changed)}; commit it, have"
            " git ignore it, or take it away"
        )
    entry = _begun(step, history, Wishes(BASELINE)._asdict(), [], baseline=True)
    logged = iterate.conduct(step, iterate.shelve(step, entry, beside or []))
    run = logged.run
    if beside is not None and run is not None and run.status not in ("keep", "baseline"):
        raise LedgerError(
            f"the unchanged tree could not be measured ({run.status}), so a change cannot either; it is logged as run"
            f" {run.run}, and your changes are still there"
        )
    return logged


def _check_wishes(state: State, wishes: Wishes) -> None:
    if state.dialect == "codex":
        if lacking := [name.replace("_", "-") for name in _CODEX_LACKS if getattr(wishes, name)]:
            raise LedgerError(f"a codex history has no place for --{', --'.join(lacking)}: only better trials are kept")
        return
    unknown = [name for name in wishes.max_regress if name not in state.current().names]
    if unknown and state.current().names:
        raise LedgerError(f"--max-regress: no run of the segment measured {', '.join(unknown)}")
