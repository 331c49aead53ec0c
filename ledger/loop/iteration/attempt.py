"""`ledger run`: one iteration on the working tree, from the verdict to the last check (protocols.md 7)."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.locks import locked
from ledger.base.times import now_ms
from ledger.dialects import policy_of
from ledger.log.jsontext import decode, dump
from ledger.loop.by_hand import Appended
from ledger.loop.iteration import experiment, preconditions
from ledger.loop.iteration.experiment import Say, Step
from ledger.loop.iteration.journal import Journal, Wishes
from ledger.loop.iteration.recovery import abandon, recover
from ledger.loop.iteration.scope import Scope
from ledger.loop.iteration.scope import find as find_scope
from ledger.loop.project import Project
from ledger.session.files import RUN_LOCK
from ledger.session.history import History, secondary_names, sound
from ledger.session.standing import judge_session

REPOSITORY_LOCK = "ledger.lock"
"""In git's own folder: held by the one who measures, whichever session it is for."""
PATIENCE = 1.0
"""Seconds for those who only look whether a run is under way."""


class Limits(NamedTuple):
    """Hold what the caller limits: runs of the segment (None: nobody's word), and the scope, where it is known.

    `repeat` is how often a baseline is measured.
    """

    max_iterations: int | None = None
    scope: Scope | None = None
    repeat: int = 1


class Listener(NamedTuple):
    """Bundle who is told: sentences, the name of each step, what was logged, and that an iteration is ahead.

    Who lets a hook run when told has the repository forgotten.
    """

    say: Say
    step: Say
    logged: Callable[[Appended], object]
    ahead: Callable[[], object] = lambda: None


def attempt(
    project: Project, wishes: Wishes | None, limits: Limits, listener: Listener, *, recover_only: bool = False
) -> None:
    """Do one iteration, or (without wishes) measure the unchanged tree as the segment's baseline.

    A half-done iteration is finished or undone first, if need be that alone, and a segment without a run gets its
    baseline first. Raises LedgerError for anything that stands against it; KeyboardInterrupt after the iteration was
    undone.
    """
    session, history, git = project
    busy = "a run of another session is measuring in this repository"  # they would commit over each other
    outside = git.top() is None
    with (
        locked(session.side(RUN_LOCK), PATIENCE, busy="another ledger run, or a loop, is measuring here"),
        nullcontext() if outside else locked(git.private() / REPOSITORY_LOCK, PATIENCE, busy=busy),
    ):
        step = Step(session, history, git, listener.say, listener.step, listener.logged)
        try:
            if not outside and recover(step) is not None:
                recover_only = recover_only or wishes is None or not preconditions.changed(session, git)
            if recover_only:
                return
            _check(step, limits)
            preconditions.check_repository(session, history, git)
            _fresh(step, wishes, limits, listener)
        except KeyboardInterrupt:
            abandon(step)
            raise


def _check(step: Step, limits: Limits) -> None:
    state = sound(step.history.renew()).state
    policy_of(state).check_open(state)
    preconditions.check_verdict(judge_session(state, step.session, limits.max_iterations, now_ms()))


def _fresh(step: Step, wishes: Wishes | None, limits: Limits, listener: Listener) -> None:
    history, git = step.history, step.git
    if wishes is None:
        _baseline(step, limits.repeat)
        return
    _check_wishes(history, wishes)
    paths = preconditions.changed_files(step.session, git, limits.scope or find_scope(step.session, history))
    if not paths:
        raise LedgerError("nothing was changed: edit the code in scope first (--baseline measures it as it is)")
    if git.look().staged:
        git.unstage()  # what was staged is a change like any other; a file staged and gone again is none
    if not (paths := preconditions.changed(step.session, git)):
        raise LedgerError("nothing was changed but the index: edit the code in scope first")
    if not policy_of(history.state).measured_start and history.state.current().best is None:
        step.say("the segment has no baseline yet: the unchanged tree is measured first")
        _baseline(step, wishes.repeat, paths)
        _check(step, limits)
    listener.ahead()
    experiment.conduct(step, experiment.commit(step, _begun(step, wishes._asdict(), paths)))


def _begun(step: Step, wishes: dict[str, object], paths: list[str], *, baseline: bool = False) -> Journal:
    number = policy_of(step.history.state).next_number(step.history.state)
    base, branch = step.git.head() or "", step.git.branch() or ""
    return Journal(number, branch, base, paths, wishes, baseline).save(step.session)


def _baseline(step: Step, repeat: int, beside: list[str] | None = None) -> None:
    """Measure the tree as HEAD has it; files `beside` it are put away meanwhile."""
    state = step.history.state
    if policy_of(state).measured_start:
        raise LedgerError(f"a {state.dialect} run has its baseline from ledger init")
    if state.current().best is not None:
        raise LedgerError(
            f"the segment has its baseline, run {state.current().baseline_run}; ledger init opens a new one"
        )
    if beside is None and (changed := preconditions.changed(step.session, step.git)):
        raise LedgerError(
            f"the baseline is the unchanged tree, but this differs from HEAD: {preconditions.listed(changed)};"
            " commit it, have git ignore it, or take it away"
        )
    entry = _begun(step, Wishes("baseline", repeat=repeat)._asdict(), [], baseline=True)
    logged = experiment.conduct(step, experiment.put_away(step, entry, beside or []))
    run = logged.run
    if beside is not None and run is not None and run.status not in ("keep", "baseline"):
        raise LedgerError(
            f"the unchanged tree could not be measured ({run.status}), so a change cannot either; it is logged as run"
            f" {run.run}, and your changes are still there"
        )


def _check_wishes(history: History, wishes: Wishes) -> None:
    state = history.state
    if decode(dump({"deeper": {"than": {"any": dict(wishes.asi)}}}).encode()).notes:
        raise LedgerError("the asi cannot be logged: it nests too deeply, or has a number that no log can hold")
    policy = policy_of(state)
    if wishes.repeat > 1 and not policy.repeats:
        raise LedgerError(f"a {policy.name} trial is measured once: --repeat is for the other protocols")
    if lacking := [name.replace("_", "-") for name in policy.lacks if getattr(wishes, name)]:
        raise LedgerError(
            f"a {policy.name} history has no place for --{', --'.join(lacking)}: only better trials are kept"
        )
    known = secondary_names(history)
    unknown = [name for name in wishes.max_regress if name not in known]
    if unknown:
        raise LedgerError(f"--max-regress: no run of the segment measured {', '.join(unknown)}")
