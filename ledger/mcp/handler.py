"""Where calls are answered: arguments checked, paths admitted, the command run, the mirror kept up to date."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp_types import CallToolResult

from ledger.base.errors import LedgerError, reason_of
from ledger.base.paths import show_path
from ledger.base.text import cut
from ledger.mcp.commands import CommandResult, Commands, Tell
from ledger.mcp.replies import answer, refusal
from ledger.mcp.roots import Roots
from ledger.mcp.tools import BY_NAME, DEFAULT_ROWS, LOG, Tool
from ledger.serve.fingerprint import log_fingerprint

_MOST_BYTES = 100_000
"""Of one word of a command; Linux takes some more."""
_BATCH_BYTES = 60_000
"""Of the paths in one call of sync."""
_SHOWN = 200
"""Characters of a path in a refusal."""


class Handler:
    """Answer calls within the roots.

    Questions go to `mirror`, or without one to a mirror of the roots' own logs in `folder`, kept up to date.
    """

    def __init__(self, roots: Roots, mirror: str | None, folder: Path) -> None:
        self.commands = Commands(roots.first)
        self._roots, self._mirror = roots, mirror
        self._folder, self._generation = folder, 0
        self._listed: set[Path] = set()
        self._seen: dict[Path, object] = {}
        self._held: set[bytes] = set()
        self._syncing = anyio.Lock()

    async def call(self, name: str, arguments: Mapping[str, Any], tell: Tell) -> CallToolResult:
        """Run a tool's command. What is refused is an answer too, for an agent to read and do better."""
        tool = BY_NAME[name]
        try:
            check(tool, arguments)
            arguments = _plain(tool, arguments)
            return await (self._ask if tool.asks else self._do)(tool, arguments, tell)
        except LedgerError as error:
            return refusal(str(error))
        except OSError as error:
            named = f": {cut(show_path(error.filename), _SHOWN)}" if error.filename else ""
            return refusal(f"{reason_of(error)}{named}")

    async def _do(self, tool: Tool, arguments: Mapping[str, Any], tell: Tell) -> CallToolResult:
        log = await anyio.to_thread.run_sync(self._roots.admit, arguments.get(LOG.name))
        return answer(tool.gives, await self.commands.run(_sound(tool.words(arguments, log, None)), tell))

    async def _ask(self, tool: Tool, arguments: Mapping[str, Any], tell: Tell) -> CallToolResult:
        _sound(tool.words(arguments, None, None))
        notes = b"" if self._mirror else await self._sync(tell)
        own = self._own()
        words = tool.words(arguments, None, self._mirror or str(own))
        rows = arguments.get("limit", DEFAULT_ROWS)
        if not self._mirror and not own.exists():
            return answer("rows", CommandResult(0, b"", b"there is no log in the named folders"), rows)
        ended = await self.commands.run(words, tell, rows + 1)
        return answer("rows", ended._replace(err=notes + ended.err), rows)

    async def _sync(self, tell: Tell) -> bytes:
        """Bring the own mirror up to date; give what sync says of the logs that it refuses, each time anew."""
        async with self._syncing:
            fingerprints = {log: log_fingerprint(log) for log in await anyio.to_thread.run_sync(self._roots.logs)}
            if not self._listed <= fingerprints.keys():
                self._begin_anew()
            self._listed = {*fingerprints}
            said, is_stale = await self._take(fingerprints, tell)
            if is_stale:
                self._begin_anew()
                said, _ = await self._take(fingerprints, tell)
            return said

    async def _take(self, fingerprints: Mapping[Path, object], tell: Tell) -> tuple[bytes, bool]:
        """Sync the logs that may have changed; tell too whether the mirror still has of one what it refuses now."""
        said, is_stale = b"", False
        for batch in _batches([log for log, now in fingerprints.items() if self._seen.get(log) != now]):
            # What is in a file now counts here: nobody looks for what was in it before.
            words = ["sync", f"--db={self._own()}", "--replace", "--", *map(str, batch)]
            ended = await self.commands.run(words, tell)
            lines = ended.out.splitlines(keepends=True)
            refused = [line for line in lines if line.startswith(b"refused")]
            is_stale = is_stale or not self._held.isdisjoint(map(_named, refused))
            self._held.update(_named(line) for line in lines if line not in refused)
            if ended.code:
                said += b"".join(refused) + ended.err
            else:
                self._seen.update((log, fingerprints[log]) for log in batch)
        return said, is_stale

    def _own(self) -> Path:
        return self._folder / f"mirror-{self._generation}.db"

    def _begin_anew(self) -> None:
        """Turn to an empty mirror, since sync keeps what is gone; the last one is left to questions under way."""
        for path in self._folder.glob(f"mirror-{self._generation - 1}.db*"):
            path.unlink(missing_ok=True)
        self._generation += 1
        self._seen.clear()
        self._held.clear()


def _named(line: bytes) -> bytes:
    """Give the log that a line of sync is about, as it is written there."""
    return line.rpartition(b" runs  ")[2]


def check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise LedgerError, naming the argument, if they do not fit the tool's schema."""
    wrong = best_match(Draft202012Validator(tool.schema()).iter_errors(dict(arguments)))
    if wrong is not None:
        where = "" if wrong.json_path == "$" else f"{wrong.json_path.removeprefix('$.')}: "
        raise LedgerError(f"{where}{wrong.message[-300:]}")
    if not _is_finite(arguments):
        raise LedgerError("a number must be finite")


def _plain(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments with 5.0 as 5: a whole number for a schema, but not for a command."""
    whole = {one.name for one in tool.inputs if one.schema["type"] == "integer"}
    return {name: int(value) if name in whole else value for name, value in arguments.items()}


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return all(map(_is_finite, parts))


def _sound(words: list[str]) -> list[str]:
    """Give the words; raise LedgerError if the system could not hand them on."""
    for word in words:
        if "\0" in word:
            raise LedgerError("an argument has a NUL in it")
        if len(os.fsencode(word)) > _MOST_BYTES:
            raise LedgerError(f"an argument is longer than {_MOST_BYTES:,} bytes")
    return words


def _batches(logs: list[Path]) -> list[list[Path]]:
    made: list[list[Path]] = []
    room = 0
    for log in logs:
        length = len(os.fsencode(log))
        if not made or length > room:
            made.append([])
            room = _BATCH_BYTES
        made[-1].append(log)
        room -= length
    return made
