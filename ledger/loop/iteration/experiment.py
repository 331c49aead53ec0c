"""One iteration: commit, measure, check, decide, log, revert, verify (protocols.md 7).

Each step looks whether it is done before it does anything, by the journal and by the repository; so the way from any
half-done state to the end is the same way.
"""

from collections.abc import Callable
from typing import NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.numbers import better
from ledger.dialects import policy_of
from ledger.log.jsontext import decode
from ledger.loop.by_hand import SHORT, Appended
from ledger.loop.git.repository import Git
from ledger.loop.iteration import appending, harness, journal, preconditions, protected
from ledger.loop.iteration.decision import Rival, decide
from ledger.loop.iteration.journal import Journal
from ledger.loop.measuring import last_measurement
from ledger.loop.measuring.measurement import NO_CHECKS, Checked, Measurement, check, guard, measure, verify
from ledger.session.files import ITERATION, Session
from ledger.session.history import History, sound

Say = Callable[[str], object]
"""What gets each sentence about what is going on."""

ATTEMPTS = 2
"""Measurements of one experiment that may be killed from outside before that counts as a crash."""


class Step(NamedTuple):
    """Bundle what every step needs; `watch` gets the name of each step as it begins, `done` what was logged."""

    session: Session
    history: History
    git: Git
    say: Say
    watch: Say
    done: Callable[[Appended], object]


def commit(step: Step, entry: Journal) -> Journal:
    """Commit the experiment, and nothing else."""
    step.watch("committing")
    try:
        trial = step.git.commit(entry.paths, entry.message)
    except LedgerError:  # a hook of the repository's may say no
        journal.remove(step.session)
        raise
    return entry.save(step.session, trial=trial)


def conduct(step: Step, entry: Journal) -> Appended:
    """Take an iteration from where its journal stands to its end, and give what was logged.

    A log tells first and the revert follows, unless the record names its revert. Whoever waits for what was logged is
    told before the journal goes: twice if a kill comes in between, rather than never.
    """
    try:
        history = sound(step.history.renew())
        entry = _measured(step, entry)
        if not policy_of(history.state).logs_before_revert:
            entry = _reverted(step, entry)
        step.watch("logging")
        entry, logged = appending.log(step.session, history, entry)
        entry = _reverted(step, entry)
        _verify(step, entry)
    except LedgerError as error:
        if entry.shelf is None:
            raise
        raise LedgerError(
            f"{error}; what was changed beside it is in {entry.shelf} and comes back with its end"
        ) from None
    bring_back(step, entry)
    step.done(logged)
    journal.remove(step.session)
    return logged


def put_away(step: Step, entry: Journal, paths: list[str]) -> Journal:
    """Put files that differ from HEAD away until the iteration is over."""
    if not paths:
        return entry
    entry = entry.save(step.session, shelf=step.git.keep_aside(f"shelf-{entry.number}"), shelved=paths)
    step.git.restore("HEAD", paths)
    return entry


def bring_back(step: Step, entry: Journal) -> None:
    """Bring the files back that were put away, but for what measuring makes and what was changed again since."""
    if entry.shelf is None:
        return
    newer = set(entry.shelved).intersection(preconditions.changed(step.session, step.git))
    if newer:
        step.say(
            f"changed again since it was put away, and left so ({entry.shelf} has it):"
            f" {preconditions.listed(sorted(newer))}"
        )
    made = preconditions.made_by_measuring(step.session, step.git)
    back = [path for path in entry.shelved if path not in newer and path not in made]
    step.git.restore(entry.shelf, back)
    if back:
        step.say(f"changed beside the iteration, and still there: {preconditions.listed(back)}")


def _measured(step: Step, entry: Journal) -> Journal:
    """Measure, check and decide, unless that is done."""
    if entry.outcome is not None:
        return entry
    session, history, wishes = step.session, step.history, entry.wanted
    segment, policy = history.state.current(), policy_of(history.state)
    more: dict[str, str | None] = {}
    if entry.attempts >= ATTEMPTS:
        said = f"killed from outside {entry.attempts} times while it was measured"
        measured, checked = Measurement(failure=said), NO_CHECKS
    else:
        entry = entry.save(session, attempts=entry.attempts + 1, before=sorted(step.git.look().untracked))
        before = protected.note(session, history, step.git)
        step.watch("measuring")
        if policy.commands_in_config:
            measured, checked, more = _verified(step, entry, history)
        else:
            measured = measure(session, segment.metric_name, repeat=wishes.repeat)
            if not measured.failure and session.file("checks").exists():
                measured = _bounded(step, before, measured)
            step.watch("checking")
            checked = NO_CHECKS if measured.failure else check(session)
        measured = _bounded(step, before, measured, last=True)
        segment = history.state.current()  # others may have appended meanwhile
        tidy(step, entry)
        if checked.status != "none":
            last_measurement.remember(session, measured, checked, step.git)
    for said in measured.warnings:
        step.say(said)
    outcome = decide(segment, _rival(history), wishes, measured, checked)
    if outcome.status == "keep":
        word = policy.baseline_word if entry.baseline else "keep"
        outcome = outcome._replace(status=word, commit=(entry.trial or entry.base)[:SHORT])
    if outcome.status in ("crash", "checks_failed"):
        step.say(f"{outcome.status}: {measured.failure or checked.failure}")
    if segment.best is None and not policy.measured_start:
        harness.pin(session, history)
    return entry.save(session, outcome=outcome._asdict(), more=more)


def _bounded(step: Step, before: protected.Before, measured: Measurement, *, last: bool = False) -> Measurement:
    """Undo what the measured program did to what is not its own; such a measurement has failed.

    After the `last` of the programs the whole tree is looked at, else HEAD and the branch.
    """
    step.git.forget()
    undone = protected.undo(step.session, step.history, before)
    if last:
        step.git.look()
    undone += protected.undo_head(step.git, before)
    if not undone:
        return measured
    said = f"changed what is the session's own, which is put back: {', '.join(undone)}"
    return Measurement(failure=said, tail=measured.tail, seconds=measured.seconds, warnings=measured.warnings)


def _verified(step: Step, entry: Journal, history: History) -> tuple[Measurement, Checked, dict[str, str | None]]:
    """Measure by the commands of the configuration: the guard is asked only about a metric that is better."""
    policy = policy_of(history.state)
    config = history.state.replay.config or {}
    # Named by the event's place: an iteration that ended in an error has its number taken by the next one.
    names = {kind: f"logs/{history.state.records:03}.{kind}.log" for kind in ("verify", "guard")}
    measured = verify(step.session, config, step.session.log.parent / names["verify"])
    more: dict[str, str | None] = {"verify_log": names["verify"], "guard_log": None, "guard": "not_run"}
    retained, direction = policy.to_beat(history.state), history.state.current().direction
    if measured.metric is None or retained is None or direction is None:
        return measured, NO_CHECKS, more
    if not better(measured.metric, retained, direction):
        return measured, NO_CHECKS, more
    if config.get("guard") is None:
        return measured, NO_CHECKS, {**more, "guard": "pass"}
    step.watch("guarding")
    checked = guard(step.session, config, step.session.log.parent / names["guard"])
    return measured, checked, {**more, "guard": checked.status, "guard_log": names["guard"]}


def _rival(history: History) -> Rival:
    """Find what a run has to beat."""
    state, segment = history.state, history.state.current()
    run = next((run for run in history.runs() if run.run == segment.best_run), None)
    record = decode(history.line(run)).value if run else None
    metrics = record.get("metrics") if isinstance(record, dict) else None
    policy = policy_of(state)
    return Rival(policy.to_beat(state), metrics if isinstance(metrics, dict) else {}, policy.least_gain(segment))


def tidy(step: Step, entry: Journal) -> None:
    """Leave nothing of what measuring did to the tree: new files are no experiment's, tracked ones are put back."""
    if entry.before is None:
        return
    made = step.git.look().untracked.difference(entry.before)
    if made:
        preconditions.note_made(step.session, made)
    if changed := preconditions.changed(step.session, step.git):
        kept = step.git.keep_aside(f"measured-{entry.number}")
        step.git.restore("HEAD", changed)
        step.say(f"changed while it was measured, and put back (kept as {kept}): {preconditions.listed(changed)}")


def _reverted(step: Step, entry: Journal) -> Journal:
    """Revert what is not kept, unless that is done."""
    if entry.kept or entry.trial is None or entry.reverted is not None:
        return entry
    step.watch("reverting")
    git, head = step.git, step.git.head() or ""
    if head == entry.trial:
        entry = entry.save(step.session, reverting=True)
        _make_way(step, entry)
        return entry.save(step.session, reverted=git.revert(head, entry.paths))
    if git.parents(head) == [entry.trial] and git.same_tree(head, entry.base):
        return entry.save(step.session, reverted=head)
    raise moved(step, entry)


def _make_way(step: Step, entry: Journal) -> None:
    """Take files out of the way of a revert that measuring made where the experiment had removed them."""
    assert entry.trial is not None
    untracked = step.git.look().untracked
    if back := untracked and untracked.intersection(step.git.differing(entry.base, entry.trial)):
        kept = step.git.keep_aside(f"measured-{entry.number}")
        step.git.remove(back)
        step.say(
            f"made while it was measured, and in the way of the revert (kept as {kept}):"
            f" {preconditions.listed(sorted(back))}"
        )


def _verify(step: Step, entry: Journal) -> None:
    """Raise LedgerError unless HEAD is what the iteration should leave; say what else the tree has."""
    due = entry.trial if entry.kept and entry.trial else entry.reverted or entry.base
    head = step.git.head() or ""
    if head != due:
        raise moved(step, entry)
    if entry.reverted and not step.git.same_tree(head, entry.base):
        raise LedgerError(
            f"the revert {head[:SHORT]} did not bring back the tree of {entry.base[:SHORT]}: look at both"
        )
    if left := preconditions.changed(step.session, step.git):
        step.say(f"the tree differs from HEAD after the run: {preconditions.listed(left)}")


def moved(step: Step, entry: Journal) -> LedgerError:
    """Say that somebody moved HEAD under an iteration, and how to give it up."""
    path = step.session.side(ITERATION)
    return LedgerError(
        f"HEAD was moved to {(step.git.head() or '')[:SHORT]} while run {entry.number} was under way: go back with"
        f" git checkout {entry.branch} and git reset --mixed {(entry.trial or entry.base)[:SHORT]}, or remove"
        f" {path} to give the iteration up"
    )
