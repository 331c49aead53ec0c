"""Measuring: the benchmark and checks of a session, run within their time, and what they came to (protocols.md 7)."""

import signal
from collections.abc import Mapping, Sequence
from decimal import Context
from functools import cmp_to_key
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.numbers import Number, compare, decimal, number, text
from ledger.base.paths import show_path
from ledger.base.text import near
from ledger.loop.measuring.metric_lines import Metrics
from ledger.loop.measuring.output import Output
from ledger.loop.measuring.printed_number import Answer
from ledger.loop.measuring.processes import Finished, run
from ledger.session.files import CHECKS_OUTPUT, OUTPUT, Session

_EXACT = Context(prec=2_000)  # the mean of two decimals, without rounding


class Measurement(NamedTuple):
    """Hold what a benchmark came to.

    `metric` is the primary one, None where it failed or none was asked for; `metrics` the others in the order they
    came; `samples` the primary's values where it was repeated. `failure` is empty on success, else it completes "the
    measurement …"; then `tail` has the last output. `seconds` is all the time it took.
    """

    metric: Number | None = None
    metrics: Mapping[str, Number] = {}
    samples: tuple[Number, ...] = ()
    failure: str = ""
    tail: str = ""
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


class Checked(NamedTuple):
    """Hold what the checks came to: `status` is `pass`, `fail`, or `none` where there are none; the rest likewise."""

    status: str
    failure: str = ""
    tail: str = ""
    seconds: float = 0.0


NO_CHECKS = Checked("none")


def measure(
    session: Session,
    primary: str | None,
    *,
    command: Sequence[str] | None = None,
    repeat: int = 1,
    timeout: float | None = None,
) -> Measurement:
    """Run the measure script, or a command, in the session's folder, its output going to run.log there.

    `timeout` is in seconds, for each of the `repeat` ≥ 1 runs; None: as the settings say. Raises LedgerError if the
    output cannot be written.
    """
    if command is None:
        script = session.file("measure")
        if not script.is_file():
            return Measurement(failure=f"cannot run without its script {near(show_path(script))}")
        command = ("bash", str(script))
    limit = session.settings.benchmark_timeout if timeout is None else timeout
    return measure_in(session.workdir, command, primary, session.workdir / OUTPUT, repeat=repeat, timeout=limit)


def measure_in(
    folder: Path,
    command: Sequence[str],
    primary: str | None,
    output: Path | None,
    *,
    repeat: int = 1,
    timeout: float | None = None,
) -> Measurement:
    """Run a command, take its METRIC lines from both streams, and of several runs the median of each metric.

    The first run that fails is the last. Without a `primary` any METRIC line is a success. `output` is where the output
    is kept (None: nowhere), `timeout` in seconds (None: no limit).
    """
    done: list[Measurement] = []
    while len(done) < repeat:
        done.append(_once(folder, command, primary, output, timeout, more=bool(done)))
        if done[-1].failure:
            break
    seconds = sum(one.seconds for one in done)
    warnings = dict.fromkeys(warning for one in done for warning in one.warnings)
    if done[-1].failure or repeat == 1:
        return done[-1]._replace(seconds=seconds, warnings=tuple(warnings))
    samples = tuple(one.metric for one in done if one.metric is not None)
    names = dict.fromkeys(name for one in done for name in one.metrics)
    values = {name: [one.metrics[name] for one in done if name in one.metrics] for name in names}
    for name, some in values.items():
        if len(some) < repeat:
            warnings[f"METRIC {name} came in {len(some)} of {repeat} runs"] = None
    medians = {name: median(some) for name, some in values.items()}
    metric = median(samples) if samples else None
    return Measurement(metric, medians, samples, seconds=seconds, warnings=tuple(warnings))


def _once(
    folder: Path, command: Sequence[str], primary: str | None, output: Path | None, timeout: float | None, *, more: bool
) -> Measurement:
    read = Metrics()
    with Output(output, more=more) as kept:

        def take(_: str, chunk: bytes) -> None:
            kept.write(chunk)
            read.feed(chunk)

        ended = run(command, folder, timeout, take, merged=True)
    read.close()
    failure = _failure(ended, timeout)
    if not failure and (primary not in read.found if primary is not None else not read.found):
        failure = f"printed no METRIC {primary or 'line'}"
    if failure:
        return Measurement(failure=failure, tail=kept.tail, seconds=ended.seconds, warnings=read.warnings)
    metric = None if primary is None else read.found.pop(primary)
    return Measurement(metric, read.found, seconds=ended.seconds, warnings=read.warnings)


def median(values: Sequence[Number]) -> Number:
    """Give the exact median of a non-empty sequence: of an even number of values, the mean of the middle two."""
    ordered = sorted(values, key=cmp_to_key(compare))
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if compare(low, high) == 0:
        return low
    return number(str(_EXACT.divide(_EXACT.add(decimal(low), decimal(high)), 2)))


def check(session: Session, *, timeout: float | None = None) -> Checked:
    """Run the checks script, if there is one, in the session's folder; its output is beside the log, checks.log.

    `timeout` is in seconds; None: as the settings say.
    """
    script = session.file("checks")
    if not script.exists():
        return NO_CHECKS
    limit = session.settings.checks_timeout if timeout is None else timeout
    with Output(session.side(CHECKS_OUTPUT)) as kept:
        return _checked(("bash", str(script)), session.workdir, limit, kept)


def verify(session: Session, config: Mapping[str, Any], output: Path) -> Measurement:
    """Run the metric command of a configuration; `output` keeps all that it prints, stdout and stderr.

    The last line of stdout that is not blank is the number, or the JSON object that has it.
    """
    answer, limit, value = Answer(), float(config["timeout_seconds"]), None
    with Output(output, whole=True) as kept:

        def take(stream: str, chunk: bytes) -> None:
            kept.write(chunk)
            if stream == "out":
                answer.feed(chunk)

        ended = run(("bash", "-c", config["metric"]["command"]), session.workdir, limit, take)
    failure = _failure(ended, limit)
    if not failure:
        try:
            value = answer.value(config["metric"]["json_key"])
        except ValueError as error:
            failure = str(error)
    return Measurement(value, failure=failure, tail=kept.tail if failure else "", seconds=ended.seconds)


def guard(session: Session, config: Mapping[str, Any], output: Path) -> Checked:
    """Run the guard command of a configuration, if it has one; `output` keeps all that it prints."""
    if config["guard"] is None:
        return NO_CHECKS
    with Output(output, whole=True) as kept:
        return _checked(("bash", "-c", config["guard"]), session.workdir, float(config["timeout_seconds"]), kept)


def _checked(command: Sequence[str], folder: Path, timeout: float, kept: Output) -> Checked:
    ended = run(command, folder, timeout, lambda _, chunk: kept.write(chunk), merged=True)
    failure = _failure(ended, timeout)
    return Checked("fail" if failure else "pass", failure, kept.tail if failure else "", ended.seconds)


def _failure(ended: Finished, timeout: float | None) -> str:
    """Say how a program failed; nothing if it did not."""
    if ended.problem:
        return ended.problem
    if ended.timed_out:
        return f"timed out after {text(timeout or 0)} s"
    code = ended.code or 0
    if code - 128 in signal.valid_signals():  # a shell says so of what it ran, too
        return f"killed by signal {code - 128}"
    return f"exited with status {code}" if code else ""
