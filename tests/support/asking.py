"""Questions to the mirror of the sound samples, for the tests of commands that ask."""

import json
from pathlib import Path
from typing import Any

from ledger.mirror.location import mirror_location, show
from tests.support import cli


def synced_samples(folder: Path) -> Path:
    """Fill a folder's mirror with the sound samples."""
    sound = (path for path in cli.SAMPLES.iterdir() if path.is_dir() and path.name != "damaged")
    done = cli.ledger(folder, "sync", *sound)
    assert (done.code, done.err) == (0, "")
    return folder


def rows(folder: Path, *arguments: object) -> list[dict[str, Any]]:
    """Ask for rows."""
    code, out, err = cli.ledger(folder, *arguments, "--format", "json")
    assert (code, err) == (0, "")
    return list(json.loads(out))


def note(folder: Path) -> str:
    """Say what is said where there is no mirror yet."""
    return f"note: there is no mirror at {show(mirror_location(cli.mirror_of(folder)))} yet; run ledger sync\n"
