"""The ordeals of scripts/torture, in short."""

import os
from pathlib import Path

import pytest

from tests.support.mirroring import mirror_at
from tests.torture import faults, fuzz, load
from tests.torture.scenes import SCENES, FirstSync, Repair, Scene, Sync, Upgrade

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are other ones there")


@pytest.mark.parametrize("make", [Repair, Upgrade])
def test_killed(make: type[Scene], tmp_path: Path):
    assert faults.kill(make(tmp_path), 1).tried == 1


@pytest.mark.parametrize("make", [Repair, Upgrade])
def test_files_that_cannot_grow(make: type[Scene], tmp_path: Path):
    assert faults.no_growth(make(tmp_path), 1).tried == 1


@pytest.mark.parametrize("make", [Sync, Repair])
def test_a_full_disk(make: type[Scene], tmp_path: Path):
    try:
        faults.full_disk(make(tmp_path), 1)
    except (PermissionError, FileNotFoundError) as error:
        pytest.skip(f"a file system cannot be mounted here: {error}")


def test_interrupted(tmp_path: Path):
    assert faults.interrupt(Repair(tmp_path), 1).tried == 1


def test_a_scene_sees_what_is_neither_before_nor_after(tmp_path: Path):
    scene = FirstSync(tmp_path)
    assert not scene.check()
    assert scene.ledger("sync", "a", "b").code == 0
    assert not scene.check()
    scene.complete()
    (scene.folder / "b" / "autoresearch.jsonl").write_bytes(b"")
    with pytest.raises(AssertionError):
        scene.check()


def test_two_syncs_and_four_readers(tmp_path: Path):
    assert load.crowd(tmp_path, 4).tried >= 6


def test_mutated_lines(tmp_path: Path):
    with mirror_at(tmp_path / "mirror.db") as mirror:
        assert fuzz.lines(mirror, tmp_path, 300).tried >= 300
    assert fuzz.side_files(tmp_path, 2000).tried == 2000


def test_every_scene_is_another_command():
    assert len({scene.name for scene in SCENES}) == len(SCENES)
