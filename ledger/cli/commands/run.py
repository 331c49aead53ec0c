"""`run`: one iteration."""

from collections.abc import Sequence

import click

from ledger.cli.support import values
from ledger.cli.support.appended import run_report, tell_hook
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import hooks_option, limit_option, log_option, repeat_option
from ledger.cli.support.output import heard
from ledger.cli.support.progress import ProgressLine
from ledger.cli.support.values import utf8
from ledger.loop.by_hand import Appended
from ledger.loop.driving.background import check_free
from ledger.loop.iteration.attempt import Limits, Listener, attempt
from ledger.loop.iteration.journal import Wishes
from ledger.loop.project import Project, open_project


@click.command()
@click.option("--description", metavar="TEXT", help="What was tried; the commit and the log say it.")
@click.option("--baseline", is_flag=True, help="Measure the unchanged tree as the segment's first run.")
@click.option("--asi", multiple=True, metavar="JSON|KEY=VALUE", help="What was learned; may be given more than once.")
@click.option(
    "--keep-equal", default="", metavar="REASON", help="Keep the run if the metric is equal, as for simpler code."
)
@click.option("--discard", default="", metavar="REASON", help="Discard the run whatever the metric.")
@click.option(
    "--max-regress",
    multiple=True,
    metavar="NAME=PCT",
    help="Discard the run if the secondary metric NAME rises by more than PCT %.",
)
@repeat_option
@limit_option
@hooks_option
@log_option
def run(
    description: str | None, baseline: bool, asi: tuple[str, ...], keep_equal: str, discard: str,
    max_regress: tuple[str, ...], repeat: int, max_iterations: int | None, no_hooks: bool, log: str | None,
) -> None:  # fmt: skip
    """Do one iteration on the working tree: commit, measure, check, decide, log, revert what is not kept.

    An iteration that was killed is finished or undone first. The exit status is 0 whatever the run came to, and 2 if it
    could not be done. A negative PCT bounds the fall of a metric of which more is better.

    \b
    Example:
      ledger run --baseline
      ledger run --description "Inline hot loop" --asi hypothesis="fewer calls" --max-regress memory_mb=50
    """
    from ledger.loop.measuring.interrupt import prompt

    wishes = _wishes(description, baseline, asi, (keep_equal, discard), max_regress, repeat)
    session, hooks = session_at_work(log), not no_hooks
    check_free(session)
    with open_project(session) as project, ProgressLine() as line, prompt():
        listener = Listener(
            line.say,
            line.step,
            lambda entry: _logged(project, entry, line, hooks=hooks),
            lambda: _before(project, line) if hooks else None,
        )
        attempt(project, wishes, Limits(max_iterations, repeat=repeat), listener)


def _wishes(
    description: str | None, baseline: bool, asi: Sequence[str], reasons: tuple[str, str], max_regress: Sequence[str],
    repeat: int,
) -> Wishes | None:  # fmt: skip
    if baseline and (description or asi or any(reasons) or max_regress):
        raise click.UsageError("--baseline measures the unchanged tree: it takes no other word on the run")
    if not baseline and not (description or "").strip():
        raise click.UsageError("say what was tried with --description, or measure the unchanged tree with --baseline")
    if baseline:
        return None
    regress = values.pairs(max_regress, "--max-regress")
    keep_equal, discard = map(utf8, reasons)
    told = values.asi([utf8(part) for part in asi])
    return Wishes(utf8((description or "").strip()), told, keep_equal, discard, regress, repeat)


def _before(project: Project, line: ProgressLine) -> None:
    """Fire the before-hook of an iteration and print what it says."""
    with line.away(), heard():
        tell_hook(project.session, project.history, "before")
    project.ran("before")


def _logged(project: Project, entry: Appended, line: ProgressLine, *, hooks: bool) -> None:
    """Print what an iteration logged, and fire its after-hook."""
    run_report(entry, project.session, line, hooks=hooks)
    if hooks:
        project.ran("after")
