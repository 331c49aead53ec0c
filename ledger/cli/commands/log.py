"""`log`: a run, appended by hand."""

import click

from ledger.base.numbers import Number
from ledger.base.times import now_ms
from ledger.cli.support import values
from ledger.cli.support.appended import entry_report
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import dry_option, log_option
from ledger.dialects.writing import RESULT_STATUSES, RunOutcome


@click.command()
@click.option("--metric", type=values.NUMERAL, help="The primary metric's value; none is needed for a crash.")
@click.option("--status", type=click.Choice(RESULT_STATUSES), default="measured",
              help="What became of the run; the default, measured, is for state-protocol logs alone.")  # fmt: skip
@click.option("--description", type=values.TEXT, metavar="TEXT", required=True, help="What was tried.")
@click.option("--metrics", type=values.TEXT, metavar="JSON", help="Secondary metrics, such as '{\"memory_mb\":512}'.")
@click.option(
    "--asi",
    type=values.TEXT,
    multiple=True,
    metavar="JSON|KEY=VALUE",
    help="What was learned; may be given more than once.",
)
@click.option(
    "--commit", type=values.TEXT, default="", metavar="HASH", help="The run's commit [default: HEAD's for a keep]."
)
@click.option(
    "--samples", type=values.TEXT, metavar="N,N,…", help="The single measurements; --metric is their median by default."
)
@click.option("--reason", type=values.TEXT, default="", metavar="TEXT", help="Why it was decided so (state-protocol).")
@click.option("--force", is_flag=True, help="Log it although a secondary metric of the segment is missing.")
@click.option("--no-hooks", is_flag=True, help="Do not run the after-hook.")
@dry_option
@log_option
def log(
    metric: Number | None, status: str, description: str, metrics: str | None, asi: tuple[str, ...],
    commit: str, samples: str | None, reason: str, force: bool, no_hooks: bool, dry_run: bool, log: str | None,
) -> None:  # fmt: skip
    """Append a run to the log, report it in one line, and fire the after-hook.

    \b
    Example:
      ledger log --metric 14600 --status keep --description "Inline hot loop" --asi hypothesis="fewer calls"
    """
    from ledger.loop.by_hand import log_run

    session, taken = session_at_work(log), values.samples(samples)
    value = values.metric_of(metric, taken, status)
    known, notes = values.metrics(metrics), values.asi(asi)
    outcome = RunOutcome(status, value, description, values.commit(commit), known, notes, taken, reason)
    entry = log_run(session, outcome, now_ms(), force=force, dry=dry_run)
    entry_report(session, entry, dry=dry_run, hooks=not no_hooks)
