"""An iteration that a kill, crash or reboot left half done: found, finished or undone, and told (protocols.md 7)."""

import contextlib
import os
import time

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.log.source import read_small
from ledger.loop.by_hand import SHORT, Appended
from ledger.loop.iteration import experiment, harness, journal, preconditions
from ledger.loop.iteration.appending import complete
from ledger.loop.iteration.experiment import Step
from ledger.loop.iteration.journal import Journal
from ledger.session.history import sound

LOCK_PATIENCE = 10.0
"""Seconds to wait for a git process that outlived its caller."""
LOCK_AGE = 120.0
"""Seconds after which a lock of git's is nobody's: it was there before the wait, and no git takes that long here."""


def recover(step: Step) -> Appended | None:
    """Finish or undo a half-done iteration, and give what was logged, if anything.

    Raises LedgerError if HEAD is at none of the places where the iteration can have left it.
    """
    entry = journal.load(step.session)
    if entry is None:
        return None
    step.say(f"run {entry.number} was left half done ({_where(entry)})")
    complete(step.history, entry)
    _free_locks(step)
    if step.git.branch() != entry.branch:
        raise experiment.moved(step, entry)
    found = _committed(step, entry)
    if found is None:
        return None
    if found.outcome is None:
        harness.check(step.session, sound(step.history.renew()), step.git)
    logged = experiment.conduct(step, _cleared(step, found))
    step.say(f"run {entry.number} is finished now")
    return logged


def _where(entry: Journal) -> str:
    if entry.logged:
        return "logged"
    if entry.outcome is not None:
        return "measured, perhaps not logged"
    return "being measured" if entry.trial or entry.baseline else "being committed"


def _committed(step: Step, entry: Journal) -> Journal | None:
    """Give the journal with its trial; None, the journal being removed, where nothing was committed or measured."""
    head = step.git.head() or ""
    if entry.trial is not None or (entry.baseline and head == entry.base):
        return entry
    if entry.baseline:
        raise experiment.moved(step, entry)
    if head == entry.base:
        step.git.unstage()
        _drop(step, entry, "nothing was committed, its changes are in the working tree")
        return None
    if step.git.parents(head) == [entry.base] and entry.bears(step.git.message(head)):
        return entry.save(step.session, trial=head)
    raise experiment.moved(step, entry)


def _drop(step: Step, entry: Journal, said: str) -> None:
    experiment.bring_back(step, entry)
    journal.remove(step.session)
    step.say(said)


def _cleared(step: Step, entry: Journal) -> Journal:
    """Make the tree that of HEAD, so that it can be measured and reverted; what else was changed comes back later."""
    git = step.git
    if git.under_way() == "a revert":
        for name in ("REVERT_HEAD", "MERGE_MSG"):
            (git.private() / name).unlink(missing_ok=True)
    git.unstage()
    changed = preconditions.changed(step.session, git)
    torn = set(_torn(step, entry, changed)) if entry.reverting else set()
    git.restore("HEAD", sorted(torn))
    rest = [path for path in changed if path not in torn]
    if entry.shelf is None:
        return experiment.put_away(step, entry, rest)
    if not rest:
        return entry
    # One shelf holds both, the newer content of a file counting; one that is missing was being brought back.
    top = git.top() or step.session.workdir
    newer = [path for path in rest if path not in entry.shelved or os.path.lexists(top / path)]
    older = [path for path in entry.shelved if path not in newer]
    git.restore(entry.shelf, older)
    step.say(f"changed since the iteration began, like what {entry.shelf} has: {preconditions.listed(newer)}")
    return experiment.put_away(step, entry, [*newer, *older])


def _torn(step: Step, entry: Journal, changed: list[str]) -> list[str]:
    """List the files of the trial that an interrupted revert left at the old content, at a part of it, or missing."""
    assert entry.trial is not None
    top = step.git.top() or step.session.workdir
    theirs = set(step.git.differing(entry.base, entry.trial)).intersection(changed)
    found = []
    for name in sorted(theirs):
        there = read_small(top / name, 1 << 30) if (top / name).is_file() else b""
        whole = (step.git.blob(commit, name) or b"" for commit in (entry.base, entry.trial))
        if any(one.startswith(there or b"") for one in whole):
            found.append(name)
    return found


def _free_locks(step: Step) -> None:
    """Wait for a git process that outlived its caller; remove the locks of one that did not, as after a power cut.

    Raises LedgerError for a lock that may still be somebody's.
    """
    branch = step.git.branch()
    names = ("index.lock", "HEAD.lock", *([f"refs/heads/{branch}.lock"] if branch else []))
    locks = [step.git.private() / name for name in names]
    deadline = time.monotonic() + LOCK_PATIENCE
    while (held := [lock for lock in locks if lock.exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for lock in held:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - lock.stat().st_mtime < LOCK_AGE:
                raise LedgerError(f"git is at work here: {show_path(lock)} is there; if no git is running, remove it")
            lock.unlink()
            step.say(f"removed {lock}, which a killed git left")


def abandon(step: Step) -> None:
    """Undo an iteration that is interrupted before it was decided; finish one that was."""
    entry = journal.load(step.session)
    if entry is None:
        return
    if entry.outcome is not None:
        experiment.conduct(step, entry)
        step.say(f"run {entry.number} was decided already, so it is logged")
        return
    experiment.tidy(step, entry)
    head = step.git.head() or ""
    if entry.trial is None and step.git.parents(head) == [entry.base] and entry.bears(step.git.message(head)):
        entry = entry.save(step.session, trial=head)
    if entry.trial is not None and head == entry.trial:
        step.git.uncommit(entry.base)
        said = f"interrupted: nothing was logged, and the change of {entry.trial[:SHORT]} is in the working tree again"
    else:
        step.git.unstage()
        said = "interrupted: nothing was logged"
    _drop(step, entry, said)
