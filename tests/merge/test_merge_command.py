"""`ledger merge` at the command line: what it writes where, what it refuses, and that nothing is written then."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.cli import BAD, HEADER, ROOT, Result, ledger, lines, log
from tests.support.damaged import CONFIG, HISTORY
from tests.support.sides import STATE, at, decision, result

START = lines(HEADER, at(1, 1), at(2, 2))
OURS, THEIRS = START + lines(at(3, 10), at(4, 11)), START + lines(at(3, 20, description="x"))
BOTH = OURS + lines(at(5, 20, description="x"))
POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, links and modes are other ones there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log(tmp_path, OURS, "a.jsonl")
    log(tmp_path, THEIRS, "b.jsonl")
    return tmp_path


def refused(folder: Path, *arguments: object, code: int = 1) -> Result:
    """Hold a merge to be refused in words, with nothing written anywhere."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = ledger(folder, "merge", *arguments)
    assert (done.code, done.out) == (code, ""), done
    assert done.err and "Traceback" not in done.err and "\x1b" not in done.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return done


def test_the_merged_log_is_written_and_what_was_renumbered_is_told(folder: Path) -> None:
    done = ledger(folder, "merge", "a.jsonl", "b.jsonl", "-o", "sub/m.jsonl")
    assert done == (0, "", "renumbered runs of b.jsonl: 3 to 5\n")
    assert (folder / "sub/m.jsonl").read_bytes() == BOTH
    assert ledger(folder, "check", "sub/m.jsonl").code == 0
    assert (folder / "a.jsonl").read_bytes() == OURS and (folder / "b.jsonl").read_bytes() == THEIRS
    for place in ((), ("-o", "-")):
        done = ledger(folder, "merge", "a.jsonl", "b.jsonl", *place)
        assert (done.code, done.out.encode()) == (0, BOTH)
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl", "b.jsonl", "sub"]


def test_folders_stand_for_their_log(tmp_path: Path) -> None:
    log(tmp_path, OURS, "one/autoresearch.jsonl")
    log(tmp_path, THEIRS, "two/.auto/log.jsonl")
    assert ledger(tmp_path, "merge", "one", "two").out.encode() == BOTH


def test_what_is_told_of_longer_logs(tmp_path: Path) -> None:
    start = lines(HEADER, at(1, 1))
    log(tmp_path, start + lines(*(at(number, 10 * number) for number in range(2, 40))), "a.jsonl")
    log(tmp_path, start + lines(*(at(number, 10 * number + 5, metrics={"m": 1}) for number in range(2, 40))), "b.jsonl")
    said = ledger(tmp_path, "merge", "a.jsonl", "b.jsonl", "-o", "m.jsonl").err.splitlines()
    assert said[0].startswith("renumbered runs of a.jsonl: 3 to 4, 4 to 6, ") and said[0].endswith(", and 25 more")
    assert said[1].startswith("renumbered runs of b.jsonl: 2 to 3, ")
    assert said[2:] == [
        "note: among each other's records there are findings that neither log had: S408 (37); see ledger check"
    ]
    log(tmp_path, start + lines(at(2, 10)), "c.jsonl")
    log(tmp_path, start + lines(at(2, 5), at(3, 10, description="idea 2")), "d.jsonl")
    done = ledger(tmp_path, "merge", "c.jsonl", "d.jsonl")
    assert done.err == "1 record behind the common beginning in both logs, and once in the merged one\n"


@POSIX
def test_a_file_that_is_there_is_replaced_and_keeps_its_mode(folder: Path) -> None:
    out = log(folder, b"old", "m.jsonl")
    out.chmod(0o640)
    assert ledger(folder, "merge", "a.jsonl", "b.jsonl", "-o", out).code == 0
    assert (out.read_bytes(), out.stat().st_mode & 0o777) == (BOTH, 0o640)


@POSIX
@pytest.mark.parametrize("name", ["a.jsonl", "b.jsonl", "./b.jsonl", "soft", "hard"])
def test_no_log_that_is_read_is_replaced(name: str, folder: Path) -> None:
    (folder / "soft").symlink_to("a.jsonl")
    os.link(folder / "b.jsonl", folder / "hard")
    assert "replaces no log it reads" in refused(folder, "a.jsonl", "b.jsonl", "-o", name, code=2).err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "name two logs"),
        (("a.jsonl",), "name two logs"),
        (("a.jsonl", "b.jsonl", "a.jsonl"), "name two logs"),
        (("--driver", "a.jsonl", "b.jsonl"), "takes %O %A %B"),
        (("--driver", "a.jsonl", "a.jsonl", "b.jsonl", "-o", "m"), "takes %O %A %B"),
        (("a.jsonl", "none.jsonl"), "no such file"),
        (("a.jsonl", "-"), "give both logs a name"),
        (("a.jsonl", "."), "no log in"),
        (("--driver", "none", "a.jsonl", "b.jsonl"), "no such file"),
        (("a.jsonl", "b.jsonl", "-o", "a.jsonl/x"), "what should be its folder is a file"),
    ],
)
def test_usage(arguments: tuple[str, ...], reason: str, folder: Path) -> None:
    assert reason in refused(folder, *arguments, code=2).err


def test_a_log_with_errors_is_refused(folder: Path) -> None:
    log(folder, BAD, "bad.jsonl")
    done = refused(folder, "bad.jsonl", "a.jsonl", "-o", "m.jsonl")
    assert done.err.splitlines() == [
        "bad.jsonl:3:19: L106 NaN is no JSON number",
        "refused: bad.jsonl has errors; run ledger repair on it first, nothing was written",
    ]
    refused(folder, "a.jsonl", "bad.jsonl")
    refused(folder, "--driver", "b.jsonl", "a.jsonl", "bad.jsonl")


HOSTILE = [
    b"", b"\n", b"\0" * 5000, b"\xff\xfe", b"[]\n", b"null", b"{}\n", b'{"type":"config"}\n', b"[" * 100_000,
    START + b'{"run":3', START + b'{"run":3e0,"metric":1,"status":"keep"}\n', b"\xef\xbb\xbf" + START,
    START + b"<<<<<<< HEAD\n", START + b'{"run":3,"run":4,"metric":1,"status":"keep"}\n', lines({"iter": 0}),
    START.replace(b"\n", b"\r"), START.replace(b'"name":"speed"', b'"name":"\\ud800"'),
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_sound_log_is_refused(data: bytes, folder: Path) -> None:
    log(folder, data, "odd.jsonl")
    refused(folder, "a.jsonl", "odd.jsonl", "-o", "m.jsonl")
    refused(folder, "--driver", "odd.jsonl", "odd.jsonl", "a.jsonl")


@POSIX
def test_pipes_devices_and_loops_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    for name in ("pipe", "/dev/null", "loop"):
        assert refused(folder, "a.jsonl", name, code=2).err.startswith("ledger: ")


def test_numbers_past_64_bits_and_odd_names(tmp_path: Path) -> None:
    big = 2**70
    start = lines(HEADER, at(big, 1))
    ours, theirs = start + lines(at(big + 1, 2)), start + lines(at(big + 1, 3, description="\x1b[31m"))
    log(tmp_path, ours, "new\nline \x1b[31m.jsonl")
    log(tmp_path, theirs, "b.jsonl")
    done = ledger(tmp_path, "merge", "b.jsonl", "new\nline \x1b[31m.jsonl", "-o", "m.jsonl")
    assert done == (0, "", f"renumbered runs of b.jsonl: {big + 1} to {big + 2}\n")
    assert (tmp_path / "m.jsonl").read_bytes() == ours + theirs[len(start) :].replace(
        b"%d" % (big + 1), b"%d" % (big + 2)
    )


def test_a_conflict_says_why(folder: Path) -> None:
    start = lines(STATE, result(1, 0))
    log(folder, start + lines(decision(1, 10)), "s.jsonl")
    log(folder, start + lines(decision(1, 20, "discard")), "t.jsonl")
    assert refused(folder, "s.jsonl", "t.jsonl", "-o", "m.jsonl").err == (
        "conflict: line 3 of t.jsonl would be found wrong among the other's records: S413 the decision replaces the"
        " earlier 'keep' of run 1; nothing was written\n"
    )
    assert "two protocols" in refused(folder, "s.jsonl", "a.jsonl").err
    log(folder, OURS.replace(b'"speed"', b'"\\u001b[31mx"'), "o.jsonl")
    assert "different sessions" in refused(folder, "o.jsonl", "a.jsonl").err


def history(folder: Path, name: str, records: int, **changed: object) -> Path:
    """Write so many records of a codex history, and its run.json."""
    path = log(folder, b"".join(HISTORY.splitlines(keepends=True)[:records]), f"{name}/events.jsonl")
    path.with_name("run.json").write_text(json.dumps({**CONFIG, **changed}))
    return path


def test_of_codex_histories_one_must_continue_the_other(tmp_path: Path) -> None:
    whole, early = history(tmp_path, "whole", 5), history(tmp_path, "early", 3)
    for pair in ((whole, early), (early, whole), ("whole", "early"), (whole, whole)):
        assert ledger(tmp_path, "merge", *pair).out.encode() == HISTORY
    assert ledger(tmp_path, "merge", "--driver", early, early, whole).code == 0
    assert early.read_bytes() == HISTORY
    apart = history(tmp_path, "apart", 3)
    apart.write_bytes(apart.read_bytes().replace(b'"description":"change"', b'"description":"other"'))
    assert "they differ from line 2 on" in refused(tmp_path, apart, whole, "-o", "m.jsonl").err
    assert "run.json differ" in refused(tmp_path, history(tmp_path, "goal", 3, goal="another"), whole).err
    (tmp_path / "goal/run.json").unlink()
    assert "E330" in refused(tmp_path, "goal/events.jsonl", whole).err
    log(tmp_path, b"{}", "run.json")  # whatever lies beside what git hands out
    alone = shutil.copy(apart, tmp_path / "ours")
    assert "they differ" in refused(tmp_path, "--driver", early, alone, whole).err


def test_the_samples_merge_with_themselves(tmp_path: Path) -> None:
    for path in (*sorted(ROOT.glob("tests/logs/*.jsonl")), *sorted(ROOT.glob("samples/*/*.jsonl"))):
        (tmp_path / "m.jsonl").unlink(missing_ok=True)
        done = ledger(tmp_path, "merge", path, path, "-o", "m.jsonl")
        if done.code == 0:
            assert (tmp_path / "m.jsonl").read_bytes() == path.read_bytes() and done.err == ""
        else:
            assert "has errors; run ledger repair on it first" in done.err


def test_a_decision_on_a_line_that_is_renumbered_ends_aloud(tmp_path: Path) -> None:
    start = lines(HEADER, at(1, 1))
    log(tmp_path, start + lines(at(2, 10)), "a.jsonl")
    log(tmp_path, start + lines(at(2, 20, commit="long" * 9), at(3, 30)), "b.jsonl")
    accepted = ledger(tmp_path, "review", "accept", "b.jsonl", "R215@3", "--reason", "a long one")
    assert accepted.code == 0, accepted
    done = ledger(tmp_path, "merge", "a.jsonl", "b.jsonl", "-o", "m.jsonl")
    said = "warning: R215 was accepted of line 3 of b.jsonl, which is another one now, line 4; see ledger check, and"
    assert done.code == 0 and said in done.err
