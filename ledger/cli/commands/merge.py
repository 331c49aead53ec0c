"""`merge`: two logs of one session that went apart, made one; by hand, or by git."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ledger.base.errors import LedgerError
from ledger.base.text import counted, plain
from ledger.cli.support.log_argument import one_log
from ledger.cli.support.output import shown, write_bytes
from ledger.cli.support.overwriting import check_overwriting
from ledger.log.source import STDIN, decisions_of, open_log, run_json_of
from ledger.merge.side import Side, read_side
from ledger.merge.union import Change, Merged
from ledger.merge.union import merge as union
from ledger.reading import accepted
from ledger.reading.accepted import Acceptance, Key
from ledger.reading.side_files import mode_beside
from ledger.telling import findings

if TYPE_CHECKING:
    from ledger.loop.git.repository import Git

_LISTED = 12
_HEAD = "GITHEAD_"


@click.command()
@click.argument("logs", metavar="A B", nargs=-1)
@click.option("-o", "--output", metavar="FILE", help="Where to, replaced in one step [default: standard output].")
@click.option("--driver", is_flag=True, help="Be git's merge driver: take %O %A %B %P and write to %A.")
def merge(logs: tuple[str, ...], output: str | None, driver: bool) -> None:
    """Merge two logs of one session that went apart, on branches or in worktrees.

    The records that both begin with stand once. After them come the records of both by time. No record is lost. Where
    both count on from the same run number, runs are renumbered in the merged order, and their decisions with them; a
    segment that one of them opened stays whole. Every other byte stays as it is. Standard error tells what was
    renumbered.

    Two logs that cannot both be true, or one with errors, are a conflict: exit 1, and nothing is written. A codex
    history is replayed event by event, so one of the two must be a continuation of the other.

    \b
    Git calls it for logs on its branches after these commands:
      echo 'autoresearch.jsonl merge=ledger' >> .gitattributes
      echo '.auto/log.jsonl merge=ledger' >> .gitattributes
      echo '*.accepted.jsonl merge=union' >> .gitattributes
      echo '*.repairs.jsonl merge=union' >> .gitattributes
      git config merge.ledger.name "logs of experiments"
      git config merge.ledger.driver "ledger merge --driver %O %A %B %P"
    %P is the log's own path, beside which its accepted findings stand; they count as in check.

    \b
    Example:
      ledger merge autoresearch.jsonl ../other-worktree/autoresearch.jsonl -o merged.jsonl
    """
    if len(logs) not in ((3, 4) if driver else (2,)) or (driver and output is not None):
        raise click.UsageError("--driver takes %O %A %B, %P, and nothing else" if driver else "name two logs: A B")
    base = _lines(Path(logs[0])) if driver else None
    sides = _driven(*logs[1:]) if driver else _named(*logs)
    target = sides[0].path if driver else _target(output, sides)
    _refuse([side for side in sides if side.errors])
    merged = union(*sides, base)
    if isinstance(merged, str):
        click.echo(f"conflict: {plain(merged)}; nothing was written", err=True)
        sys.exit(1)
    for said in _told(merged, sides):
        click.echo(said, err=True)
    write_bytes(target, [merged.data], mode_beside(sides[0].path) & mode_beside(sides[1].path))


def _named(ours: str, theirs: str) -> tuple[Side, Side]:
    """Read two logs, each called by its path."""
    a, b = (one_log(argument) for argument in (ours, theirs))
    if a is None or b is None:
        raise click.UsageError("merge reads files; give both logs a name")
    return read_side(a, shown(a)), read_side(b, shown(b))


def _driven(ours: str, theirs: str, path: str | None = None) -> tuple[Side, Side]:
    """Read the two files that git hands out, whose names say nothing; accepted findings stand beside the log's path."""
    sides = read_side(Path(ours), "ours", alone=True), read_side(Path(theirs), "theirs", alone=True)
    if path is None or not any(side.said for side in sides):
        return sides
    known = _accepted_on_both(path)
    return sides[0].accepting(known), sides[1].accepting(known)


def _accepted_on_both(path: str) -> dict[Key, Acceptance]:
    """Read the decisions on a log, named from the repository's top, which is the current folder for a merge driver.

    Those of our branch stand in the working tree; those of the other are still in its commits. Raises LedgerError for
    a file of decisions that cannot be read.
    """
    from ledger.loop.git.repository import Git  # which most merges do without

    log = Path(path)
    found = accepted.read(log)
    git = Git(Path.cwd())
    for commit in _merged_commits(git):
        if (data := git.blob(commit, decisions_of(log).as_posix())) is not None:
            found = {**accepted.in_force(decisions_of(log), data), **found}
    return found


def _merged_commits(git: "Git") -> Iterator[str]:
    """Name the commits that are merged, as far as git tells a driver: a merge by its environment, a rebase by a file.

    While it picks a commit it tells nothing.
    """
    yield from (name.removeprefix(_HEAD) for name in os.environ if name.startswith(_HEAD))
    try:
        tip = git.private() / "rebase-merge" / "orig-head"
    except LedgerError:  # called by hand, outside of any repository
        return
    if tip.is_file():
        yield tip.read_text("ascii").strip()


def _lines(path: Path) -> list[bytes]:
    """Read the lines of the log that both come from; git gives an empty file where there was none."""
    with open_log(path) as file:
        return [line for block in file.blocks() for line in block.lines]


def _target(output: str | None, sides: tuple[Side, Side]) -> Path | None:
    """Say where the merged log goes; None is standard output. Raises LedgerError for one of the two logs itself."""
    if output is None or output == STDIN:
        return None
    target = Path(output)
    check_overwriting(target, sides[0].path)
    for side in sides:
        for kept in (side.path, run_json_of(side.path)):
            if target.exists() and kept.exists() and target.samefile(kept):
                raise LedgerError(
                    f"{shown(target)} is read by this merge, which replaces no log it reads; name another -o"
                )
    return target


def _refuse(sides: list[Side]) -> None:
    """Say on standard error what is wrong with logs that have errors, and end with exit status 1 if there are any."""
    for side in sides:
        for line in findings.lines_of(side.path, side.errors):
            click.echo(line, err=True)
        click.echo(f"refused: {side.name} has errors; run ledger repair on it first, nothing was written", err=True)
    if sides:
        sys.exit(1)


def _told(merged: Merged, sides: tuple[Side, Side]) -> Iterator[str]:
    """Say what a person must know of the merged log."""
    for log, side in enumerate(sides):
        for what in ("run", "segment"):
            changes = [change for change in merged.changes if (change.log, change.what) == (log, what)]
            if changes:
                yield f"renumbered {what}s of {side.name}: {_ranges(changes)}"
    for one in merged.ended:
        said = (
            f"warning: {one.code} was accepted of line {one.line} of {sides[one.log].name}, which is another one now,"
        )
        yield f"{said} line {one.now}; see ledger check, and accept it again"
    if merged.in_both:
        count = counted(merged.in_both, "record")
        yield f"{count} behind the common beginning in both logs, and once in the merged one"
    if merged.lost:
        count = counted(merged.lost, "record")
        yield f"warning: {count} that {sides[1].name} begins with {sides[0].name} never had, and the merged log has not"
    if merged.found:
        codes = ", ".join(f"{code} ({count:,})" for code, count in sorted(merged.found.items()))
        yield f"note: among each other's records there are findings that neither log had: {codes}; see ledger check"


def _ranges(changes: list[Change]) -> str:
    """Write changes as `4 to 5, 5-9 to 7-11`, the first dozen of them."""
    spans: list[tuple[Change, Change]] = []
    for change in changes:
        if spans and (change.old - spans[-1][1].old, change.new - spans[-1][1].new) == (1, 1):
            spans[-1] = (spans[-1][0], change)
        else:
            spans.append((change, change))
    words = [f"{a.old} to {a.new}" if a is b else f"{a.old}-{b.old} to {a.new}-{b.new}" for a, b in spans[:_LISTED]]
    left = sum(b.old - a.old + 1 for a, b in spans[_LISTED:])
    return ", ".join(words) + (f", and {left:,} more" if left else "")
