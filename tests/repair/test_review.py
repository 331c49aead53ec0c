"""`ledger review` as a process: what is accepted stops nothing, until its line changes."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.cli import BAD, HEADER, ROOT, Result, ledger, lines, log, run

NAME = "autoresearch.jsonl"
SIDE = f"{NAME}.accepted.jsonl"
TWO = lines(HEADER, run(1, 100), b'{"run":2,"metric":NaN}', run(3, 90), b'{"run":4,"metric":NaN}')


def accept(folder: Path, *codes: str, reason: str = "the run is lost") -> Result:
    return ledger(folder, "review", "accept", NAME, *codes, "--reason", reason)


def test_an_accepted_finding_is_shown_and_stops_nothing(tmp_path: Path):
    log(tmp_path, BAD)
    assert accept(tmp_path, "l106").out == f"accepted 1 finding of {NAME}; commit {SIDE} with it\n"
    shown = f"{NAME}:3:19: L106 NaN is no JSON number (accepted: the run is lost)\n"
    summary = "1 log, 1 sound; 0 errors, 0 warnings, 0 info, 1 accepted\n"
    assert ledger(tmp_path, "check", NAME) == (0, shown + summary, "")
    found = json.loads(ledger(tmp_path, "check", "--format", "json", NAME).out)["logs"][0]
    assert found["ok"] is True and [one["accepted"] for one in found["diagnostics"]] == [True]
    assert ledger(tmp_path, "check", "--format", "github", NAME).out.startswith("::notice file=")
    done = ledger(tmp_path, "verdict", NAME)
    assert done.code == 0 and done.err == ""
    assert ledger(tmp_path, "repair", NAME) == (0, f"{NAME}: nothing to repair\n", "")


def test_the_mirror_takes_the_log_and_what_is_appended(tmp_path: Path):
    path = log(tmp_path, BAD)
    assert ledger(tmp_path, "sync", NAME).code == 1
    accept(tmp_path, "L106")
    done = ledger(tmp_path, "sync", NAME)
    assert (done.code, done.err) == (0, "") and "quarantined" not in done.out
    path.write_bytes(BAD + lines(run(3, 80)))
    done = ledger(tmp_path, "sync", NAME)
    assert (done.code, done.err) == (0, "") and done.out.startswith("grown           4 lines       2 runs")
    assert "quarantined" not in ledger(tmp_path, "sync", NAME).out
    assert ledger(tmp_path, "verify", NAME).code == 0
    assert ledger(tmp_path, "export", "--format", "jsonl", NAME, "-o", "-").out.encode() == path.read_bytes()
    path.write_bytes(path.read_bytes() + b"garbage\n")
    done = ledger(tmp_path, "sync", NAME)
    assert done.code == 1 and "L103" in done.err and "L106" not in done.err
    ledger(tmp_path, "review", "drop", NAME, "L106")
    path.write_bytes(BAD + lines(run(3, 80), run(4, 85)))
    done = ledger(tmp_path, "sync", NAME)
    assert done.code == 1 and "mirrored lines have errors already" in done.err


def test_the_loop_may_append(tmp_path: Path):
    path = log(tmp_path, BAD)
    call = ("log", "--log", NAME, "--metric", "80", "--status", "discard", "--description", "d")
    assert ledger(tmp_path, *call).code == 2 and path.read_bytes() == BAD
    accept(tmp_path, "L106")
    assert ledger(tmp_path, *call).code == 0 and path.read_bytes().startswith(BAD + b'{"run":2,')


def test_a_decision_is_bound_to_its_line(tmp_path: Path):
    path = log(tmp_path, TWO)
    assert accept(tmp_path, "L106@3").code == 0
    done = ledger(tmp_path, "check", NAME)
    assert done.code == 1 and f"{NAME}:5:19: L106 NaN is no JSON number\n" in done.out
    split = TWO.splitlines(keepends=True)
    path.write_bytes(b"".join((split[0], b"\n", split[1], split[2], split[3])))  # it moves with its content
    assert ledger(tmp_path, "check", NAME).code == 0
    path.write_bytes(b"".join((*split[:2], split[2].replace(b"NaN", b'NaN,"x":1'), split[3])))
    assert ledger(tmp_path, "check", NAME).code == 1


def test_list_and_drop(tmp_path: Path):
    path = log(tmp_path, TWO)
    accept(tmp_path, "L106@3", reason="first\x1b[31m")
    accept(tmp_path, "L106", reason="second")
    shown = ledger(tmp_path, "review", "list").out
    assert [line.split(" (")[0] for line in shown.splitlines()] == [f"{NAME}:3: L106 first", f"{NAME}:5: L106 second"]
    assert ledger(tmp_path, "review", "drop", NAME, "L106@5").code == 0
    path.write_bytes(lines(HEADER))
    rows = json.loads(ledger(tmp_path, "review", "list", "--format", "json", NAME).out)
    assert [(row["code"], row["line"], row["found"]) for row in rows] == [("L106", 3, False)]
    assert "no longer found" in ledger(tmp_path, "review", "list", NAME).out
    assert ledger(tmp_path, "review", "drop", NAME, "L106").code == 0
    assert ledger(tmp_path, "review", "drop", NAME, "L106").code == 2
    assert ledger(tmp_path, "review", "list", NAME) == (0, "", "")
    assert [json.loads(line)["action"] for line in (tmp_path / SIDE).read_bytes().splitlines()] == [
        "accept", "accept", "drop", "drop",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "reason"),
    [(["L107"], "x"), (["L106@4"], "x"), (["L106@"], "x"), (["L106@x"], "x"), (["X1"], "x"), (["L106"], " "),
     (["L106", "L107"], "x")],
)  # fmt: skip
def test_what_cannot_be_accepted(codes: list[str], reason: str, tmp_path: Path):
    log(tmp_path, BAD)
    done = accept(tmp_path, *codes, reason=reason)
    assert done.code == 2 and not (tmp_path / SIDE).exists() and "Traceback" not in done.err


def test_a_torn_tail_is_never_accepted(tmp_path: Path):
    log(tmp_path, BAD[:-1])
    done = accept(tmp_path, "L115")
    assert done.code == 2 and "cannot be accepted" in done.err


def test_findings_about_the_file_as_a_whole_and_about_run_json(tmp_path: Path):
    log(tmp_path, b"")
    assert ledger(tmp_path, "check", NAME).code == 1
    assert accept(tmp_path, "S400").code == 0 and ledger(tmp_path, "check", NAME).code == 0
    log(tmp_path, b"x\n")
    assert ledger(tmp_path, "check", NAME).code == 1
    folder = ROOT / "tests" / "rules" / "L114" / "good"
    path = log(tmp_path, (folder / "events.jsonl").read_bytes(), "c/events.jsonl")
    config = json.loads((folder / "run.json").read_bytes())
    path.with_name("run.json").write_text(json.dumps({**config, "more": 1}))
    assert ledger(tmp_path, "check", path).code == 1
    assert ledger(tmp_path, "review", "accept", path, "R207", "--reason", "x").code == 0
    assert ledger(tmp_path, "check", path).code == 0
    path.with_name("run.json").write_text(json.dumps({**config, "more": 2}))
    assert ledger(tmp_path, "check", path).code == 1


@pytest.mark.parametrize(
    "data",
    [b"{", b"[]\n", b"\xff\n", b"<<<<<<< HEAD\n", b'{"action":"accept"}\n', b'{"action":"x","code":"L106"}\n',
     b'{"action":"accept","code":"L106","sha256":"x","reason":""}\n',
     b'{"action":"accept","code":5,"sha256":"x","reason":"r"}\n',
     b'{"action":"accept","code":"L106","sha256":"x","reason":"r","line":"1"}\n'],
)  # fmt: skip
def test_decisions_that_cannot_be_read_are_not_skipped(data: bytes, tmp_path: Path):
    log(tmp_path, BAD)
    (tmp_path / SIDE).write_bytes(b"\n" + data)
    for call in (("check", NAME), ("sync", NAME), ("review", "list", NAME), ("repair", NAME)):
        done = ledger(tmp_path, *call)
        assert done.code == 2 and f"{SIDE}:2 is no " in done.err and "Traceback" not in done.err


def test_a_log_without_findings_reads_no_decisions(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 100)))
    (tmp_path / SIDE).write_bytes(b"garbage")
    assert ledger(tmp_path, "check", NAME).code == 0


def test_check_tells_of_fixes(tmp_path: Path):
    log(tmp_path, lines(HEADER, b"", {**run(1, 100), "status": "kept"}, b"garbage"))
    done = ledger(tmp_path, "check", NAME)
    assert done.code == 1
    assert done.out.endswith("\n2 findings can be repaired, 1 safely; ledger repair shows how\n")
    found = json.loads(ledger(tmp_path, "check", "--format", "json", NAME).out)["logs"][0]["diagnostics"]
    assert [one["fix"] for one in found] == [
        {"applicability": "safe", "description": "remove the blank line"},
        {"applicability": "unsafe", "description": "write 'keep' for 'kept'"},
        None,
    ]
    shown = ledger(tmp_path, "check", "--format", "github", NAME).out
    assert "not 'kept' (unsafe fix: write 'keep' for 'kept')\n" in shown


def test_the_hook_for_pre_commit_checks_the_logs_that_it_names(tmp_path: Path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["entry"].split()[0] == "ledger" and hook["language"] == "python"
    log(tmp_path, BAD)
    log(tmp_path, BAD, "x/.auto/log.jsonl")
    log(tmp_path, b"", "x/.auto/log.jsonl.accepted.jsonl")
    log(tmp_path, b"", "x/.auto/log.jsonl.repairs.jsonl")
    log(tmp_path, b"", "x/notautoresearch.jsonl.accepted.jsonl")
    log(tmp_path, b"", "x/other.jsonl")
    names = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jsonl")]
    grep = subprocess.run(
        ["grep", "-E", hook["files"]], input="\n".join(names), capture_output=True, text=True, check=True
    )
    chosen = sorted(grep.stdout.split())
    assert chosen == [NAME, "x/.auto/log.jsonl", "x/.auto/log.jsonl.accepted.jsonl"]
    call = hook["entry"].split()[1:]
    assert ledger(tmp_path, *call, *chosen).out.count("L106") == 2
    assert ledger(tmp_path, *call, chosen[2]).code == 1, "a decision that was taken back"
    assert ledger(tmp_path, "review", "accept", chosen[1], "L106", "--reason", "lost").code == 0
    assert ledger(tmp_path, *call, chosen[2]).out.endswith("1 log, 1 sound; 0 errors, 0 warnings, 0 info, 1 accepted\n")
    (tmp_path / "x/alone.jsonl.accepted.jsonl").write_bytes(BAD)
    assert ledger(tmp_path, *call, "x/alone.jsonl.accepted.jsonl").code == 1, "it is a log, whatever it is called"
