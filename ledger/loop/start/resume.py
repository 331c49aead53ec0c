"""A session taken up again on what its log says: is the kept work there, is the prompt there (protocols.md 7)."""

from collections.abc import Iterator

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import show_path
from ledger.base.text import near, plain
from ledger.dialects import policy_of
from ledger.dialects.writing import SessionPlan
from ledger.fold.segment import KEPT
from ledger.loop.by_hand import SHORT
from ledger.loop.git.repository import Git
from ledger.loop.iteration.scope import find as find_scope
from ledger.loop.start import templates
from ledger.session.files import Session
from ledger.session.history import History, latest, read, sound

_SUBJECTS = 20
_HOW = "Rebuilt from the log's header and git log, the first prompt being lost. `ledger run` measures."


def resume(session: Session) -> Iterator[str]:
    """Check that the session can go on, rebuild a missing prompt file, and yield what was done.

    Raises LedgerError for a concluded session, and if the last kept commit is not in HEAD.
    """
    history = sound(read(session.log))
    policy_of(history.state).check_open(history.state)
    git = Git(session.workdir, session.own())
    head = git.head()
    kept = policy_of(history.state).retained_head(history.state)
    if kept is None:
        kept = next((run.commit for run in latest(history, statuses=KEPT) if run.commit), None)
    if kept and (head is None or not git.contains(head, kept)):
        name = plain(kept[:SHORT])
        raise LedgerError(
            f"the last kept commit, {name}, is not in HEAD: check out the branch that has it (git branch --contains"
            f" {name}), then ledger loop --resume"
        )
    prompt = session.file("prompt")
    if not prompt.exists():
        put(prompt, rebuilt(session, history, git).encode("utf-8", "replace"))
        yield (
            f"{near(show_path(prompt))} was missing; it is rebuilt from the header and git log: look at it, above all"
            " at the files in scope"
        )


def rebuilt(session: Session, history: History, git: Git) -> str:
    """Write a prompt file from the header and the log of commits: what nothing else keeps is asked for in comments."""
    segment, scope = history.state.current(), find_scope(session, history)
    known = SessionPlan(
        plain(segment.name or "session"),
        plain(segment.metric_name or "the metric"),
        segment.direction or "better",
        unit=plain(segment.unit or ""),
        scope=tuple(map(plain, scope.paths)),
        off_limits=tuple(map(plain, scope.off_limits)),
        secondary=tuple(map(plain, segment.names)),
    )
    tried = "".join(f"\n- {plain(subject)}".replace("<!--", "&lt;!--") for subject in git.subjects(_SUBJECTS))
    return f"{templates.prompt(known, _HOW, ())}{tried}\n"
