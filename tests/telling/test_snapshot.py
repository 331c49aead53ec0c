"""The two snapshots: what they hold for each protocol, and that nobody ever sees half of one."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.session.files import of_log
from ledger.session.history import read
from ledger.telling.snapshots import refresh, write
from tests.support.cli import HEADER, SAMPLES, SOUND, ledger, lines, log, run

STATE, PAGE = "AUTORESEARCH_STATE.json", "autoresearch-dashboard.md"


def snapshots(path: Path) -> tuple[dict[str, Any], str]:
    write(of_log(path), read(path))
    return json.loads((path.parent / STATE).read_bytes()), (path.parent / PAGE).read_text("utf-8")


def test_state_of_an_autoresearch_log(tmp_path: Path):
    header = HEADER | {"note": "kept as it is"}
    failed = run(3, 0, "crash", asi={"error_details": "boom\x1b"})
    records = [header, run(1, 100), run(2, 90), failed, run(4, 95, "checks_failed"), run(5, 99, "discard")]
    state, page = snapshots(log(tmp_path, lines(*records)))
    assert state["active_config"] == header
    assert state["baseline"] == {"run": 1, "value": 100} and state["best"] == {"run": 2, "value": 90}
    assert state["counts_by_action"] == {"total": 5, "keep": 2, "discard": 1, "crash": 1, "checks_failed": 1}
    assert (state["improvement_pct"], state["streak"], state["next_run"], state["segment"]) == (10.0, 1, 6, 0)
    assert (state["state"], state["verdict"], state["log_errors"]) == ("none", "continue", [])
    first, second = state["latest_errors"]
    assert first == {
        "run": 3, "status": "crash", "description": "idea 3", "at": "2023-11-14T22:13:23.000Z",
        "error_details": "boom\x1b",
    }  # fmt: skip
    assert second["run"] == 4 and "error_details" not in second
    assert state["updated_at"] == "2023-11-14T22:13:25.000Z"
    assert "autoresearch.md" in state["resume_instruction"] and "make run 6" in state["resume_instruction"]
    assert "never read as truth" in state["generated"]
    assert "| **2** | keep | 90 | -10.0% | — | abc1234 | idea 2 |" in page
    assert "- runs: 5 in segment 0: 2 keep, 1 discard, 1 crash, 1 checks_failed\n" in page
    assert f"> {state['resume_instruction']}" in page


def test_only_the_last_five_errors_and_twenty_runs(tmp_path: Path):
    records = [run(1, 100), *(run(number, 0, "crash") for number in range(2, 26))]
    state, page = snapshots(log(tmp_path, lines(HEADER, *records)))
    assert [one["run"] for one in state["latest_errors"]] == [21, 22, 23, 24, 25]
    assert page.count("| crash | — | — |") == 20 and "5 earlier runs left out." in page
    assert state["verdict"] == "wall" and "mark wall" in state["resume_instruction"]


def test_state_of_the_other_protocols(tmp_path: Path):
    shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)
    state, page = snapshots(tmp_path / "csv-reader/autoresearch.jsonl")
    assert state["active_config"]["files_in_scope"] == ["src/csv_reader.py"]
    assert state["baseline"] == {"run": 1, "value": 142.4} and state["best"] == {"run": 11, "value": 102.2}
    counts = {"total": 13, "baseline": 1, "keep": 5, "discard": 6, "crash": 1, "undecided": 0}
    assert state["counts_by_action"] == counts
    assert [one["run"] for one in state["latest_errors"]] == [5]
    assert state["latest_errors"][0]["reason"] == "endless backtracking on an unbalanced quote"
    assert (state["state"], state["verdict"], state["updated_at"]) == (
        "stopped",
        "concluded",
        "2026-05-08T10:39:48.000Z",
    )
    assert "ledger archive" in state["resume_instruction"]
    folder = tmp_path / "table-reader/autoresearch-results"
    state, page = snapshots(folder / "events.jsonl")
    assert state["active_config"] == json.loads((folder / "run.json").read_bytes())
    assert state["counts_by_action"] == {"total": 14, "keep": 8, "discard": 6}
    assert state["baseline"] == {"run": 0, "value": 47} and state["latest_errors"] == []
    assert (state["state"], state["updated_at"]) == ("complete", "2026-05-12T13:10:20.000Z")
    assert "ledger archive" in state["resume_instruction"]
    assert page.startswith("# Read every table of the suite\n")


def test_a_codex_error_is_a_latest_error(tmp_path: Path):
    shutil.copytree(SAMPLES / "table-reader/autoresearch-results", tmp_path / "autoresearch-results")
    path = tmp_path / "autoresearch-results/events.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)[:2]
    error = json.loads(kept[0]) | {
        "seq": 2, "event": "error", "time": "2026-05-12T10:20:00Z", "reason": "timed out", "head": "c0ffee1",
        "metric": 39, "trial_commit": "aaaaaa1", "revert_commit": "c0ffee1", "log": "logs/002.verify.log",
    }  # fmt: skip
    for key in ("verify_log", "guard_log"):
        del error[key]
    path.write_bytes(b"".join(kept) + lines(error))
    state, _ = snapshots(path)
    assert state["latest_errors"] == [
        {
            "status": "error", "description": "timed out", "at": "2026-05-12T10:20:00.000Z",
            "trial_commit": "aaaaaa1", "revert_commit": "c0ffee1", "log": "logs/002.verify.log",
        }
    ]  # fmt: skip
    assert state["log_errors"] == [] and "mark resumed" in state["resume_instruction"]


def test_numbers_are_exact_and_text_is_harmless(tmp_path: Path):
    name = "a | b\n# c <i> \x1b[31m`d`"
    record = b'{"run":1,"commit":"abc1234","metric":9223372036854776001,"status":"keep","description":"x|y\\nz"}'
    path = log(tmp_path, lines(HEADER | {"name": name, "big": 1}, record))
    _, page = snapshots(path)
    text = (tmp_path / STATE).read_text("utf-8")
    assert '"value": 9223372036854776001' in text and "\x1b" not in text
    assert page.splitlines()[0] == "# a \\| b # c \\<i> \\`d\\`"
    assert "| x\\|y z |" in page and "\x1b" not in page


def test_the_same_log_gives_the_same_bytes(tmp_path: Path):
    path = log(tmp_path)
    snapshots(path)
    first = [(tmp_path / name).read_bytes() for name in (STATE, PAGE)]
    time.sleep(0.01)
    snapshots(path)
    assert [(tmp_path / name).read_bytes() for name in (STATE, PAGE)] == first


def test_files_are_replaced_and_never_truncated(tmp_path: Path):
    path = log(tmp_path)
    snapshots(path)
    before = [(tmp_path / name).stat().st_ino for name in (STATE, PAGE)]
    with (tmp_path / STATE).open("rb") as held:  # keeps its number from being given again
        old = held.read()
        path.write_bytes(SOUND + lines(run(4, 80, metrics={"mem": 4})))
        snapshots(path)
        held.seek(0)
        assert held.read() == old
    after = [(tmp_path / name).stat().st_ino for name in (STATE, PAGE)]
    assert before[0] != after[0]
    assert json.loads((tmp_path / STATE).read_bytes())["best"] == {"run": 4, "value": 80}
    assert {one.name for one in tmp_path.iterdir()} == {STATE, PAGE, path.name}


def test_a_place_that_cannot_be_written(tmp_path: Path):
    path = log(tmp_path)
    (tmp_path / STATE).mkdir()
    (tmp_path / STATE / "in the way").touch()
    session, history = of_log(path), read(path)
    with pytest.raises(LedgerError, match=f"cannot write .*{STATE}"):
        write(session, history)
    said = refresh(session, history)
    assert said is not None and "ledger snapshot writes them again" in said
    done = ledger(tmp_path, "snapshot")
    assert done.code == 2 and done.err.startswith("ledger: cannot write ") and "Traceback" not in done.err
    assert not list(tmp_path.glob("*.tmp"))
    (tmp_path / STATE / "in the way").unlink()
    (tmp_path / STATE).rmdir()
    assert refresh(session, history) is None


def test_the_command_names_the_files(tmp_path: Path):
    path = log(tmp_path, SOUND, ".auto/log.jsonl")
    done = ledger(tmp_path, "snapshot")
    assert (done.code, done.out, done.err) == (0, f".auto/{STATE}\n.auto/{PAGE}\n", "")
    assert json.loads((path.parent / STATE).read_bytes())["runs"] == 3
    assert ledger(tmp_path, "snapshot", path).out == done.out
