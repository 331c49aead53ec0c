"""The agent of a loop: any command that edits code, told by its brief, answering in a file (protocols.md 7)."""

import os
from collections.abc import Sequence
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import put
from ledger.base.paths import show_path
from ledger.base.text import plain
from ledger.log.jsontext import BOM, decode, dump
from ledger.log.source import read_small
from ledger.loop.iteration.journal import Wishes
from ledger.loop.iteration.preconditions import listed
from ledger.loop.measuring import processes
from ledger.loop.measuring.output import Output
from ledger.loop.measuring.processes import Finished
from ledger.session.files import AGENT_OUTPUT, BRIEF, NOTE, Session

NOTE_BYTES = 1 << 20
"""A larger note is left out."""
DESCRIPTION = 10_000
"""Characters of a description; the rest of a longer one stands in the run's asi."""

_TEXTS = ("description", "keep_equal", "discard")


def call(session: Session, command: str, brief: str, number: int, timeout: float | None) -> tuple[Finished, str]:
    """Let the agent take its turn, and give how it ended and the last of its output.

    Its brief comes on stdin and in `$LEDGER_BRIEF`, its answer in `$LEDGER_NOTE`.
    """
    path, note, text = session.side(BRIEF), session.side(NOTE), brief.encode("utf-8", "replace")
    put(path, text)
    if note.is_dir():
        raise LedgerError(f"{show_path(note)} is a folder, and the agent's note has to go there: remove it")
    note.unlink(missing_ok=True)
    told = {"LEDGER_BRIEF": str(path), "LEDGER_NOTE": str(note), "LEDGER_LOG": str(session.log)}
    env = {**os.environ, **told, "LEDGER_RUN": str(number)}
    with Output(session.side(AGENT_OUTPUT)) as output:
        finished = processes.run(
            ["bash", "-c", command], session.workdir, timeout, lambda _, chunk: output.write(chunk),
            stdin=text, env=env, merged=True,
        )  # fmt: skip
        return finished, output.tail


def answer(session: Session, paths: Sequence[str]) -> tuple[Wishes, str]:
    """Read what the agent said of its change, and what is wrong with that; without a word the files describe it."""
    wishes = Wishes(f"change {listed(paths, 3)}")
    try:
        data = (read_small(session.side(NOTE), NOTE_BYTES) or b"").removeprefix(BOM).strip()
    except LedgerError as error:
        return wishes, f"the agent's note is left out: {error}"
    if not data:
        return wishes, "the agent left no note: its change is described by the files"
    read_ = decode(data)
    if not isinstance(read_.value, dict) or any(note.kind not in ("nul", "bigint") for note in read_.notes):
        return wishes._replace(asi={"note": data.decode("utf-8", "replace")}), (
            'the note is no JSON object; write {"description": TEXT, "asi": {…}} to $LEDGER_NOTE'
        )
    taken, wrong = _taken(read_.value)
    return wishes._replace(**taken), "; ".join(wrong) and f"the note in $LEDGER_NOTE: {'; '.join(wrong)}"


def _taken(said: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Take what fits, and list what does not."""
    taken: dict[str, Any] = {}
    wrong = []
    for key in _TEXTS:
        value = said.get(key)
        # No commit message can hold control characters.
        if isinstance(value, str) and (text := "\n".join(map(plain, value.splitlines())).strip()):
            taken[key] = text
        elif value not in (None, "") and not isinstance(value, str):
            wrong.append(f"{key} must be a text")
    if isinstance(said.get("asi"), dict):
        taken["asi"] = said["asi"]
    elif said.get("asi") is not None:
        taken["asi"] = {"note": dump(said["asi"])}
        wrong.append("asi must be an object")
    whole = taken.get("description")
    if whole is None:
        wrong.append("description is missing")
    elif len(whole) > DESCRIPTION:
        taken["description"] = f"{whole[: DESCRIPTION - 1]}…"
        taken["asi"] = {"description": whole, **taken.get("asi", {})}
        wrong.append(f"description is cut after {DESCRIPTION:,} characters; asi is the place for more")
    return taken, wrong
