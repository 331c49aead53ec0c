"""`mcp`: the commands as tools for agents, over the Model Context Protocol."""

import sys
from pathlib import Path

import click

from ledger.cli.support.output import extra_needed

LIBRARIES = ("mcp", "mcp_types", "anyio", "jsonschema")
"""What the extra brings along."""


@click.command()
@click.option(
    "--root", "folders", multiple=True, metavar="DIR", help="A folder that may be used; repeatable [default: this one]."
)
@click.option(
    "--db", metavar="PATH", help="Answer questions from this mirror, all of it [default: one of the folders' own logs]."
)
def mcp(folders: tuple[str, ...], db: str | None) -> None:
    """Offer the commands to an agent as tools of the Model Context Protocol, over standard input and output.

    The tools are status, verdict, check, brief, best, compare, query, log, decide, measure and run. Nothing outside of
    the folders is read, written or run; relative paths start at the first one. A client starts this by itself, see
    docs/mcp.md. Needs pip install 'autoresearch-ledger[mcp]'.

    \b
    Example:
      ledger mcp --root ~/project
    """
    with extra_needed("mcp", "ledger mcp", *LIBRARIES):
        from ledger.mcp.roots import roots_of
        from ledger.mcp.stdio import serve
    roots = roots_of(folders)
    if sys.stdin.isatty():
        click.echo("ledger: waiting for a client of the Model Context Protocol; Ctrl-C ends it", err=True)
    serve(roots, db if db is None or "://" in db else str(Path(db).expanduser().absolute()))
