"""What the value of an option or an argument may be, for shells to complete; what it is called says that.

Nothing here may be slow: a mirror is read with plain SQL, and only when its names are asked for.
"""

from __future__ import annotations  # click's items are generic since 8.5 only

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from ledger.reading.side_files import AUTHORED

if TYPE_CHECKING:
    Items = Iterable[CompletionItem[str]]
    Give = Callable[[click.Context, str], Items]

_MOST = 1000
_BUSY_SECONDS = 0.1


class Suggested(click.types.StringParamType):
    """Take any text, and suggest some."""

    def __init__(self, give: Give) -> None:
        self._give = give

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        """Give what begins as the text does."""
        return list(self._give(ctx, incomplete))


def candidates_of(command: click.Command, parameter: click.Parameter) -> Give | None:
    """Say what a parameter's values may be: by command and name, by name, or by the word that stands for its value."""
    word = (parameter.metavar or str(parameter.name).upper()).removesuffix("...")
    word = word[1:-1] if word.startswith("[") else word
    names = parameter.opts if isinstance(parameter, click.Option) else [word]
    keys = [*(f"{command.name} {name}" for name in names), *names, word]
    return next((CANDIDATES[key] for key in keys if key in CANDIDATES), None)


def files(_: click.Context, incomplete: str) -> Items:
    """Give the files and folders that a path may go on with; what is hidden only if that is begun, but for `.auto`."""
    above, slash, begun = incomplete.rpartition("/")
    for path in sorted(Path(above + slash).expanduser().iterdir(), key=lambda path: path.name):
        hidden = path.name.startswith(".") and path.name != ".auto" and not begun
        if path.name.startswith(begun) and not hidden:
            yield CompletionItem(f"{above}{slash}{path.name}{'/' if path.is_dir() else ''}")


def logs(ctx: click.Context, incomplete: str) -> Items:
    """Give the logs and folders that a path may go on with."""
    for item in files(ctx, incomplete):
        if item.value.endswith(("/", ".jsonl", "run.json")) and not item.value.endswith(AUTHORED):
            yield item


def codes(_: click.Context, incomplete: str) -> Items:
    """Give the codes of rules."""
    from ledger.rules import RULES

    for code in sorted(RULES):
        if code.startswith(incomplete.upper()):
            yield CompletionItem(code, help=RULES[code].name)


def listed(give: Give) -> Give:
    """Complete the last of several values with commas between them."""

    def last(ctx: click.Context, incomplete: str) -> Items:
        before, comma, begun = incomplete.rpartition(",")
        for item in give(ctx, begun):
            yield CompletionItem(before + comma + item.value, help=item.help)

    return last


def sessions(ctx: click.Context, incomplete: str) -> Items:
    """Give the names of the mirrored sessions, then their ids."""
    rows = list(_ask(ctx, "SELECT s.key, s.path, g.name FROM session AS s LEFT JOIN segment AS g ON g.session = s.id"))
    names = {name: path for _, path, name in rows if name}
    ids = {key: path for key, path, _ in rows}
    for known in (names, ids):
        for text in sorted(known):
            if text.startswith(incomplete):
                yield CompletionItem(text, help=known[text])


def mirrored(ctx: click.Context, incomplete: str) -> Items:
    """Give logs, and the sessions that the mirror has, though their logs may be gone."""
    yield from logs(ctx, incomplete)
    yield from sessions(ctx, incomplete)


def metrics(ctx: click.Context, incomplete: str) -> Items:
    """Give the metrics of the mirrored sessions; the secondary ones where the view is of those."""
    secondary = _view(ctx) == "metrics"
    sql = "SELECT name FROM metric_name" if secondary else "SELECT DISTINCT metric_name FROM segment"
    return _matching((name for (name,) in _ask(ctx, sql)), incomplete)


def columns(ctx: click.Context, incomplete: str) -> Items:
    """Give the columns of the view that is asked for, behind the sign that turns their order round if there is one."""
    from ledger.mirror.views import by_name

    sign = incomplete[: incomplete.startswith("-")]
    return _matching((sign + name for name in by_name(_view(ctx)).columns), incomplete)


def statuses(ctx: click.Context, incomplete: str) -> Items:
    """Give the statuses of runs, or the states of sessions that the mirror has."""
    if _view(ctx) == "runs":
        return _matching(("keep", "discard", "crash", "checks_failed", "baseline", "measured"), incomplete)
    return _matching((state for (state,) in _ask(ctx, "SELECT DISTINCT state FROM session")), incomplete)


CANDIDATES: dict[str, Give] = {
    "LOG": logs,
    "LOG|DIR": logs,
    "A B": logs,
    "sync PATH": logs,
    "forget LOG": mirrored,
    "verify LOG": mirrored,
    "export LOG": mirrored,
    "PATH": files,
    "FILE": files,
    "FILE|FOLDER": files,
    "CODE": codes,
    "CODE[@LINE]": codes,
    "CODES": listed(codes),
    "ITEMS": listed(codes),
    "--session": sessions,
    "--sort": listed(columns),
    "--status": statuses,
    **{
        f"{command} --metric": metrics
        for command in (
            "sessions", "segments", "runs", "best", "streaks", "compare", "metrics", "events", "export", "report",
        )
    },
}  # fmt: skip
"""What completes a value, by what the value is called."""


def _view(ctx: click.Context) -> str:
    return str(ctx.params.get("view") or ctx.command.name)


def _matching(texts: Iterable[Any], incomplete: str) -> Items:
    return [CompletionItem(text) for text in texts if isinstance(text, str) and text.startswith(incomplete)]


def _ask(ctx: click.Context, sql: str) -> Iterator[tuple[Any, ...]]:
    """Read rows of the mirror; none from one that is missing, busy or no mirror, nor from a server."""
    from ledger.mirror.location import mirror_location

    path: object = mirror_location(ctx.params.get("db"))
    if not isinstance(path, Path) or not path.is_file():
        return
    try:
        address = f"file:{quote(str(path))}?mode=rw"  # to clear away what a killed writer left
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as raw:
            raw.execute("PRAGMA trusted_schema = OFF")
            raw.execute("PRAGMA query_only = ON")
            yield from raw.execute(f"{sql} LIMIT {_MOST}")
    except sqlite3.Error:
        return
