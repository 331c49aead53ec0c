"""What `export -o` never writes over: the mirror, and mirrored logs that hold anything else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import SAMPLES, SOUND, ledger, lines, log, run

pytestmark = pytest.mark.usefixtures("each_mirror")

MORE = SOUND + lines(run(4, 80))
REFUSED = "ledger: {} is {}, which an export never replaces; name another place with -o\n"
Place = Callable[[Path, Path], object]


def tree(folder: Path) -> dict[Path, bytes]:
    """Give every file of a folder but the database's helpers, which come and go."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm")}


def refused(folder: Path, *arguments: object) -> str:
    """Hold an export to refuse and to change nothing; give what it said."""
    before = tree(folder)
    code, out, err = ledger(folder, "export", *arguments)
    assert (code, out) == (2, "") and tree(folder) == before
    return err


def linked(path: Path, name: str, make: Callable[[Path, Path], None] = os.symlink) -> Path:
    make(path, path.with_name(name))
    return path.with_name(name)


PLACES: list[Any] = [
    lambda folder, path: path.name,
    lambda folder, path: path,
    lambda folder, path: folder / "sub" / ".." / path.name,
    lambda folder, path: ".",
    lambda folder, path: f"{folder}/",
    pytest.param(lambda folder, path: linked(path, "link"), marks=pytest.mark.skipif(os.name == "nt", reason="links")),
    lambda folder, path: linked(path, "twin", os.link),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_log_with_more_in_it_is_kept(place: Place, tmp_path: Path):
    path = log(tmp_path)
    (tmp_path / "sub").mkdir()
    assert ledger(tmp_path, "sync", path).code == 0
    target = place(tmp_path, path)
    assert ledger(tmp_path, "export", path, "-o", target) == (0, "", "")  # it holds just that
    with path.open("ab") as file:
        file.write(MORE[len(SOUND) :])
    assert refused(tmp_path, path, "-o", target).endswith(REFUSED.format("", "a mirrored log")[9:])
    assert path.read_bytes() == MORE
    assert ledger(tmp_path, "sync", path).code == 0


def test_another_mirrored_log_is_kept_too(tmp_path: Path):
    path, other = log(tmp_path), log(tmp_path, MORE, "other.jsonl")
    assert ledger(tmp_path, "sync", path, other).code == 0
    assert refused(tmp_path, path, "-o", other) == REFUSED.format("other.jsonl", "a mirrored log")
    assert ledger(tmp_path, "export", path, "-o", log(tmp_path, MORE, "unknown.jsonl")).code == 0
    assert (tmp_path / "unknown.jsonl").read_bytes() == SOUND


def test_a_lost_log_may_be_put_back(tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", path).code == 0
    path.unlink()
    assert ledger(tmp_path, "export", path, "-o", path) == (0, "", "")
    assert path.read_bytes() == SOUND


@pytest.mark.of_a_file
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_the_mirror_is_kept(suffix: str, tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", path).code == 0
    name = f"mirror.db{suffix}"
    assert refused(tmp_path, path, "-o", name) == REFUSED.format(name, "the mirror itself")
    assert ledger(tmp_path, "verify", "--all").code == 0


def codex(folder: Path) -> Path:
    shutil.copytree(SAMPLES / "table-reader/autoresearch-results", folder / "results")
    assert ledger(folder, "sync", "results").code == 0
    return folder / "results"


def test_a_run_json_is_kept_and_nothing_is_half_done(tmp_path: Path):
    folder = codex(tmp_path)
    assert ledger(tmp_path, "export", folder, "-o", folder) == (0, "", "")
    with (folder / "run.json").open("ab") as file:
        file.write(b"\n")
    expected = REFUSED.format("results/run.json", "the run.json of a mirrored log")
    assert refused(tmp_path, folder, "-o", folder) == expected
    (folder / "events.jsonl").unlink()
    assert refused(tmp_path, folder, "-o", folder) == expected
    assert refused(tmp_path, folder / "events.jsonl", "-o", folder / "run.json") == expected


def test_all_of_them_keep_what_is_there(tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", path).code == 0
    assert ledger(tmp_path, "export", "--all", "-o", "out") == (0, "", "")
    copy = next((tmp_path / "out").rglob("*.jsonl"))
    assert ledger(tmp_path, "sync", copy).code == 0
    copy.write_bytes(MORE)
    assert refused(tmp_path, path, "-o", copy).endswith(REFUSED.format("", "a mirrored log")[9:])
