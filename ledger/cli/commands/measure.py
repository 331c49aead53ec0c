"""`measure`: run the benchmark of a session, or any command, or only read what one printed."""

import math
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number
from ledger.base.text import plain
from ledger.cli.support.log_argument import session_of
from ledger.cli.support.options import format_option
from ledger.cli.support.output import heard, shown, stdout_text
from ledger.dialects import policy_of
from ledger.log.jsontext import dump
from ledger.log.source import run_json_of
from ledger.loop.measuring import measurement as measuring
from ledger.loop.measuring.last_measurement import remember
from ledger.loop.measuring.measurement import Checked, Measurement
from ledger.loop.measuring.metric_lines import Metrics
from ledger.session.files import CHECKS_OUTPUT, OUTPUT, Session, log_here, of_log
from ledger.session.history import read
from ledger.session.settings import find


def _seconds(text: str) -> float:
    """Read a positive, finite number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise click.BadParameter(f"{text!r} is no positive number of seconds")
    return seconds


class _Done(NamedTuple):
    """Hold what was measured: the primary metric's name goes with it, and where each output is."""

    name: str
    taken: Measurement
    output: Path | None = None
    checked: Checked | None = None
    checks_output: Path | None = None


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, metavar="[-- CMD...]")
@click.option("--log", metavar="FILE", help="The session's log [default: that of the current folder].")
@click.option("--repeat", type=click.IntRange(min=1), default=1, metavar="N", help="Run N times, take the medians.")
@click.option("--timeout", type=_seconds, metavar="S", help="Seconds for each run [default: the settings', else 600].")
@click.option("--checks", is_flag=True, help="Run the checks as well, if the measurement succeeds.")
@click.option(
    "--parse",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="Run nothing: read METRIC lines, or NAME's, from stdin.",
)
@format_option("text", "json", default="text")
def measure(
    command: tuple[str, ...], log: str | None, repeat: int, timeout: float | None, checks: bool, parse: str | None,
    format_name: str,
) -> None:  # fmt: skip
    """Run the session's measure script, or CMD in its place, and print the metrics.

    The metrics are printed as METRIC lines, the primary one first; whatever else there is to say goes to stderr. The
    exit status is 1 if the measurement or the checks fail. In a codex session the metric command of run.json is run,
    and its guard with --checks. Outside a session CMD is required.

    \b
    Example:
      ledger measure --repeat 5 --checks
      ledger measure -- python bench.py --quick
      ledger measure --parse total_ms < bench-output.txt
    """
    if parse is not None:
        if command or log or checks:
            raise click.UsageError("--parse reads standard input: it takes no command, no log and no checks")
        sys.exit(_parse(parse, format_name))
    session = _session(log, bool(command))
    if session is None and checks:
        raise LedgerError("there are no checks outside a session: run ledger init, or name a log with --log FILE")
    done = _take(session, command, repeat, timeout, checks)
    _print(done, format_name)
    _tell(done)
    if session is not None:
        remember(session, done.taken, done.checked)
    sys.exit(1 if done.taken.failure or (done.checked is not None and done.checked.status == "fail") else 0)


def _session(log: str | None, has_command: bool) -> Session | None:
    """Find the session; a command needs none."""
    if log is not None:
        session = session_of(log)
        if session is None:
            raise click.UsageError("--log takes a file, not standard input")
        return session
    folder = Path.cwd()
    settings = find(folder)
    try:
        return of_log(log_here(folder, settings), settings, folder)
    except LedgerError:
        if has_command:
            return None
        raise


def _take(session: Session | None, command: tuple[str, ...], repeat: int, timeout: float | None, checks: bool) -> _Done:
    """Measure, and run the checks if they are asked for."""
    if session is None:
        limit = find(Path.cwd()).benchmark_timeout if timeout is None else timeout
        return _Done("", measuring.measure_in(Path.cwd(), command, None, None, repeat=repeat, timeout=limit))
    state = read(session.log).state
    name = state.current().metric_name or ""
    policy = policy_of(state)
    if policy.commands_in_config:
        if repeat > 1 and not policy.repeats:
            raise click.UsageError(f"--repeat is not for a {policy.name} session: its metric command measures once")
        return _take_configured(session, name, state.replay.config, command, timeout, checks)
    taken = measuring.measure(session, name or None, command=command or None, repeat=repeat, timeout=timeout)
    checked = measuring.check(session) if checks and not taken.failure else None
    return _Done(name, taken, session.workdir / OUTPUT, checked, session.side(CHECKS_OUTPUT))


def _take_configured(
    session: Session, name: str, config: Any, command: tuple[str, ...], timeout: float | None, checks: bool
) -> _Done:
    if config is None:
        raise LedgerError(f"cannot measure without a sound {shown(run_json_of(session.log))}: run ledger check")
    if command:
        config = {**config, "metric": {**config["metric"], "command": shlex.join(command)}}
    if timeout is not None:
        config = {**config, "timeout_seconds": timeout}
    logs = session.log.parent / "logs"
    output, checks_output = logs / "measure.verify.log", logs / "measure.guard.log"
    taken = measuring.verify(session, config, output)
    checked = measuring.guard(session, config, checks_output) if checks and not taken.failure else None
    return _Done(name, taken, output, checked, checks_output)


def _print(done: _Done, format_name: str) -> None:
    """Print the metrics."""
    taken = done.taken
    metrics = taken.metrics if taken.metric is None else {done.name: taken.metric, **taken.metrics}
    said = {
        "metric": taken.metric,
        "metrics": taken.metrics,
        "samples": list(taken.samples),
        "failure": taken.failure or None,
        "seconds": round(taken.seconds, 3),
        "checks": done.checked.status if done.checked is not None else None,
        "warnings": list(taken.warnings),
    }
    with heard():
        click.echo(dump(said) + "\n" if format_name == "json" else _lines(metrics), file=stdout_text(), nl=False)


def _lines(metrics: Mapping[str, Number]) -> str:
    return "".join(f"METRIC {plain(name)}={dump(value)}\n" for name, value in metrics.items())


def _tell(done: _Done) -> None:
    """Say on stderr how it went, and where all the output is."""
    _warn(done.taken.warnings)
    if done.taken.samples:
        click.echo(f"ledger: samples: {', '.join(map(dump, done.taken.samples))}", err=True)
    _outcome("measurement", done.taken, done.output)
    if done.checked is not None and done.checked.status == "none":
        click.echo("ledger: there are no checks", err=True)
    elif done.checked is not None:
        _outcome("checks", done.checked, done.checks_output)


def _outcome(what: str, ended: Measurement | Checked, output: Path | None) -> None:
    where = f"; output in {shown(output)}" if output is not None and output.exists() else ""
    went = f"{what} failed: {plain(ended.failure)}" if ended.failure else f"{what} done in {ended.seconds:.1f} s"
    click.echo(f"ledger: {went}{where}" + (f"\n{ended.tail}" if ended.tail else ""), err=True)


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        click.echo(f"ledger: warning: {warning}", err=True)


def _parse(name: str, format_name: str) -> int:
    """Print the METRIC lines of standard input, or only one metric's value."""
    found = Metrics()
    while chunk := os.read(sys.stdin.fileno(), 1 << 16):
        found.feed(chunk)
    found.close()
    _warn(found.warnings)
    if name not in found.found if name else not found.found:
        click.echo(f"ledger: there is no METRIC {plain(name) or 'line'} on standard input", err=True)
        return 1
    if format_name == "json":
        text = dump(found.found[name] if name else found.found) + "\n"
    else:
        text = f"{dump(found.found[name])}\n" if name else _lines(found.found)
    with heard():
        click.echo(text, file=stdout_text(), nl=False)
    return 0
