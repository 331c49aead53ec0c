"""Arguments and options that several commands share."""

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar

import click

from ledger.source import find_logs, session_log

Command = TypeVar("Command", bound=Callable[..., Any])
Item = TypeVar("Item")

DIALECTS = ("autoresearch", "state-protocol", "codex")

db_option = click.option(
    "--db", metavar="PATH", help="The mirror: a path or a SQLite URL [default: $LEDGER_DB, else the user data folder]."
)
dialect_option = click.option("--dialect", type=click.Choice(DIALECTS), help="Read the log as this protocol.")


def format_option(*names: str, default: str) -> Callable[[Command], Command]:
    """Declare the one format choice of a command."""
    return click.option(
        "--format", "format_name", type=click.Choice(names), default=default, show_default=True, help="Output format."
    )


def logs_of(arguments: tuple[str, ...]) -> list[Path | None]:
    """Find the logs that arguments name; without arguments the current folder's session."""
    return find_logs(arguments) if arguments else [session_log(Path.cwd())]


def one_log(argument: str | None) -> Path | None:
    """Find the one log that an argument names; without it the current folder's session."""
    found = logs_of((argument,) if argument else ())
    if len(found) > 1:
        raise click.UsageError(f"{argument} holds {len(found)} logs; name one of them")
    return found[0]


def stdout_text() -> TextIO:
    """Give standard output as UTF-8 text, whatever the locale says."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return sys.stdout


def replace_file(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it."""
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    umask = os.umask(0)
    os.umask(umask)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def progress(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield the items; past a second a bar on stderr counts them, where stderr is a terminal and stdout is not."""
    start, bar = time.monotonic(), None
    wanted = sys.stderr.isatty() and not sys.stdout.isatty()
    for place, item in enumerate(items):
        if wanted and bar is None and time.monotonic() - start > 1:
            bar = click.progressbar(length=len(items), label=label, file=sys.stderr)
            bar.update(place)
        yield item
        if bar is not None:
            bar.update(1)
    if bar is not None:
        bar.render_finish()
