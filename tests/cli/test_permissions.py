"""Who may read and write what ledger makes: files keep their modes, new ones obey the umask, links are no way out."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.base.files import append, create, put
from ledger.base.locks import is_locked, lock_of, locked
from tests.support.cli import ROOT, SOUND, ledger, lines, log, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and links are other ones there")

UMASKS = [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)]


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set a test's umask; commands that it starts have it too."""
    before = os.umask(request.param[0])
    yield request.param[1]
    os.umask(before)


obeying = pytest.mark.parametrize("umask", UMASKS, indirect=True, ids=[f"{mask:03o}" for mask, _ in UMASKS])


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def modes(folder: Path) -> dict[str, int]:
    """Give the mode of each file below a folder."""
    return {path.relative_to(folder).as_posix(): mode(path) for path in folder.rglob("*") if path.is_file()}


ADD = (
    "log",
    "--metric",
    "80",
    "--status",
    "keep",
    "--commit",
    "abc1234",
    "--description",
    "d",
    "--metrics",
    '{"mem":5}',
)


@obeying
def test_new_files_obey_the_umask(umask: int, tmp_path: Path) -> None:
    for number, command in enumerate((
        ("init", "speed", "--metric", "total_ms", "--direction", "lower", "--log", "new/autoresearch.jsonl"),
        (*ADD, "--log", "new/autoresearch.jsonl"),
        ("check", "new/autoresearch.jsonl"),
        ("sync", "new/autoresearch.jsonl"),
        ("export", "new/autoresearch.jsonl", "-o", "exported.jsonl"),
        ("merge", "new/autoresearch.jsonl", "exported.jsonl", "-o", "merged.jsonl"),
    )):  # fmt: skip
        (tmp_path / "new").mkdir(exist_ok=True)
        done = ledger(tmp_path, *command)
        assert done.code == 0, (number, done)
    made = modes(tmp_path)
    assert {"new/autoresearch.jsonl", "new/autoresearch.lock", "mirror.db", "exported.jsonl", "merged.jsonl"} <= set(
        made
    )
    scripts = {name: found for name, found in made.items() if name.endswith(".sh")}
    assert made.pop("mirror.db") == umask & 0o644  # SQLite gives no more than that
    assert {name: found for name, found in made.items() if name not in scripts and found != umask} == {}
    assert all(found & 0o666 == umask for found in scripts.values())


@pytest.mark.parametrize(("umask", "kept"), [((0o022, 0), 0o600), ((0o077, 0), 0o664)], indirect=["umask"])
def test_logs_and_mirror_keep_their_modes(umask: int, kept: int, tmp_path: Path) -> None:
    path = log(tmp_path)
    assert ledger(tmp_path, "sync").code == 0
    path.chmod(kept)
    (tmp_path / "mirror.db").chmod(kept)
    assert ledger(tmp_path, *ADD).code == 0
    assert ledger(tmp_path, "sync").code == 0
    assert ledger(tmp_path, "db", "rebuild").code == 0
    assert (mode(path), mode(tmp_path / "mirror.db")) == (kept, kept)
    assert ledger(tmp_path, "merge", path, log(tmp_path, path.read_bytes(), "twin.jsonl"), "-o", path).code == 2
    assert mode(path) == kept


@obeying
def test_small_files_obey_the_umask_or_keep_their_mode(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "loop.json"
    put(path, b"1")
    assert mode(path) == umask
    for kept in (0o600, 0o666, 0o755, 0o400):
        path.chmod(kept)
        put(path, b"%o" % kept)
        assert (mode(path), path.read_bytes()) == (kept, b"%o" % kept)
    assert [one.name for one in tmp_path.iterdir()] == ["loop.json"]


def test_a_small_files_link_gives_way_and_what_it_named_stays(tmp_path: Path) -> None:
    victim = log(tmp_path, b"precious", "victim")
    victim.chmod(0o600)
    path = tmp_path / "loop.json"
    path.symlink_to(victim)
    put(path, b"new")
    assert (victim.read_bytes(), path.read_bytes(), path.is_symlink(), mode(path)) == (
        b"precious",
        b"new",
        False,
        0o600,
    )


@obeying
def test_a_log_and_its_lock_obey_the_umask(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with locked(lock_of(path)):
        create(path, b"{}\n")
    append(path, b"{}\n", 3)
    assert modes(tmp_path) == {"log.jsonl": umask, "log.lock": umask}
    assert lock_of(path).read_bytes() == b""


@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_place_of_a_lock_is_not_followed(there: bool, tmp_path: Path) -> None:
    victim = tmp_path / "elsewhere" / "victim"
    victim.parent.mkdir()
    if there:
        victim.write_bytes(b"precious")
    path = log(tmp_path)
    lock_of(path).symlink_to(victim)
    with (
        pytest.raises(LedgerError, match=r"cannot lock .*: it is a link, or no regular file; remove it"),
        locked(lock_of(path)),
    ):
        pass
    done = ledger(tmp_path, *ADD)
    assert (done.code, done.out) == (2, "") and "cannot lock" in done.err
    assert path.read_bytes() == SOUND
    assert victim.exists() == there and (not there or victim.read_bytes() == b"precious")
    assert not is_locked(lock_of(path))


def test_a_lock_that_is_a_pipe_or_a_folder_is_refused_at_once(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.lock", tmp_path / "folder.lock"
    os.mkfifo(pipe)
    folder.mkdir()
    (tmp_path / "loop.lock").symlink_to("loop.lock")
    for path in (pipe, folder, tmp_path / "loop.lock"):
        with pytest.raises(LedgerError, match="cannot lock"), locked(path):
            pass
        assert not is_locked(path)


def test_a_lock_is_held_against_another_process_and_made_once(tmp_path: Path) -> None:
    lock = tmp_path / "log.lock"
    other = (
        "import sys; from pathlib import Path; from ledger.base.locks import is_locked, locked\n"
        "assert is_locked(Path(sys.argv[1]))\n"
        "with locked(Path(sys.argv[1]), 0): pass"
    )
    with locked(lock):
        done = subprocess.run([sys.executable, "-c", other, lock], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "is locked by another process" in done.stderr
        number = lock.stat().st_ino
    with locked(lock, 0):
        assert lock.stat().st_ino == number
    assert not is_locked(lock) and not is_locked(tmp_path / "none.lock")
    assert not (tmp_path / "none.lock").exists()  # asking makes nothing


DROP = """
import os, sys
from pathlib import Path
import portalocker  # as long as its files can be read
from ledger.base.locks import locked
os.setgid(65534); os.setuid(65534)
with locked(Path(sys.argv[1]), 0):
    print(os.getuid())
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser can become another")
@pytest.mark.parametrize("sticky", [0o1777, 0o2770])
def test_a_lock_in_a_folder_of_several_users(sticky: int, tmp_path: Path) -> None:
    """In a folder such as /tmp, Linux lets no one open another's file with the flag that makes files."""
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chown(folder, 0, 65534)
    folder.chmod(sticky)
    lock = folder / "log.lock"
    before = os.umask(0o002)
    with locked(lock):
        pass
    os.umask(before)
    os.chown(lock, 0, 65534)
    assert mode(lock) == 0o664
    done = subprocess.run(  # from within, since the folders above are nobody else's
        [sys.executable, "-c", DROP, lock.name], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "65534\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_what_may_not_be_written_is_said(tmp_path: Path) -> None:
    path = log(tmp_path, SOUND + lines(run(4, 80, metrics={"mem": 1})))
    tmp_path.chmod(0o555)
    try:
        done = ledger(tmp_path, *ADD)
        with pytest.raises(LedgerError, match="cannot write"):
            put(tmp_path / "loop.json", b"1")
    finally:
        tmp_path.chmod(0o755)
    assert (done.code, done.out) == (2, "") and "cannot write" in done.err
    assert path.read_bytes().startswith(SOUND)
