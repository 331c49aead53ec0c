"""`skill`: what an agent reads to work with all of this."""

from importlib.resources import files
from pathlib import Path

import click

from ledger.base.errors import LedgerError
from ledger.base.files import write_output
from ledger.cli.support.output import heard, shown, stdout_text

TEXT = files("ledger") / "skill" / "SKILL.md"


@click.command()
@click.option("--install", "folder", metavar="DIR", help="Write it to DIR/ledger/SKILL.md; DIR is a folder of skills.")
@click.option("--force", is_flag=True, help="With --install: overwrite one that was changed, or is of another version.")
def skill(folder: str | None, force: bool) -> None:
    """Print the skill that teaches an agent the loop, or install it where agents look for skills.

    \b
    Example:
      ledger skill
      ledger skill --install .claude/skills
    """
    if folder is None:
        if force:
            raise click.UsageError("--force goes with --install")
        with heard():
            click.echo(TEXT.read_bytes().decode(), file=stdout_text(), nl=False)
        return
    place = Path(folder) / "ledger" / "SKILL.md"
    click.echo(f"ledger: {_install(place, force=force)} {shown(place)}", err=True)


def _install(place: Path, *, force: bool) -> str:
    """Write the skill unless it is there already; say which. Raises LedgerError rather than lose anything."""
    text = TEXT.read_bytes()
    if place.is_file() and place.read_bytes() == text:
        return "there already:"
    if place.exists() and not place.is_file():
        raise LedgerError(f"cannot write {shown(place)}: it is no file")
    if place.exists() and not force:
        raise LedgerError(f"{shown(place)} is another text and stays as it is; --force overwrites it")
    write_output(place, lambda file: file.write(text))
    return "installed"
