"""Talk to `ledger mcp` as agents do: by the protocol's own client, over the standard streams of a real process."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.support.cli import environment
from tests.support.project import IDENTITY

PATIENCE = 60


@asynccontextmanager
async def connected(
    folder: Path, *arguments: object, home: Path | None = None, mode: str = "auto"
) -> AsyncIterator[Client]:
    """Start a server in a folder, and a client of it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ledger", "mcp", *map(str, arguments)],
        env={**environment(home or folder), **IDENTITY},
        cwd=folder,
    )
    async with Client(server, mode=mode) as client:
        yield client


def talk(
    conversation: Callable[[Client], Awaitable[Any]], folder: Path, *arguments: object, home: Path | None = None,
    mode: str = "auto",
) -> Any:  # fmt: skip
    """Hold a conversation with a server of its own, and give what it returns; one that takes too long fails."""

    async def held() -> Any:
        with anyio.fail_after(PATIENCE):
            async with connected(folder, *arguments, home=home, mode=mode) as client:
                return await conversation(client)

    return anyio.run(held)


def call(
    folder: Path, tool: str, arguments: dict[str, Any], *options: object, home: Path | None = None
) -> CallToolResult:
    """Call one tool of a server of its own."""
    result: CallToolResult = talk(lambda client: client.call_tool(tool, arguments), folder, *options, home=home)
    return result


def text(result: CallToolResult) -> str:
    """Give all that a result says."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def refused(result: CallToolResult) -> str:
    """Give the sentence of a refusal, which has nothing structured beside it."""
    assert result.is_error and result.structured_content is None, result
    return text(result)


async def each(client: Client, *asked: tuple[str, dict[str, Any]]) -> list[Any]:
    """Call tools one after the other."""
    return [await client.call_tool(tool, arguments) for tool, arguments in asked]
