"""The plan of a session, as `init` was told it: checked before anything is written (protocols.md 2-4, 7)."""

import re
from collections.abc import Sequence
from unicodedata import normalize

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, text
from ledger.base.text import plain
from ledger.dialects import DIALECTS, by_name
from ledger.dialects.base import FORBIDDEN_NAMES
from ledger.dialects.policy import Policy
from ledger.dialects.writing import SessionPlan

_METRIC = re.compile(r"[\w.µ]+")  # what a METRIC line can name
_GLOB = re.compile(r"[*?\[\]]")
_NOT_RELATIVE = re.compile(r"[/\\~]|[A-Za-z]:")
_UNITS = {
    "ms": "ms", "us": "µs", "µs": "µs", "ns": "ns", "s": "s", "sec": "s", "secs": "s", "seconds": "s",
    "kb": "kb", "mb": "mb", "gb": "gb", "bytes": "bytes", "pct": "%", "percent": "%",
}  # fmt: skip
_SLUG = 40


def checked(plan: SessionPlan) -> SessionPlan:
    """Give the plan with its unit. Raises LedgerError for the first thing in it that no session can be made of."""
    policy = by_name(plan.dialect).loop()
    _check_line("NAME", plan.name)
    for option, value in (("--metric", plan.metric), *(("--secondary", name) for name in plan.secondary)):
        _check_line(option, value)
        if value in FORBIDDEN_NAMES:
            raise LedgerError(f"{option} {value} cannot be the name of a metric")
        if not policy.commands_in_config and not _METRIC.fullmatch(value):
            raise LedgerError(f"{option} must be made of letters, digits, _ . µ, as in a METRIC line, not {value!r}")
    if plan.metric in plan.secondary:
        raise LedgerError(f"--secondary {plan.metric} is the primary metric already")
    _check_line("--unit", plan.unit or "-")
    for option, values in (("--scope", plan.scope), ("--off-limits", plan.off_limits)):
        for value in values:
            _check_path(option, value, plain_for=policy.name if policy.plain_scope and option == "--scope" else "")
    for value in plan.constraint:
        _check_line("--constraint", value)
    for option, command in (("--command", plan.command), ("--guard", plan.guard), ("--json-key", plan.json_key)):
        if command is not None:
            _check_text(option, command)
    for option, number in (("--max-iterations", plan.max_iterations), ("--max-minutes", plan.max_minutes),
                           ("--min-effect", plan.min_effect), ("--noise-floor", plan.noise_floor)):  # fmt: skip
        if number is not None and number < 0:
            raise LedgerError(f"{option} must be 0 or more, not {number}")
    _check_needs(plan, policy)
    return plan._replace(unit=unit_of(plan.metric) if plan.unit is None else plan.unit)


def _check_needs(plan: SessionPlan, policy: Policy) -> None:
    if plan.json_key is not None and not policy.commands_in_config:
        able = " or ".join(dialect.name for dialect in DIALECTS if dialect.loop().commands_in_config)
        raise LedgerError(f"--json-key is for --dialect {able}; other measure scripts print METRIC lines")
    missing = [f"--{field.replace('_', '-')}" for field in policy.needs if getattr(plan, field) in (None, ())]
    if missing:
        raise LedgerError(f"a {policy.name} run cannot do without {' and '.join(missing)}: give it to ledger init")


def _check_text(option: str, value: str) -> None:
    if not value.strip():
        raise LedgerError(f"{option} must not be empty")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise LedgerError(f"{option} must be UTF-8 text")


def _check_line(option: str, value: str) -> None:
    _check_text(option, value)
    if plain(value) != value:
        raise LedgerError(f"{option} must be one line without control characters, not {value!r}")


def _check_path(option: str, value: str, *, plain_for: str) -> None:
    """Check a path; `plain_for` names the protocol that takes no pattern."""
    _check_line(option, value)
    if _NOT_RELATIVE.match(value) or ".." in re.split(r"[/\\]", value):
        raise LedgerError(f"{option} must be a relative path without '..', not {value!r}")
    if plain_for and _GLOB.search(value):
        raise LedgerError(f"{option} of a {plain_for} run must be a plain path without globs, not {value!r}")


def is_glob(path: str) -> bool:
    """Tell whether a path is a pattern."""
    return _GLOB.search(path) is not None


def unit_of(metric: str) -> str:
    """Infer a metric's unit from the end of its name: `total_ms` is in ms; empty where the name says nothing."""
    return _UNITS.get(
        re.split(r"[_.]", normalize("NFC", metric).replace("μ", "µ").casefold().replace("μ", "µ"))[-1], ""
    )


def slug(name: str) -> str:
    """Make a name fit for a branch, a folder or an id: lower-case ASCII letters, digits and `-`."""
    ascii_only = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only)[:_SLUG].strip("-") or "session"


def promised(plan: SessionPlan, placed: Sequence[str] = ()) -> list[str]:
    """List what only the prompt can keep, a sentence each: constraints, limits that the protocol has no place for.

    `placed` names the fields that some other file keeps.
    """
    bound = "most" if plan.direction == "lower" else "least"
    says = {
        "target": f"Target: {plan.metric} at {bound} {_number(plan.target)}{f' {plan.unit}' if plan.unit else ''}.",
        "max_iterations": f"Stop after {_number(plan.max_iterations)} runs.",
        "max_minutes": f"Stop after {_number(plan.max_minutes)} minutes.",
        "min_effect": f"An improvement under {_number(plan.min_effect)} % is too small to be kept.",
        "noise_floor": f"A difference under {_number(plan.noise_floor)} % is noise.",
    }
    elsewhere = by_name(plan.dialect).loop().keeps | set(placed)
    return [
        *plan.constraint,
        *(said for field, said in says.items() if getattr(plan, field) is not None and field not in elsewhere),
    ]


def _number(value: Number | None) -> str:
    return "" if value is None else text(value)
