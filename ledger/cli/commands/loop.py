"""`run`, `loop`, `stop`: the iterations themselves."""

import math
import sys
from collections.abc import Sequence
from typing import Any

import click

from ledger.base.paths import show_path
from ledger.cli.support import values
from ledger.cli.support.appended import run_report, session_of, tell_hook
from ledger.cli.support.live import ProgressLine
from ledger.cli.support.options import heard, stdout_text
from ledger.loop.by_hand import Appended
from ledger.loop.driving.background import OUTPUT, ask_to_stop, check_free, detach, is_urgent, last_agent, registered
from ledger.loop.iteration.attempt import Limits, Listener, attempt
from ledger.loop.iteration.journal import Wishes
from ledger.session.files import Session
from ledger.session.history import History

log_option = click.option("--log", "log", metavar="FILE", help="The log [default: the current folder's session].")
hooks_option = click.option("--no-hooks", is_flag=True, help="Do not run the hooks.")
repeat_option = click.option(
    "--repeat", type=click.IntRange(min=1), default=1, metavar="N", help="Measure N times and take the median."
)
limit_option = click.option(
    "--max-iterations", type=click.IntRange(min=0), metavar="N", help="Stop after N runs of the segment; 0: no limit."
)


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
    session, hooks = session_of(log), not no_hooks
    check_free(session)
    with ProgressLine() as line, prompt():
        listener = Listener(
            line.say,
            line.step,
            lambda history: _before(session, history, line) if hooks else None,
            lambda entry: _logged(session, entry, line, hooks=hooks),
        )
        attempt(session, wishes, Limits(max_iterations, repeat=repeat), listener)


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
    keep_equal, discard = map(_utf8, reasons)
    told = values.asi([_utf8(part) for part in asi])
    return Wishes(_utf8((description or "").strip()), told, keep_equal, discard, regress, repeat)


def _utf8(text: str) -> str:
    """Replace bytes of an argument that are no UTF-8, which no log can hold."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _before(session: Session, history: History, line: ProgressLine) -> None:
    """Fire the before-hook of an iteration and print what it says."""
    with line.away(), heard():
        tell_hook(session, history, "before")


def _finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan` and `inf`, which are numbers to Python."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of minutes or seconds")
    return value


@click.command()
@click.option("--agent", metavar="CMD", help="The command that edits the code [with --resume: the last loop's].")
@limit_option
@click.option("--minutes", type=click.FloatRange(min=0), callback=_finite, metavar="M", help="Stop after M minutes.")
@click.option(
    "--agent-timeout",
    type=click.FloatRange(min=0, min_open=True),
    callback=_finite,
    metavar="S",
    help="Kill the agent after S seconds of a turn.",
)
@click.option("--resume", is_flag=True, help="Go on with a session: its last kept commit must be in HEAD.")
@click.option(
    "--detach", "detached", is_flag=True, help="Run in the background; the output goes to a file beside the log."
)
@repeat_option
@hooks_option
@log_option
def loop(
    agent: str | None, max_iterations: int | None, minutes: float | None, agent_timeout: float | None, resume: bool,
    detached: bool, repeat: int, no_hooks: bool, log: str | None,
) -> None:  # fmt: skip
    """Let an agent edit code and measure what it did, until the verdict says otherwise.

    The agent is any command for bash. Its brief comes on stdin and in the file $LEDGER_BRIEF; it may leave
    {"description": TEXT, "asi": {…}} in $LEDGER_NOTE. The first Ctrl-C finishes the running cycle, the second stops at
    once. The last line of the output is the status. Exit status 0: the session's own end, or ledger stop; 2: a person
    has to look; 130: Ctrl-C.

    \b
    Example:
      ledger loop --agent 'my-agent < "$LEDGER_BRIEF"' --max-iterations 50
      ledger loop --resume --detach
    """
    from ledger.loop.driving.drive import LoopOptions

    session = session_of(log)
    command = agent or (last_agent(session) if resume else None)
    if command is None or not command.strip():
        raise click.UsageError("name the agent's command with --agent")
    if command != _utf8(command):
        raise click.UsageError("--agent must be UTF-8 text")
    check_free(session)
    if resume:
        _check_resume(session)
    plan = LoopOptions(command, max_iterations, minutes, agent_timeout, repeat, not no_hooks, resume)
    _detach(session, plan, log) if detached else _drive(session, plan)


def _drive(session: Session, plan: Any) -> None:
    """Be the loop."""
    from ledger.loop.driving.drive import Ears, drive
    from ledger.loop.driving.ending import Ending
    from ledger.loop.measuring.interrupt import patient

    with registered(session, plan.agent) as place, ProgressLine() as line:
        ears = Ears(line.say, line.step, lambda entry: _logged(session, entry, line, hooks=False))
        try:
            with patient(line.shout, lambda: is_urgent(session)) as wish:
                ending = drive(session, plan, place, wish, ears)
        except KeyboardInterrupt:
            ending = Ending("STOPPED", interrupted=True)
            line.say("stopped at once; what was changed is in the working tree")
    _tell_ending(session, ending.status)
    sys.exit(130 if ending.interrupted else 0)


def _tell_ending(session: Session, status: str) -> None:
    from ledger.session.history import read
    from ledger.telling.session_summary import summary

    with heard():
        click.echo(summary(read(session.log)), file=stdout_text(), nl=False)
        click.echo(f"Status: {status}", file=stdout_text())


def _logged(session: Session, entry: Appended, line: ProgressLine, *, hooks: bool) -> None:
    with line.away(), heard():
        run_report(entry, session, hooks=hooks)


def _detach(session: Session, plan: Any, log: str | None) -> None:
    options = {"--agent": plan.agent, "--max-iterations": plan.max_iterations, "--minutes": plan.minutes,
               "--agent-timeout": plan.agent_timeout, "--repeat": plan.repeat, "--log": log}  # fmt: skip
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    words += [*([] if plan.hooks else ["--no-hooks"]), *(["--resume"] if plan.resume else [])]
    click.echo(detach(session, words), file=stdout_text())
    click.echo(f"ledger: its output is in {show_path(session.side(OUTPUT))}; see ledger status, ledger stop", err=True)


def _check_resume(session: Session) -> None:
    from ledger.loop.start.resume import resume

    for said in resume(session):
        click.echo(f"ledger: {said}", err=True)


@click.command()
@click.option("--now", is_flag=True, help="Do not wait for the running cycle: undo it.")
@log_option
def stop(now: bool, log: str | None) -> None:
    """Ask the loop at work to stop after its cycle.

    The session stays open: ledger loop --resume goes on with it.

    \b
    Example:
      ledger stop
    """
    found = ask_to_stop(session_of(log), at_once=now)
    if found is None:
        click.echo("ledger: no loop is at work here", err=True)
    else:
        when = "at once" if now else "after this cycle"
        click.echo(f"the loop (process {found.pid}) stops {when}", file=stdout_text())
