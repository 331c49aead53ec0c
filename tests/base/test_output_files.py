"""Files that commands write with -o: replaced whole, or left as they were."""

import os
import threading
from pathlib import Path
from typing import IO

import pytest

from ledger.base.errors import LedgerError
from ledger.base.files import output_file, write_output

POSIX = pytest.mark.skipif(os.name == "nt", reason="modes and pipes are other ones there")


def write(data: bytes = b"new"):
    return lambda file: file.write(data)


def fail(file: IO[bytes]) -> None:
    file.write(b"half")
    raise RuntimeError


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old, and longer than what is new")
    return path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_replaced(target: Path):
    write_output(target, write())
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_folders_are_made(tmp_path: Path):
    write_output(tmp_path / "a" / "b" / "c", write())
    assert (tmp_path / "a/b/c").read_bytes() == b"new"


@POSIX
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_is_kept(kept: int, target: Path):
    target.chmod(kept)
    write_output(target, write())
    assert mode(target) == kept


@POSIX
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_obeys_the_umask(umask: int, expected: int, tmp_path: Path):
    before = os.umask(umask)
    try:
        write_output(tmp_path / "new", write())
        assert os.umask(umask) == umask  # it was only looked at
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == expected


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_everything_as_it_was(error: type[BaseException], target: Path):
    def fail(file: IO[bytes]) -> None:
        file.write(b"half")
        raise error

    with pytest.raises(error):
        write_output(target, fail)
    assert target.read_bytes().startswith(b"old")
    assert list(target.parent.iterdir()) == [target]


def test_a_failure_leaves_no_new_file(tmp_path: Path):
    with pytest.raises(RuntimeError):
        write_output(tmp_path / "new", fail)
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_a_link_is_followed(target: Path):
    link = target.parent / "link"
    link.symlink_to(target)
    write_output(link, write())
    assert link.is_symlink() and target.read_bytes() == b"new"


@POSIX
def test_a_pipe_is_written_to_and_stays(tmp_path: Path):
    pipe, taken = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()))
    reader.start()
    write_output(pipe, write())
    reader.join(10)
    assert taken == [b"new"] and pipe.is_fifo()


def test_no_place_to_write(target: Path):
    with pytest.raises(LedgerError, match=r"cannot write .*x: what should be its folder is a file"):
        write_output(target / "x", write())
    with pytest.raises(IsADirectoryError if os.name != "nt" else PermissionError):
        write_output(target.parent, write())


def test_what_is_beside_is_there_until_the_end(target: Path):
    with output_file(target) as file:
        temporary = Path(file.name)
        assert temporary.parent == target.parent.resolve() and temporary.read_bytes() == b""
        temporary.write_bytes(b"new")
        assert target.read_bytes().startswith(b"old")
    assert target.read_bytes() == b"new" and not temporary.exists()
