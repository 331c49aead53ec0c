"""What options of the writing verbs take: exact numbers, JSON objects, annotations."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ledger.base.numbers import Number, is_number, number
from ledger.dialects.base import FORBIDDEN_NAMES
from ledger.log.jsontext import decode


class Numeral(click.ParamType[Number]):
    """A finite decimal number, kept exactly."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Number:
        """Read the number."""
        if is_number(value):
            return value  # type: ignore[no-any-return]  # a default
        try:
            return numeral(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


NUMERAL = Numeral()


class Utf8(click.ParamType[str]):
    """A text that a log can hold: an argument may be any bytes."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what is no UTF-8."""
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("it is no UTF-8 text", param, ctx)
        return str(value)


TEXT = Utf8()


def numeral(text: str) -> Number:
    """Read a finite decimal: whole ones as integers, others exactly. Raises ValueError for anything else."""
    try:
        return number(text.strip())
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None


def json_object(text: str, option: str) -> dict[str, Any]:
    """Read a JSON object strictly, as a log's line is read."""
    read = decode(text.encode("utf-8", "surrogateescape"))
    wrong = [note for note in read.notes if note.kind not in ("nul", "bigint")]
    if not isinstance(read.value, dict) or wrong:
        why = f" ({wrong[0].kind}: {wrong[0].detail})" if wrong else ""
        raise click.UsageError(f"{option} takes a JSON object, not {text!r}{why}")
    return read.value


def metrics(text: str | None) -> dict[str, Any]:
    """Read `--metrics`: secondary metrics, each a number."""
    found = json_object(text, "--metrics") if text else {}
    for name, value in found.items():
        if not is_number(value):
            raise click.UsageError(f"--metrics: {name!r} must be a number, not {value!r}")
        if name in FORBIDDEN_NAMES:
            raise click.UsageError(f"--metrics: {name!r} cannot be the name of a metric")
    return found


def asi(parts: Sequence[str]) -> dict[str, Any]:
    """Read `--asi`: JSON objects and key=value pairs, the later one winning."""
    made: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if part.lstrip().startswith("{"):
            made |= json_object(part, "--asi")
        elif equals and key.strip():
            made[key.strip()] = value
        else:
            raise click.UsageError(f"--asi takes a JSON object or key=value, not {part!r}")
    return made


def samples(text: str | None) -> tuple[Number, ...]:
    """Read `--samples`: numbers with commas or blanks between them, in brackets or not."""
    if text is None:
        return ()
    parts = [part for part in re.split(r"[\s,]+", text.strip().removeprefix("[").removesuffix("]")) if part]
    try:
        return tuple(map(numeral, parts))
    except ValueError as error:
        raise click.UsageError(f"--samples: {error}") from None


def metric_of(metric: Number | None, taken: Sequence[Number], status: str) -> Number:
    """Give a run's metric: the stated one, the samples' median, 0 for a crash."""
    if metric is None and status == "crash":
        return 0
    if metric is None and taken:
        from ledger.loop.measuring.measurement import median

        return median(taken)
    if metric is None:
        raise click.UsageError("give the metric with --metric")
    return metric


def commit(text: str) -> str:
    """Read `--commit`: empty, or 7 to 40 hex digits."""
    if text and not re.fullmatch(r"[0-9a-f]{7,40}", text.lower()):
        raise click.UsageError(f"--commit takes at least 7 hex digits of a commit's hash, not {text!r}")
    return text.lower()


def pairs(parts: Sequence[str], option: str) -> Mapping[str, Number]:
    """Read NAME=NUMBER options."""
    made = {}
    for part in parts:
        name, equals, value = part.rpartition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} takes NAME=PCT, not {part!r}")
        try:
            made[name] = numeral(value)
        except ValueError as error:
            raise click.UsageError(f"{option}: {error}") from None
    return made


def utf8(text: str) -> str:
    """Replace bytes of an argument that are no UTF-8, which no log can hold."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
