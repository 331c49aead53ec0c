"""Every ending of a loop: its exit status, its last line, its marker, by limits from every place."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.cli import environment
from tests.support.project import IDENTITY, NUMBER, Project, check_sound, project
from tests.support.waiting import LEDGER

BETTER = f"echo $((100 - LEDGER_RUN)) > {NUMBER}"


def ends(one: Project, status: str, *arguments: str, code: int = 0) -> None:
    done = one.ledger("loop", *arguments)
    assert (done.code, done.out.splitlines()[-1]) == (code, f"Status: {status}"), done.err
    assert "Traceback" not in done.err


def test_a_limit_of_the_settings_and_an_option_above_it(tmp_path: Path):
    one = project(tmp_path / "work", "autoresearch", "--max-iterations", "2")
    ends(one, "DONE (max_iterations)", "--agent", BETTER)
    assert one.records()[-1]["state"] == "done" and one.records()[-1]["reason"] == "max_iterations"
    assert one.ledger("mark", "running", "--restart").code == 0
    ends(one, "DONE (max_iterations)", "--agent", BETTER, "--max-iterations", "3")
    assert [run["run"] for run in one.runs()] == [1, 2, 3]
    check_sound(one)


def test_an_option_of_none_takes_a_limit_of_the_settings_away(tmp_path: Path):
    one = project(tmp_path / "work", "autoresearch", "--max-iterations", "1")
    agent = f"{BETTER}; [ $LEDGER_RUN != 3 ] || {LEDGER} stop"
    ends(one, "STOPPED", "--agent", agent, "--max-iterations", "0")
    assert [run["run"] for run in one.runs()] == [1, 2, 3]
    assert one.ledger("verdict").out.endswith("VERDICT=max_iterations\n")


def test_the_minutes_of_a_state_protocol_header(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol", "--max-minutes", "5")
    assert one.ledger("run", "--baseline").code == 0
    ago = (datetime.now(UTC) - timedelta(minutes=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
    header, *rest = one.log.read_bytes().splitlines(keepends=True)
    moved = {**json.loads(header), "created_at": ago}
    one.log.write_bytes(json.dumps(moved).encode() + b"\n" + b"".join(rest))
    before = one.log.read_bytes()
    ends(one, "DONE (max_minutes)", "--agent", BETTER)
    assert one.log.read_bytes() == before, "the verdict follows from the records"
    one.write(90)
    refused = one.ledger("run", "--description", "late")
    assert refused.code == 2 and "the time is up" in refused.err


def test_a_state_protocol_limit_by_option_concludes_nothing(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol")
    ends(one, "DONE (max_iterations)", "--agent", BETTER, "--max-iterations", "2")
    assert one.records()[-1]["action"] == "keep"
    ends(one, "DONE (max_iterations)", "--agent", BETTER, "--max-iterations", "3")
    check_sound(one)


def test_a_decision_to_stop(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol")
    ends(one, "DONE (stop)", "--agent", f"{BETTER}; {LEDGER} decide 1 stop --reason enough")
    refused = one.ledger("loop", "--agent", BETTER)
    assert refused.code == 2 and "for good" in refused.err


@pytest.mark.parametrize(("limit", "status", "reason"), [
    (("--max-iterations", "2"), "DONE (max_iterations)", "max_iterations: 2 by option"),
    (("--minutes", "0"), "DONE (max_minutes)", "0 minutes are over"),
])  # fmt: skip
def test_limits_of_a_codex_run_by_option(tmp_path: Path, limit: tuple[str, str], status: str, reason: str):
    one = project(tmp_path / "work", "codex", "--max-iterations", "5")
    ends(one, status, "--agent", BETTER, *limit)
    last = one.records()[-1]
    assert (last["event"], last["reason"], last["head"]) == ("stopped", reason, one.git("rev-parse", "HEAD"))
    assert len(one.runs()) == (2 if "2" in limit else 0)
    check_sound(one)
    refused = one.ledger("loop", "--agent", BETTER)
    assert refused.code == 2 and "ledger mark resumed --reason TEXT" in refused.err
    assert one.ledger("mark", "resumed", "--reason", "more").code == 0
    ends(one, "DONE (max_iterations)", "--agent", f"echo $((97 - LEDGER_RUN)) > {NUMBER}")
    check_sound(one)


def test_a_target_that_is_met(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    ends(one, "DONE (complete)", "--agent", f"echo 9 > {NUMBER}")
    refused = one.ledger("loop", "--agent", BETTER)
    assert refused.code == 2 and "ledger archive" in refused.err
    check_sound(one)


def test_a_baseline_that_fails_ends_the_loop(tmp_path: Path):
    one = project(tmp_path / "work")
    one.write(66)
    one.git("commit", "--quiet", "-am", "broken")
    done = one.ledger("loop", "--agent", f"touch $HOME/called; {BETTER}")
    assert done.code == 2 and "the unchanged tree could not be measured (checks_failed)" in done.err, done
    assert not (one.home / "called").exists()
    assert [run["status"] for run in one.runs()] == ["checks_failed"]


def test_nobody_who_reads_the_output_ends_no_loop(tmp_path: Path):
    one = project(tmp_path / "work")
    words = [sys.executable, "-m", "ledger", "loop", "--agent", BETTER, "--max-iterations", "3"]
    env = {**environment(one.home), **IDENTITY}
    loop = subprocess.Popen(words, cwd=one.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert loop.stdout is not None
    loop.stdout.close()
    _, err = loop.communicate(timeout=30)
    assert (loop.returncode, b"Traceback" in err) == (0, False), err
    assert [record.get("run", record.get("state")) for record in one.records()[-2:]] == [3, "done"]
    check_sound(one)


def test_cancel_tells_what_came_of_it(tmp_path: Path):
    one = project(tmp_path / "work")
    ends(one, "STOPPED", "--agent", f"{BETTER}; {LEDGER} stop")
    done = one.ledger("cancel")
    assert done.code == 0 and done.out.startswith("speed: 2 runs, 2 kept\nbest total_ms: 98 ms (run 2), 2.0% better")
    assert one.records()[-1]["state"] == "cancelled" and one.number() == "98"
    again = one.ledger("cancel")
    assert again.code == 2 and "the session is concluded (cancelled)" in again.err
    check_sound(one)
