"""Arguments and options that several commands share."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar

import click

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.base.text import near
from ledger.log.source import find_logs
from ledger.session.files import log_here

Command = TypeVar("Command", bound=Callable[..., Any])

DIALECTS = ("autoresearch", "state-protocol", "codex")

db_option = click.option(
    "--db",
    metavar="PATH|URL",
    help="The mirror: a file, or postgresql://USER@HOST/DATABASE [default: $LEDGER_DB, else the user data folder].",
)
dialect_option = click.option("--dialect", type=click.Choice(DIALECTS), help="Read the log as this protocol.")


def format_option(*names: str, default: str) -> Callable[[Command], Command]:
    """Declare the one format choice of a command."""
    return click.option(
        "--format", "format_name", type=click.Choice(names), default=default, show_default=True, help="Output format."
    )


def logs_of(arguments: tuple[str, ...]) -> tuple[list[Path | None], bool]:
    """Find the logs that arguments name, each once, and tell whether all were found; what is missing is told on stderr.

    Without arguments it is the current folder's session. Raises LedgerError if there is none.
    """
    if not arguments:
        return [log_here(Path.cwd())], True
    found: dict[Path | None, None] = {}
    complete = True
    for argument in arguments:
        try:
            found.update(dict.fromkeys(find_logs((argument,))))
        except LedgerError as error:
            click.echo(f"ledger: {error}", err=True)
            complete = False
    return list(found), complete


def one_log(argument: str | None) -> Path | None:
    """Find the one log that an argument names; without it the current folder's session."""
    if argument is None:
        return log_here(Path.cwd())
    found = find_logs((argument,))
    if len(found) > 1:
        raise click.UsageError(f"{argument} holds {len(found)} logs; name one of them")
    return found[0]


def shown(path: Path | str) -> str:
    """Write a path for a person: relative to the current folder if it is below it."""
    return near(show_path(path))


def stdout_text() -> TextIO:
    """Give standard output as UTF-8 text, whatever the locale says."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return sys.stdout


@contextmanager
def heard() -> Iterator[None]:
    """Let a command finish its work, and keep its exit status, when nobody reads its output any more."""
    try:
        yield
    except BrokenPipeError:
        mute()


def mute() -> None:
    """Send what is still to be written to standard output nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def replace_file(path: Path, write: Callable[[IO[bytes]], object], mode: int | None = None) -> None:
    """Write a file beside its place and move it there, so that nobody ever sees half of it.

    A link is followed; a device or a pipe is written to as it is. A file that is there keeps its mode; `mode` is that
    of a new one, what the umask leaves if not given.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file)
        return
    with beside(path, mode) as temporary, temporary.open("r+b") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def beside(path: Path, mode: int | None = None) -> Iterator[Path]:
    """Give an empty file in a file's folder, which is made if need be; it takes the file's place and mode at the end.

    Raises LedgerError if there is no such place.
    """
    import tempfile

    path = canonical(path)
    umask = os.umask(0)
    os.umask(umask)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
    except (FileExistsError, NotADirectoryError):
        raise LedgerError(f"cannot write {show_path(path)}: what should be its folder is a file") from None
    except OSError as error:
        raise LedgerError(f"cannot write {show_path(path)}: {(error.strerror or str(error)).lower()}") from None
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        new = 0o666 & ~umask if mode is None else mode
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else new)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
