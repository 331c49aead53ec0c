"""`ledger run`: one iteration on the working tree, from the verdict to the last check (PROTOCOLS 7)."""

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
BASELINE = "baseline"

_CODEX_LACKS = ("keep_equal", "discard", "max_regress")


class Limits(NamedTuple):
    """Hold what the caller limits: runs of the segment (None: nobody's word), and the scope, where it is known."""

    max_iterations: int | None = None
    scope: Scope | None = None


def attempt(
    session: Session, wishes: Wishes | None, limits: Limits, say: Say, watch: Say, *, recover_only: bool = False
) -> list[Entry]:
    """Do one iteration, or (without wishes) measure the unchanged tree as the segment's baseline; list what was logged.

    A half-done iteration is finished or undone first, if need be that alone, and a segment without a run gets its
    baseline first. Raises LedgerError for anything that stands against it; KeyboardInterrupt after the iteration was
    undone.
    """
    with locked(session.side(LOCK), 0):
        step = Step(session, Git(session.workdir, session.own()), say, watch)
        found, finished = recover(step) if step.git.top() else (False, None)
        logged = [finished] if finished else []
        history = sound(read(session.log))
        if recover_only or (found and _is_done(step, wishes, finished)):
            return logged
        check_open(history.state)
        ground.check_verdict(judge_session(history, session, limits.max_iterations, now_ms()))
        ground.check_repository(session, history)
        try:
            return logged + _fresh(step, history, wishes, limits)
        except KeyboardInterrupt:
            abandon(step)
            raise


def _is_done(step: Step, wishes: Wishes | None, finished: Entry | None) -> bool:
    """Tell whether the recovered iteration was what the caller came for: nothing else is there to be measured."""
    if wishes is None:
        return finished is not None
    aside = ground.leavings(step.session)
    return not [path for path in step.git.changes() if path not in aside] and (finished is not None)


def _fresh(step: Step, history: History, wishes: Wishes | None, limits: Limits) -> list[Entry]:
    state = history.state
    if wishes is None:
        return [_baseline(step, history)]
    _check_wishes(state, wishes)
    paths = ground.changed_files(step.session, step.git, limits.scope or find_scope(step.session, state))
    if not paths:
        raise LedgerError("nothing was changed: edit the code in scope first (--baseline measures it as it is)")
    logged = []
    if state.dialect != "codex" and not state.current().runs:
        step.say("the segment has no run yet: the unchanged tree is measured first")
        logged = [_baseline(step, history, paths)]
        history = sound(read(step.session.log))
    entry = _begun(step, history, wishes._asdict(), paths)
    return [*logged, iterate.conduct(step, iterate.commit(step, entry))]


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
    if state.current().runs:
        raise LedgerError(
            f"the segment has {state.current().runs} runs already, the baseline among them; ledger init opens a new one"
        )
    if beside is None:
        aside = ground.leavings(step.session)
        if changed := [path for path in step.git.changes() if path not in aside]:
            raise LedgerError(f"the baseline is the unchanged tree, but these are changed: {ground.listed(changed)}")
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
