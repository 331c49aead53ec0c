"""docs/mcp.md keeps its word: its configuration starts the server, and its tables and figures are those of the code."""

import json
import os
import re
import sys
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from ledger.mcp import commands, replies, tools
from tests.support.cli import ROOT, environment, log

PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")


def test_the_configuration_starts_it(tmp_path: Path):
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    stated = json.loads(block)["mcpServers"]["ledger"]
    script = tmp_path / "bin" / stated["command"]
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ledger "$@"\n')
    script.chmod(0o755)
    log(tmp_path / "project")
    arguments = [str(tmp_path / "project") if one == "/path/to/project" else one for one in stated["args"]]
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"

    async def ask() -> bool:
        env = environment(tmp_path, PATH=path)
        async with Client(StdioServerParameters(command=str(script), args=arguments, env=env)) as client:
            return (await client.call_tool("status", {})).is_error

    assert anyio.run(ask) is False


def test_the_table_of_tools():
    rows = re.findall(r"^\| `(\w+)` \| `ledger (\w+)` \| ([`\w ]+) \|$", PAGE, re.MULTILINE)
    stated = [(name, verb, re.findall(r"\w+", fields)) for name, verb, fields in rows]
    assert stated == [(one.name, one.command[0], [field.name for field in one.inputs]) for one in tools.TOOLS]


def test_the_figures():
    assert f"{tools.DEFAULT_ROWS} rows unless `limit` asks for up to {tools.MOST_ROWS}" in PAGE
    assert f"about {replies.MOST_CHARACTERS:,} characters" in PAGE
    assert commands._PERIOD == 2 and "every two seconds" in PAGE
