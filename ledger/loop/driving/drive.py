"""`ledger loop`: verdict, hook, agent, run, again, until the verdict says otherwise (protocols.md 7)."""

import time
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.base.times import now_ms
from ledger.dialects import policy_of
from ledger.dialects.writing import next_run
from ledger.fold.verdict import Verdict
from ledger.loop.by_hand import Appended
from ledger.loop.driving import agent as agents
from ledger.loop.driving import hooks
from ledger.loop.driving.background import Registration
from ledger.loop.driving.ending import Ending, close, closed
from ledger.loop.iteration import journal, preconditions, protected
from ledger.loop.iteration.attempt import Limits, Listener, attempt
from ledger.loop.iteration.scope import find as find_scope
from ledger.loop.measuring.interrupt import Wish
from ledger.loop.project import Project
from ledger.session import messages
from ledger.session.files import AGENT_OUTPUT, STOP
from ledger.session.history import History, sound
from ledger.session.standing import judge_session
from ledger.telling.brief import brief

UNCHANGED_TURNS = 3
"""So many turns in a row without a change, and a loop gives up on its agent."""


class LoopOptions(NamedTuple):
    """Hold what a loop is to do: limits None where nobody stated them; minutes and the agent's timeout, in seconds."""

    agent: str
    max_iterations: int | None = None
    minutes: float | None = None
    agent_timeout: float | None = None
    repeat: int = 1
    hooks: bool = True
    resume: bool = False


def drive(project: Project, plan: LoopOptions, place: Registration, wish: Wish, listener: Listener) -> Ending:
    """Run the loop to its end and say how it ended.

    Raises LedgerError where it cannot go on, a session that is concluded already among that, and KeyboardInterrupt when
    it is stopped at once; either way the log is sound and the work is in the tree or in git.
    """
    session, history, git = project
    begun, unchanged = time.monotonic(), 0
    if journal.load(session) is None:
        _check_start(project, resume=plan.resume)

    def watch(name: str) -> None:
        place.step(name)
        listener.step(name)

    ears = listener._replace(step=watch)
    while True:
        if journal.load(session) is not None:
            _attempt(project, plan, None, Limits(plan.max_iterations), ears, recovering=True)
        sound(history.renew())
        verdict = judge_session(history.state, session, plan.max_iterations, now_ms())
        if (ending := closed(history.state, verdict, plan.max_iterations)) is not None:
            return close(session, history, ending, verdict, ears.say)
        if session.side(STOP).exists() or wish.asked:
            return Ending("STOPPED", interrupted=wish.asked)
        if plan.minutes is not None and time.monotonic() - begun >= plan.minutes * 60:
            over = Ending("DONE (max_minutes)", "done", f"{plan.minutes:g} minutes are over")
            return close(session, history, over, verdict, ears.say)
        place.check()
        preconditions.check_repository(session, history, git)
        if history.state.current().best is None and not policy_of(history.state).measured_start:
            _baseline(project, plan, ears)
            continue
        unchanged = 0 if _turn(project, plan, verdict, ears) else unchanged + 1
        if unchanged == UNCHANGED_TURNS:
            raise LedgerError(
                f"the agent changed nothing {UNCHANGED_TURNS} times in a row, so the loop stops; its output is in"
                f" {show_path(session.side(AGENT_OUTPUT))}"
            )


def _check_start(project: Project, *, resume: bool) -> None:
    """Raise LedgerError for a concluded session, and for changes that are no agent's: a loop would revert them.

    Who resumes takes them as what an interrupted turn left.
    """
    session, history, git = project
    state = sound(history.renew()).state
    policy_of(state).check_open(state)
    preconditions.check_repository(session, history, git)
    if not resume and (left := preconditions.changed(session, git)):
        raise LedgerError(
            f"changed before the loop began: {preconditions.listed(left)}; commit it, put it away with git stash,"
            " measure it with ledger run --description TEXT, or leave it to the agent with --resume"
        )


def _baseline(project: Project, plan: LoopOptions, ears: Listener) -> None:
    for entry in _attempt(project, plan, None, Limits(plan.max_iterations, repeat=plan.repeat), ears):
        if entry.run is not None and entry.run.status not in ("keep", "baseline"):
            raise LedgerError(
                f"the unchanged tree could not be measured ({entry.run.status}), so no change can be: mend the measure"
                " script or the checks, then loop again"
            )


def _turn(project: Project, plan: LoopOptions, verdict: Verdict, ears: Listener) -> bool:
    """Let the agent change something and measure it; tell whether there was a change."""
    session, history, git = project
    scope = find_scope(session, history)
    if left := preconditions.changed(session, git):
        ears.say(f"changed before the agent's turn, and part of its experiment: {preconditions.listed(left)}")
    if plan.hooks:
        _fire(project, history, "before", ears)
        sound(history.renew())
    before = protected.note(session, history, git)
    ears.step("agent")
    notes = messages.pending(session)
    text = brief(session, history, verdict, now_ms(), notes=notes)
    finished, tail = agents.call(session, plan.agent, text, next_run(history.state), plan.agent_timeout)
    git.forget()
    if finished.code != 0:
        how = "timed out and was killed" if finished.timed_out else f"exited with status {finished.code}"
        ears.say(f"the agent {finished.problem or how}; its output is in {show_path(session.side(AGENT_OUTPUT))}")
        for line in tail.splitlines()[-5:]:
            ears.say(f"  {line}")
    protected.check_log(session, history, before)
    messages.drop(session, notes)  # not before: what was to be told in a turn that is cut short is told in the next
    if said := protected.undo_commits(git, before):
        ears.say(f"the agent: {said}")
        messages.add(session, "loop", said)
    if (last := sound(history.renew()).last()) is not None and last.place.offset >= len(before.log):
        ears.say(f"run {last.run} was logged during the agent's turn, and not by the loop: see whether it is true")
    if judge_session(history.state, session, plan.max_iterations, now_ms()).verdict != "continue":
        return True  # a marker of the agent's or a person's, which the loop heeds next
    paths = preconditions.changed_files(session, git, scope)
    if not paths:
        ears.say("the agent changed nothing")
        messages.add(session, "loop", "your last turn changed no file: edit the code in scope")
        return False
    wishes, problem = agents.answer(session, paths)
    if problem:
        ears.say(problem)
        messages.add(session, "loop", problem)
    lacks = policy_of(history.state).lacks
    wishes = wishes._replace(
        keep_equal="" if "keep_equal" in lacks else wishes.keep_equal,
        discard="" if "discard" in lacks else wishes.discard,
        repeat=plan.repeat,
    )
    limits = Limits(plan.max_iterations, scope)
    _attempt(project, plan, wishes, limits, ears)
    return True


def _attempt(
    project: Project, plan: LoopOptions, wishes: journal.Wishes | None, limits: Limits, ears: Listener,
    *, recovering: bool = False,
) -> list[Appended]:  # fmt: skip
    """Do one iteration, or finish the one that was left; fire the after-hook for what was logged."""
    entries = []

    def logged(entry: Appended) -> None:
        entries.append(entry)
        ears.logged(entry)
        if plan.hooks and entry.run is not None:
            _fire(project, entry.history, "after", ears)

    attempt(project, wishes, limits, ears._replace(logged=logged), recover_only=recovering)
    return entries


def _fire(project: Project, history: History, stage: str, ears: Listener) -> None:
    """Fire the hook of a stage, which may change anything, and queue what it says for the next brief."""
    ears.step(f"{stage}-hook")
    fired = hooks.fire(project.session, history, stage)
    if fired is not None:
        messages.add(project.session, f"{stage} hook", "\n".join(filter(None, (fired.text, fired.problem))))
        project.git.forget()
