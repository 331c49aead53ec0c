"""What SQLite and PostgreSQL say differently in a select, or do differently with doubles.

A select holds it as `[[word arguments]]`. Where a double overflows or underflows, SQLite goes on with infinity or zero
and PostgreSQL ends the statement, so there each step is guarded and comes to the very same number. Scaling by a power
of two is exact, which keeps the guards from rounding.
"""

import re
import sys
from collections.abc import Callable, Mapping

_MARK = re.compile(r"\[\[(\w+) ([^\[\]]*)\]\]")

Words = Mapping[str, Callable[..., str]]


def render(template: str, words: Words) -> str:
    """Write a select for one of the databases; arguments are parted by ` | `."""
    return _MARK.sub(lambda found: words[found[1]](*found[2].split(" | ")), template)


def _rest(ms: str) -> str:
    """Give a time's milliseconds within its second; positive, also before 1970."""
    return f"((({ms}) % 1000) + 1000) % 1000"


def _finite(expression: str) -> str:
    """Give null for what is no finite number: infinity minus itself is null."""
    return f"CASE WHEN ({expression}) - ({expression}) = 0 THEN {expression} END"


def _sqlite_iso(ms: str) -> str:
    return (
        f"strftime('%Y-%m-%dT%H:%M:%S', (({ms}) - {_rest(ms)}) / 1000, 'unixepoch')"
        f" || '.' || substr('000' || ({_rest(ms)}), -3) || 'Z'"
    )


SQLITE: Words = {
    "iso": _sqlite_iso,
    "percent": lambda value, base: _finite(f"({value} - {base}) / nullif(abs({base}), 0.0) * 100"),
    "quotient": lambda a, b, divisor: _finite(f"abs({a} - {b}) / nullif({divisor}, 0.0)"),
    "distance": lambda a, b: f"abs({a} - {b})",
    "middle": lambda low, high: f"({low} + {high}) / 2",
    "nested": lambda table: f"CROSS JOIN {table}",
    "bytes": lambda column: f"CAST({column} AS BLOB)",
}
"""CROSS JOIN fixes the order of loops. A column of bytes may hold text here, where somebody wrote some."""

_LARGE = 8e307
"""Two doubles up to this can be added."""
_HUGE = 1e300
_DOWN = repr(2.0**-60)
_MOST_DOWN = repr(sys.float_info.max * 2.0**-60)
_HALF_MOST = repr(sys.float_info.max / 2)
_MOST = "1.797693134862315e308"
_PAST_PERCENT = "1.8e306"
_MOST_PERCENT = "1.7976931348623156e306"
"""The largest double that stays one a hundred times over; what is past 1.8e306 does not."""
_NEVER = "'Infinity'::float8"


def _server_iso(ms: str) -> str:
    seconds = f"interval '1 second' * ((({ms}) - {_rest(ms)}) / 1000)"
    whole = f"to_char(timestamp 'epoch' + {seconds}, 'YYYY-MM-DD\"T\"HH24:MI:SS')"
    return f"""(({whole} || '.' || lpad(CAST({_rest(ms)} AS text), 3, '0') || 'Z') COLLATE "C")"""


def _times_100(difference: str, divisor: str) -> str:
    return f"""CASE WHEN abs({difference}) > least({divisor}, 1) * {_PAST_PERCENT} THEN NULL
    WHEN abs(({difference}) / ({divisor})) <= {_MOST_PERCENT} THEN ({difference}) / ({divisor}) * 100 END"""


def _server_percent(value: str, base: str) -> str:
    """Divide the change by the base's magnitude. A difference that is not zero is never too small beside its base."""
    change = f"(CASE WHEN abs({value}) < 1 THEN 0.0 ELSE {value} * {_DOWN} END - {base} * {_DOWN})"
    return f"""CASE WHEN {base} = 0 THEN NULL
    WHEN abs({value}) < {_HUGE} AND abs({base}) < {_HUGE} THEN {_times_100(f"({value} - {base})", f"abs({base})")}
    WHEN abs({base}) < 1e-8 THEN NULL
    WHEN abs({change}) <= {_MOST_DOWN} THEN {_times_100(change, f"abs({base} * {_DOWN})")} END"""


def _server_distance(a: str, b: str) -> str:
    return f"""CASE WHEN abs({a}) < {_LARGE} AND abs({b}) < {_LARGE} THEN abs({a} - {b})
    WHEN abs({a}) < 1 THEN abs({b}) WHEN abs({b}) < 1 THEN abs({a})
    WHEN abs({a} * 0.5 - {b} * 0.5) <= {_HALF_MOST} THEN abs({a} - {b}) ELSE {_NEVER} END"""


def _server_quotient(a: str, b: str, divisor: str) -> str:
    """Divide a distance by a divisor that is not negative.

    Scaled up and down, both show whether they come to zero; half the distance, whether they come to infinity.
    """
    distance, small = f"({_server_distance(a, b)})", f"least({divisor}, 1)"
    half = f"greatest({distance}, 1e-20) * 0.5"
    return f"""CASE WHEN coalesce({divisor}, 0) = 0 OR {distance} = {_NEVER} THEN NULL
    WHEN {divisor} = {_NEVER} THEN 0.0
    WHEN {half} > {small} * {_MOST} THEN NULL WHEN {half} / {small} > {_HALF_MOST} THEN NULL
    WHEN least({distance}, 1e-15) * {2.0**1000!r} <= greatest({divisor}, 1) * {2.0**-75!r} THEN 0.0
    ELSE {distance} / {divisor} END"""


def _server_middle(low: str, high: str) -> str:
    halves = " + ".join(f"CASE WHEN abs({one}) < 1 THEN 0.0 ELSE {one} * 0.5 END" for one in (low, high))
    return f"""CASE WHEN abs({low}) < {_LARGE} AND abs({high}) < {_LARGE}
      THEN CASE WHEN abs({low} + {high}) < 1e-323 THEN 0.0 ELSE ({low} + {high}) / 2 END
    WHEN abs({halves}) <= {_HALF_MOST} THEN {halves}
    WHEN {low} > 0 THEN {_NEVER} ELSE -{_NEVER} END"""


SERVER: Words = {
    "iso": _server_iso,
    "percent": _server_percent,
    "quotient": _server_quotient,
    "distance": _server_distance,
    "middle": _server_middle,
    "nested": lambda table: f"JOIN {table}",
    "bytes": lambda column: column,
}
