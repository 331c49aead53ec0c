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

from ledger.errors import LedgerError
from ledger.mcp.answer import answer, refusal
from ledger.mcp.child import Commands, Ended, Tell
from ledger.mcp.roots import Roots
from ledger.mcp.tools import BY_NAME, DEFAULT_ROWS, LOG, Tool
from ledger.serve.stamp import log_stamp
from ledger.source import show_path
from ledger.terminal import cut

_MOST_BYTES = 100_000
"""Of one word of a command; Linux takes some more."""
_BATCH_BYTES = 60_000
"""Of the paths in one call of sync."""
_SHOWN = 200
"""Characters of a path in a refusal."""


class Desk:
    """Answer calls within the roots.

    Questions go to `mirror`, or without one to a mirror of the roots' own logs in `folder`, kept up to date.
    """

    def __init__(self, roots: Roots, mirror: str | None, folder: Path) -> None:
        self.commands = Commands(roots.first)
        self._roots, self._mirror = roots, mirror
        self._own = folder / "mirror.db"
        self._seen: dict[Path, object] = {}
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
            return refusal(f"{(error.strerror or str(error)).lower()}{named}")

    async def _do(self, tool: Tool, arguments: Mapping[str, Any], tell: Tell) -> CallToolResult:
        log = await anyio.to_thread.run_sync(self._roots.admit, arguments.get(LOG.name))
        return answer(tool.gives, await self.commands.run(_sound(tool.words(arguments, log, None)), tell))

    async def _ask(self, tool: Tool, arguments: Mapping[str, Any], tell: Tell) -> CallToolResult:
        words = _sound(tool.words(arguments, None, self._mirror or str(self._own)))
        notes = b"" if self._mirror else await self._sync(tell)
        rows = arguments.get("limit", DEFAULT_ROWS)
        if not self._mirror and not self._own.exists():
            return answer("rows", Ended(0, b"", b"there is no log in the named folders"), rows)
        ended = await self.commands.run(words, tell, rows + 1)
        return answer("rows", ended._replace(err=notes + ended.err), rows)

    async def _sync(self, tell: Tell) -> bytes:
        """Bring the own mirror up to date; give what sync says of the logs that it refuses, each time anew."""
        async with self._syncing:
            said = b""
            stamps = {log: log_stamp(log) for log in await anyio.to_thread.run_sync(self._roots.logs)}
            for batch in _batches([log for log, now in stamps.items() if self._seen.get(log) != now]):
                # What is in a file now counts here: nobody looks for what was in it before.
                words = ["sync", f"--db={self._own}", "--replace", "--", *map(str, batch)]
                ended = await self.commands.run(words, tell)
                if ended.code:
                    refused = [line for line in ended.out.splitlines(keepends=True) if line.startswith(b"refused")]
                    said += b"".join(refused) + ended.err
                else:
                    self._seen.update((log, stamps[log]) for log in batch)
            return said


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
    whole = {field.name for field in tool.fields if field.schema["type"] == "integer"}
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
