"""`log`, `decide`, `mark`, `cancel`: what goes into a log by hand."""

import click

from ledger.base.numbers import Number
from ledger.base.times import now_ms
from ledger.cli.support import values
from ledger.cli.support.appended import entry_report, session_of
from ledger.cli.support.options import stdout_text
from ledger.dialects.writing import RESULT_STATUSES, RunOutcome

log_option = click.option("--log", "log", metavar="FILE", help="The log [default: the current folder's session].")
dry_option = click.option("--dry-run", is_flag=True, help="Check and show everything, write nothing anywhere.")
hooks_option = click.option("--no-hooks", is_flag=True, help="Do not run the after-hook.")


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
@hooks_option
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

    session, taken = session_of(log), values.samples(samples)
    value = values.metric_of(metric, taken, status)
    known, notes = values.metrics(metrics), values.asi(asi)
    outcome = RunOutcome(status, value, description, values.commit(commit), known, notes, taken, reason)
    entry = log_run(session, outcome, now_ms(), force=force, dry=dry_run)
    entry_report(session, entry, dry=dry_run, hooks=not no_hooks)


@click.command()
@click.argument("run", type=click.IntRange(min=1))
@click.argument("action", type=click.Choice(("keep", "discard", "baseline", "stop")))
@click.option("--reason", type=values.TEXT, required=True, metavar="TEXT", help="Why.")
@dry_option
@log_option
def decide(run: int, action: str, reason: str, dry_run: bool, log: str | None) -> None:
    """Append a decision about a result of a state-protocol log.

    \b
    Example:
      ledger decide 2 keep --reason "median improved 8 % and the tests passed"
    """
    from ledger.loop.by_hand import decide as append

    session = session_of(log)
    entry_report(session, append(session, run, action, reason, now_ms(), dry=dry_run), dry=dry_run, hooks=False)


@click.command()
@click.argument("state", metavar="STATE")
@click.option("--backstop-ack", type=click.IntRange(min=0), metavar="N", help="With running: go on past N runs.")
@click.option("--reason", type=values.TEXT, metavar="TEXT", help="Why; a codex history asks for it.")
@click.option("--restart", is_flag=True, help="With running: go on with a concluded session.")
@dry_option
@log_option
def mark(
    state: str, backstop_ack: int | None, reason: str | None, restart: bool, dry_run: bool, log: str | None
) -> None:
    """Append a marker: running, done, cancelled, wall or blocked; codex: blocked, stopped or resumed.

    \b
    Example:
      ledger mark blocked --reason "the licence server is down"
      ledger mark running --restart
    """
    from ledger.loop.by_hand import mark as append
    from ledger.loop.driving.under_way import check_no_run

    session = session_of(log)
    if not dry_run:
        check_no_run(session)
    entry = append(session, state, now_ms(), ack=backstop_ack, reason=reason, restart=restart, dry=dry_run)
    entry_report(session, entry, dry=dry_run, hooks=False)


@click.command()
@dry_option
@log_option
def cancel(dry_run: bool, log: str | None) -> None:
    """End the session: print what came of it and mark it cancelled; nothing is deleted or reverted.

    A live loop finishes its cycle first.

    \b
    Example:
      ledger cancel
    """
    from ledger.loop.by_hand import cancel as append
    from ledger.loop.driving.under_way import stop_and_finish
    from ledger.telling.session_summary import summary

    session = session_of(log)
    if not dry_run:
        stop_and_finish(session, lambda said: click.echo(f"ledger: {said}", err=True))
    entry = append(session, now_ms(), dry=dry_run)
    click.echo(summary(entry.history), file=stdout_text(), nl=False)
    entry_report(session, entry, dry=dry_run, hooks=False)
