"""`init`: a session, or a new segment of one, started."""

from pathlib import Path
from typing import Any

import click

from ledger.base.text import plain
from ledger.base.times import now_ms
from ledger.cli.support import values
from ledger.cli.support.options import DIALECTS, dry_option
from ledger.cli.support.output import shown


@click.command()
@click.argument("name")
@click.option("--metric", required=True, metavar="NAME", help="The primary metric, as METRIC lines name it.")
@click.option("--direction", required=True, type=click.Choice(("lower", "higher")), help="Which way is better.")
@click.option("--unit", metavar="UNIT", help="The metric's unit [default: by the metric's name, such as ms for t_ms].")
@click.option(
    "--dialect", type=click.Choice(DIALECTS), default="autoresearch", show_default=True, help="The log's protocol."
)
@click.option("--layout", type=click.Choice(("auto", "flat")), default="auto", show_default=True,
              help="In .auto/, or as autoresearch.* files; codex has autoresearch-results/.")  # fmt: skip
@click.option("--target", type=values.NUMERAL, metavar="NUMBER", help="The value to reach; codex stops there.")
@click.option("--guard", metavar="CMD", help="A command that must succeed for a run to be kept.")
@click.option("--scope", multiple=True, metavar="PATH", help="A file or folder that may be changed; repeatable.")
@click.option("--off-limits", multiple=True, metavar="PATH", help="A path that must never be changed; repeatable.")
@click.option("--command", metavar="CMD", help="The command that measures.")
@click.option("--json-key", metavar="KEY", help="codex: where the metric is in the JSON that the command prints.")
@click.option("--secondary", multiple=True, metavar="NAME", help="A secondary metric to watch; repeatable.")
@click.option("--constraint", multiple=True, metavar="TEXT", help="What else must hold; repeatable.")
@click.option("--max-iterations", type=click.IntRange(min=0), metavar="N", help="Stop after N runs; 0: no limit.")
@click.option("--max-minutes", type=values.NUMERAL, metavar="M", help="Stop after M minutes (state-protocol).")
@click.option("--min-effect", type=values.NUMERAL, metavar="PCT", help="Keep no smaller improvement (state-protocol).")
@click.option(
    "--noise-floor", type=values.NUMERAL, metavar="PCT", help="Take a smaller difference for noise (state-protocol)."
)
@click.option("--git", is_flag=True, help="Branch off, ignore the session's files, commit the measuring scripts.")
@click.option("--log", metavar="FILE", help="The log, if it is to be somewhere else.")
@dry_option
def init(layout: str, git: bool, log: str | None, dry_run: bool, **about: Any) -> None:
    """Start a session: its log, prompt and scripts. If there is one, start a new segment of it.

    Files that are there already are kept. What the protocol has no place for goes into the prompt file, for the agent
    to heed. Paths of new files go to stdout, what to do next to stderr.

    \b
    Example:
      ledger init speed --metric total_ms --direction lower --command ./bench.sh --scope src --git
    """
    from ledger.dialects.writing import SessionPlan
    from ledger.loop.start.init import begin

    path = Path(log) if log is not None else None
    made = begin(SessionPlan(**about), Path.cwd(), now_ms(), layout=layout, log=path, git=git, dry=dry_run)
    for new in made.paths:
        click.echo(shown(new))
    for note in [*made.notes, *(["nothing was written (--dry-run)"] if dry_run else [])]:
        click.echo(f"ledger: {plain(note)}", err=True)
