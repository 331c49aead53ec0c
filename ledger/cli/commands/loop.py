"""`loop`: iterations by an agent."""

import math
import sys
from typing import Any

import click

from ledger.base.paths import show_path
from ledger.cli.support.appended import run_report
from ledger.cli.support.log_argument import session_at_work
from ledger.cli.support.options import hooks_option, limit_option, log_option, repeat_option
from ledger.cli.support.output import heard, stdout_text
from ledger.cli.support.progress import ProgressLine
from ledger.cli.support.values import utf8
from ledger.loop.driving.background import check_free, detach, is_urgent, last_agent, registered
from ledger.loop.project import open_project
from ledger.session.files import LOOP_OUTPUT, Session


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

    session = session_at_work(log)
    command = agent or (last_agent(session) if resume else None)
    if command is None or not command.strip():
        raise click.UsageError("name the agent's command with --agent")
    if command != utf8(command):
        raise click.UsageError("--agent must be UTF-8 text")
    check_free(session)
    if resume:
        _check_resume(session)
    plan = LoopOptions(command, max_iterations, minutes, agent_timeout, repeat, not no_hooks, resume)
    _detach(session, plan, log) if detached else _drive(session, plan)


def _drive(session: Session, plan: Any) -> None:
    """Be the loop."""
    from ledger.loop.driving.drive import drive
    from ledger.loop.driving.ending import Ending
    from ledger.loop.iteration.attempt import Listener
    from ledger.loop.measuring.interrupt import patient
    from ledger.telling.run_table import summary

    with open_project(session) as project:
        with registered(session, plan.agent) as place, ProgressLine() as line:
            listener = Listener(line.say, line.step, lambda entry: run_report(entry, session, line, hooks=False))
            try:
                with patient(line.shout, lambda: is_urgent(session)) as wish:
                    ending = drive(project, plan, place, wish, listener)
            except KeyboardInterrupt:
                ending = Ending("STOPPED", interrupted=True)
                line.say("stopped at once; what was changed is in the working tree")
        with heard():
            click.echo(summary(project.history.renew()), file=stdout_text(), nl=False)
            click.echo(f"Status: {ending.status}", file=stdout_text())
    sys.exit(130 if ending.interrupted else 0)


def _detach(session: Session, plan: Any, log: str | None) -> None:
    options = {"--agent": plan.agent, "--max-iterations": plan.max_iterations, "--minutes": plan.minutes,
               "--agent-timeout": plan.agent_timeout, "--repeat": plan.repeat, "--log": log}  # fmt: skip
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    words += [*([] if plan.hooks else ["--no-hooks"]), *(["--resume"] if plan.resume else [])]
    click.echo(detach(session, words), file=stdout_text())
    output = show_path(session.side(LOOP_OUTPUT))
    click.echo(f"ledger: its output is in {output}; see ledger status, ledger stop", err=True)


def _check_resume(session: Session) -> None:
    from ledger.loop.start.resume import resume

    for said in resume(session):
        click.echo(f"ledger: {said}", err=True)
