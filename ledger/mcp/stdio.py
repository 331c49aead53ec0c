"""The server: the tools and resources as the protocol has them, over stdio, until the client goes."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as ToolType

from ledger import __version__
from ledger.loop.measuring.interrupt import list_signals
from ledger.mcp.commands import Tell
from ledger.mcp.handler import Handler
from ledger.mcp.roots import Roots
from ledger.mcp.tools import BY_NAME, TOOLS, Tool
from ledger.rules import RULES, by_code
from ledger.telling.findings import explain

_ABOUT = (
    "Experiment loops whose runs stand in append-only logs. Ahead of each iteration ask verdict, and go on only while"
    " it says continue; brief tells all that is known of the session. Edit code, then call run: it commits, measures,"
    " decides, logs and reverts. Never write to a log yourself."
)
_BRIEF, _RULES = "ledger://brief", "ledger://rules"

_RESOURCES = [
    Resource(uri=_BRIEF, name="brief", description="What an agent needs to know of the session.",
             mime_type="text/markdown"),
    Resource(uri=_RULES, name="rules", description="Every code that a finding can have.", mime_type="text/plain"),
]  # fmt: skip
_TEMPLATE = ResourceTemplate(
    uri_template=f"{_RULES}/{{code}}",
    name="rule",
    description="What a code means, why it matters, and what to do.",
    mime_type="text/plain",
)

Context = ServerRequestContext[Any, Any]
Page = PaginatedRequestParams | None


def serve(roots: Roots, mirror: str | None) -> None:
    """Serve on standard input and output until the client closes them.

    An interrupt ends it as well, exit status 130, and the commands at work with it.
    """
    with tempfile.TemporaryDirectory(prefix="ledger-", ignore_cleanup_errors=True) as folder:
        anyio.run(_serve, Handler(roots, mirror, Path(folder)), folder)


async def _serve(handler: Handler, folder: str) -> None:
    server = _server(handler)
    async with anyio.create_task_group() as group:
        await group.start(_heed, handler, folder)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _heed(handler: Handler, folder: str, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Wait for a signal and end the process: standard input is read by a thread, which nothing else interrupts."""
    with anyio.open_signal_receiver(*list_signals()) as signals:
        task_status.started()
        async for _ in signals:
            await handler.commands.end()
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(130)


def _server(handler: Handler) -> Server[Any]:
    async def list_tools(context: Context, page: Page) -> ListToolsResult:
        return ListToolsResult(tools=[_shown(tool) for tool in TOOLS])

    async def call_tool(context: Context, call: CallToolRequestParams) -> CallToolResult:
        if call.name not in BY_NAME:
            raise MCPError(INVALID_PARAMS, f"there is no tool {call.name[:100]!r}")
        return await handler.call(call.name, call.arguments or {}, _progress(context))

    async def list_resources(context: Context, page: Page) -> ListResourcesResult:
        return ListResourcesResult(resources=_RESOURCES)

    async def list_templates(context: Context, page: Page) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[_TEMPLATE])

    async def read_resource(context: Context, asked: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(asked.uri)
        if uri == _BRIEF:
            told = await handler.call("brief", {}, _progress(context))
            text = "\n".join(part.text for part in told.content if isinstance(part, TextContent))
            if told.is_error:
                raise MCPError(INVALID_PARAMS, text)
            kind = "text/markdown"
        else:
            text, kind = _rules(uri), "text/plain"
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=text, mime_type=kind)])

    return Server(
        "ledger",
        version=__version__,
        instructions=_ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _shown(tool: Tool) -> ToolType:
    hints = ToolAnnotations(read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False)
    return ToolType(name=tool.name, description=tool.about, input_schema=tool.schema(), annotations=hints)


def _progress(context: Context) -> Tell:
    return lambda seconds, said: context.session.report_progress(seconds, None, said)


def _rules(uri: str) -> str:
    if uri == _RULES:
        return "".join(f"{rule.code}  {rule.severity.value:<7}  {rule.name}\n" for rule in by_code())
    code = uri.removeprefix(f"{_RULES}/").upper()
    if code not in RULES:
        raise MCPError(INVALID_PARAMS, f"no resource {uri[:200]}; there are {_BRIEF}, {_RULES} and {_RULES}/CODE")
    return explain(RULES[code])
