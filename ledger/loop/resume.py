"""Take a session up again on what its log says (PROTOCOLS 7): is the kept work there, is the prompt there."""

from collections.abc import Iterator

from ledger.errors import LedgerError
from ledger.loop.files import put
from ledger.loop.git import Git
from ledger.loop.history import History, read, sound
from ledger.loop.session import Session
from ledger.loop.writer import check_open
from ledger.segment import KEPT
from ledger.source import show_path
from ledger.terminal import plain

_SUBJECTS = 20


def resume(session: Session) -> Iterator[str]:
    """Check that the session can go on, rebuild a missing prompt file, and yield what was done.

    Raises LedgerError for a concluded session, and if the last kept commit is not in HEAD.
    """
    history = sound(read(session.log))
    check_open(history.state)
    git = Git(session.workdir, session.own())
    head = git.head()
    kept = last_kept(history)
    if kept and (head is None or not git.contains(head, kept)):
        raise LedgerError(
            f"the last kept commit, {kept[:7]}, is not in HEAD: check out the branch that has it"
            f" (git branch --contains {kept[:7]}) before the loop goes on"
        )
    prompt = session.file("prompt")
    if not prompt.exists():
        put(prompt, rebuilt(history, git).encode())
        yield f"{show_path(prompt)} was missing; it is rebuilt from the header and git log: look at it"


def last_kept(history: History) -> str | None:
    """Give the commit of the last kept run; a codex history states the retained head."""
    if history.state.dialect == "codex":
        return history.state.replay.head
    runs = [run for ordinal in sorted(history.chapters) for run in history.runs(ordinal)]
    return next((run.commit for run in reversed(runs) if run.status in KEPT and run.commit), None)


def rebuilt(history: History, git: Git) -> str:
    """Write a prompt file from the header and the log of commits."""
    segment = history.state.current()
    unit = f" ({plain(segment.unit)})" if segment.unit else ""
    lines = [
        f"# Autoresearch: {plain(segment.name or 'session')}",
        "",
        "Rebuilt from the log's header and git log: the first prompt is lost.",
        "",
        "## Objective",
        "",
        f"Make `{plain(segment.metric_name or 'the metric')}`{unit} {segment.direction or 'better'}.",
        "",
        "## Files in scope",
        "",
        "<!-- one path a line, as a bullet; none means everything -->",
        "",
        "## Off limits",
        "",
        "<!-- likewise -->",
        "",
        "## What has been tried",
        "",
        *(f"- {plain(subject)}" for subject in git.subjects(_SUBJECTS)),
    ]
    return "\n".join(lines) + "\n"
