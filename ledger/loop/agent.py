"""The agent of a loop: any command that edits code, told by its brief, answering in a file (PROTOCOLS 7)."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from ledger.appending import lock_of, locked
from ledger.errors import LedgerError
from ledger.jsontext import decode, dump
from ledger.loop import process
from ledger.loop.files import put
from ledger.loop.git import Git
from ledger.loop.history import read
from ledger.loop.journal import Wishes
from ledger.loop.output import Output
from ledger.loop.process import Finished
from ledger.loop.session import Session
from ledger.source import read_small, show_path
from ledger.terminal import plain

BRIEF, NOTE, OUTPUT = "brief.md", "note.json", "agent.log"

_DESCRIBED = 3
_TEXTS = ("description", "keep_equal", "discard")


class Before(NamedTuple):
    """Hold what an agent must leave alone: HEAD, the branch, and the log's bytes."""

    head: str
    branch: str
    log: bytes


class Call(NamedTuple):
    """Hold how an agent's turn went: how it ended, and the last of its output."""

    finished: Finished
    tail: str


def watch(session: Session, git: Git) -> Before:
    """Note what the agent must leave alone."""
    return Before(git.head() or "", git.branch() or "", session.log.read_bytes())


def call(session: Session, command: str, brief: str, number: int, timeout: float | None) -> Call:
    """Let the agent take its turn: its brief comes on stdin and in `$LEDGER_BRIEF`, its answer in `$LEDGER_NOTE`."""
    path, note = session.side(BRIEF), session.side(NOTE)
    put(path, brief.encode())
    note.unlink(missing_ok=True)
    told = {"LEDGER_BRIEF": str(path), "LEDGER_NOTE": str(note), "LEDGER_LOG": str(session.log)}
    env = {**os.environ, **told, "LEDGER_RUN": str(number)}
    with Output(session.side(OUTPUT)) as output:
        finished = process.run(
            ["bash", "-c", command], session.workdir, timeout, lambda _, chunk: output.write(chunk),
            stdin=brief.encode(), env=env, merged=True,
        )  # fmt: skip
        return Call(finished, output.tail)


def answer(session: Session, paths: Sequence[str]) -> tuple[Wishes, str]:
    """Read what the agent said of its change, and what is wrong with that; without a word the files describe it."""
    more = len(paths) - _DESCRIBED
    named = ", ".join(map(plain, paths[:_DESCRIBED])) + (f" and {more} more" if more > 0 else "")
    wishes, data = Wishes(f"change {named}"), read_small(session.side(NOTE))
    if data is None or not data.strip():
        return wishes, "the agent left no note: its change is described by the files"
    read_ = decode(data.strip())
    said = read_.value
    if not isinstance(said, dict) or any(note.kind not in ("nul", "bigint") for note in read_.notes):
        return wishes._replace(asi={"note": data.decode("utf-8", "replace")}), (
            'the note is no JSON object; write {"description": TEXT, "asi": {…}} to $LEDGER_NOTE'
        )
    taken: dict[str, Any] = {}
    wrong = []
    for key in _TEXTS:
        if isinstance(said.get(key), str) and said[key].strip():
            taken[key] = said[key].strip()
        elif said.get(key) not in (None, ""):
            wrong.append(f"{key} must be a text")
    if isinstance(said.get("asi"), dict):
        taken["asi"] = said["asi"]
    elif said.get("asi") is not None:
        taken["asi"] = {"note": dump(said["asi"])}
        wrong.append("asi must be an object")
    if "description" not in taken:
        wrong.append("description is missing")
    return wishes._replace(**taken), "; ".join(wrong) and f"the note in $LEDGER_NOTE: {'; '.join(wrong)}"


def undo_commits(git: Git, before: Before) -> str:
    """Make the agent's own commits changes of the working tree again; say so, empty if there were none.

    Raises LedgerError if it left the branch, or HEAD does not come after where it was.
    """
    head, branch = git.head() or "", git.branch() or ""
    if branch != before.branch:
        raise LedgerError(
            f"the agent left the branch {before.branch} for {branch or 'a detached HEAD'}; go back with"
            f" git checkout {before.branch}, then ledger loop --resume"
        )
    if head == before.head:
        return ""
    if not git.contains(head, before.head):
        raise LedgerError(
            f"the agent moved HEAD from {before.head[:7]} to {head[:7]}, which does not come after it; go back with"
            f" git reset --mixed {before.head[:7]}, then ledger loop --resume"
        )
    git.uncommit(before.head)
    return f"you committed ({head[:7]}); the loop commits itself, so that is a change of the working tree again"


def guard_log(session: Session, before: Before) -> None:
    """Put the log back if the agent rewrote it, or appended what makes it unsound; its version is kept beside.

    Raises LedgerError if that was so. Sound records that were appended, such as a marker, stay.
    """
    with locked(lock_of(session.log)):
        now = session.log.read_bytes() if session.log.exists() else b""
        if now == before.log or (now.startswith(before.log) and now.endswith(b"\n") and read(session.log).log.ok):
            return
        aside = session.side(f"edited-{len(list(session.log.parent.glob(f'{session.log.stem}.edited-*'))) + 1}.jsonl")
        put(aside, now, durable=True)
        put(session.log, before.log, durable=True)
    raise LedgerError(
        f"the agent edited the log, which only ledger writes; the log is as it was before, the edited one is"
        f" {show_path(aside)}"
    )
