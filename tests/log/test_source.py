"""Files found, opened safely, split into lines, and watched while they are read."""

import io
import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.log import source
from ledger.log.source import BLOCK_BYTES, LogFile, open_log, read_small
from ledger.reading.discovery import find_logs, session_log
from ledger.reading.whole_log import read_log

DATA = b"first\nsecond\nthird\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "autoresearch.jsonl"
    path.write_bytes(DATA)
    return path


def later(path: Path) -> None:
    """Make sure that a change shows in the file's time, however coarse the file system's clock is."""
    moment = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(moment, moment))


# --- lines ----------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\xe2\x80\xa8", b"\x0b", b"x" * 9])).map(b"".join),
    st.integers(1, 12),
)
def test_blocks_hold_every_byte_in_whole_lines(data: bytes, size: int) -> None:
    with patch.object(source, "BLOCK_BYTES", size):
        blocks = list(LogFile(None, io.BytesIO(data), len(data)).blocks())
    assert b"".join(block.data for block in blocks) == data
    lines = [line for block in blocks for line in block.lines]
    assert lines == (data.removesuffix(b"\n").split(b"\n") if data else [])
    assert [block.terminated for block in blocks[:-1]] == [True] * (len(blocks) - 1)
    assert not blocks or blocks[-1].terminated == data.endswith(b"\n")
    offset, number = 0, 1
    for block in blocks:
        assert (block.offset, block.first_line) == (offset, number)
        offset += len(block.data)
        number += len(block.lines)


def test_what_comes_after_the_opening_is_not_read(log: Path) -> None:
    with open_log(log) as file:
        log.write_bytes(DATA + b"fourth\n")
        assert b"".join(block.data for block in file.blocks()) == DATA


def test_peeking_leaves_the_file_at_its_start(log: Path) -> None:
    with open_log(log) as file:
        assert next(file.peek()) == (1, b"first", True)
        assert list(file.peek()) == [(1, b"first", True), (2, b"second", True), (3, b"third", True)]
        assert b"".join(block.data for block in file.blocks()) == DATA
        file.check_unchanged()


def test_skipping_hashes_what_is_passed_over(log: Path) -> None:
    with open_log(log) as file, open_log(log) as whole:
        digest = file.skip(6)
        assert [(block.offset, block.first_line, block.lines) for block in file.blocks(6, 2)] == [
            (6, 2, [b"second", b"third"])
        ]
        whole.skip(len(DATA))
        assert file.hash.digest() == whole.hash.digest() != digest


# --- a file that changes while it is read ---------------------------------------------------------------------------


def check_after(change: object, log: Path) -> None:
    """Read a log whole, let it be changed, and check it."""
    assert callable(change)
    with open_log(log) as file:
        for _ in file.blocks():
            pass
        change()
        file.check_unchanged()


def rewrite(log: Path, data: bytes) -> None:
    with log.open("r+b") as stream:
        stream.write(data)
        stream.truncate()
    later(log)


def test_an_untouched_or_appended_file_is_fine(log: Path) -> None:
    check_after(lambda: None, log)
    check_after(lambda: rewrite(log, DATA + b"fourth\n"), log)
    check_after(lambda: later(log), log)


@pytest.mark.parametrize("data", [DATA.replace(b"first", b"FIRST"), b"a" + DATA, DATA[::-1] + b"more\n"])
def test_a_rewrite_in_place_is_refused(log: Path, data: bytes) -> None:
    with pytest.raises(LedgerError, match="was rewritten while it was read"):
        check_after(lambda: rewrite(log, data), log)


def test_a_truncation_is_refused(log: Path) -> None:
    with pytest.raises(LedgerError, match="while it was read; run the command again"):
        check_after(lambda: rewrite(log, DATA[:-1]), log)


def test_a_replacement_is_refused_even_by_the_same_bytes(log: Path) -> None:
    other = log.with_name("other")
    other.write_bytes(DATA)
    with pytest.raises(LedgerError, match="was replaced while it was read"):
        check_after(lambda: other.replace(log), log)


def test_a_removal_is_refused(log: Path) -> None:
    with pytest.raises(LedgerError, match="was removed while it was read"):
        check_after(log.unlink, log)


def test_a_whole_read_checks_it(log: Path) -> None:
    real = LogFile.check_unchanged

    def tampered(file: LogFile) -> None:
        rewrite(log, b"other\n")
        real(file)

    with patch.object(LogFile, "check_unchanged", tampered), pytest.raises(LedgerError):
        read_log(log)


# --- what is no log file --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match=r"cannot read .*pipe: it is no regular file"):
        open_log(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
def test_a_device_is_refused() -> None:
    with pytest.raises(LedgerError, match="it is no regular file"):
        open_log(Path("/dev/zero"))


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot read .*: it is a folder"):
        open_log(tmp_path)
    with pytest.raises(LedgerError, match=r"cannot read .*missing: no such file or directory"):
        open_log(tmp_path / "missing")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user")
def test_an_unreadable_file_is_refused(log: Path) -> None:
    log.chmod(0)
    with pytest.raises(LedgerError, match="permission denied"):
        open_log(log)


def test_a_small_file_is_read_whole_or_refused(log: Path) -> None:
    assert read_small(log) == DATA
    assert read_small(log.with_name("missing")) is None
    with pytest.raises(LedgerError, match="it is larger than 5 bytes"):
        read_small(log, limit=5)
    with pytest.raises(LedgerError, match="it is a folder"):
        read_small(log.parent)


def test_standard_input_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DATA)))
    with open_log(None) as file:
        assert [line for _, line, _ in file.peek()] == [b"first", b"second", b"third"]
        assert (file.path, file.size) == (None, len(DATA))
        file.check_unchanged()


def test_a_path_is_shown_so_that_it_fools_no_terminal() -> None:
    assert show_path(Path("a b/é.jsonl")) == "a b/é.jsonl"
    assert show_path("a\nb\x1b[31m\u2028") == r"a\nb\x1b[31m\u2028"
    assert show_path(os.fsdecode(b"\xff.jsonl")) == r"\xff.jsonl"


# --- logs found -----------------------------------------------------------------------------------------------------


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(*arguments: Path | str) -> list[Path | None]:
    return find_logs(tuple(map(str, arguments)))


def test_folders_are_searched_for_the_known_names(tmp_path: Path) -> None:
    wanted = [
        tmp_path / ".auto" / "log.jsonl",
        tmp_path / "a" / "autoresearch.jsonl",
        tmp_path / "b" / "autoresearch-results" / "events.jsonl",
        tmp_path / "c" / "events.jsonl",
    ]
    others = [
        *(tmp_path / folder / "autoresearch.jsonl" for folder in (".git", "node_modules/x", ".venv", "a/__pycache__")),
        *(tmp_path / name for name in ("log.jsonl", "d/events.jsonl", "d/other.jsonl", "env/pyvenv.cfg")),
        tmp_path / "env" / "lib" / "autoresearch.jsonl",
    ]
    touch(*wanted, *others, tmp_path / "c" / "run.json")
    assert found(tmp_path) == wanted
    assert found(tmp_path / ".auto") == wanted[:1]
    assert found(tmp_path, tmp_path / "a", wanted[1]) == wanted


def test_a_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    touch(tmp_path / "notes.txt")
    assert found(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]


def test_a_codex_log_has_three_names(tmp_path: Path) -> None:
    folder = tmp_path / "autoresearch-results"
    touch(folder / "events.jsonl", folder / "run.json")
    assert found(folder) == found(folder / "run.json") == found(folder / "events.jsonl") == [folder / "events.jsonl"]


def test_a_run_json_alone_is_refused(tmp_path: Path) -> None:
    touch(tmp_path / "run.json")
    with pytest.raises(LedgerError, match=r"has no events\.jsonl beside it"):
        found(tmp_path / "run.json")


def test_what_holds_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"no log in .*: looked for autoresearch\.jsonl"):
        found(tmp_path)
    with pytest.raises(LedgerError, match=re.escape("missing: no such file or folder")):
        found(tmp_path / "missing")


def test_standard_input_has_a_name_of_its_own(tmp_path: Path) -> None:
    touch(tmp_path / "x.jsonl")
    assert found("-", tmp_path / "x.jsonl", "-") == [None, tmp_path / "x.jsonl"]


def test_links_name_one_log_and_loops_end(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "autoresearch.jsonl")
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a" / "autoresearch.jsonl")
    assert found(tmp_path, tmp_path / "link.jsonl") == [tmp_path / "a" / "autoresearch.jsonl"]
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(LedgerError, match="loop"):
        found(tmp_path / "loop")


def test_the_sessions_log_is_the_first_there_is(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="No active session"):
        session_log(tmp_path)
    for name in ("events.jsonl", "autoresearch-results/events.jsonl", "autoresearch.jsonl", ".auto/log.jsonl"):
        touch(tmp_path / name)
        assert session_log(tmp_path) == tmp_path / name


@pytest.mark.parametrize("size", [0, 10, BLOCK_BYTES, BLOCK_BYTES - 1, 3 * BLOCK_BYTES + 5])
@pytest.mark.parametrize("start", [b"", b"\n", b"a\n" * 50_000])
def test_a_line_without_its_newline_can_be_held_back(start: bytes, size: int, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(start + b"x" * size)
    with open_log(path) as file:
        file.hold_back()
        assert b"".join(block.data for block in file.blocks()) == start
        file.check_unchanged()
