"""The loop from end to end, in a real repository, with an agent that improves, worsens, crashes, breaks and hangs."""

import json
from pathlib import Path

import pytest

from tests.support.project import NUMBER, Project, best_commit, check_sound, project

AGENT = """
case $LEDGER_RUN in
  %s) number=90; idea=improve ;;
  %s) number=95; idea=worsen ;;
  %s) number=oops; idea=crash ;;
  %s) number=66; idea=break ;;
  %s) number=hang; idea=hang ;;
  *) number=80; idea="improve again" ;;
esac
grep -q "total_ms" "$LEDGER_BRIEF" || exit 9
echo "$number" > src/number.txt
printf '{"description":"%%s","asi":{"hypothesis":"%%s %%s"}}' "$idea" "$idea" "$number" > "$LEDGER_NOTE"
"""


def test_a_loop_of_runs(tmp_path: Path):
    one = project(tmp_path / "work")
    done = one.ledger("loop", "--agent", AGENT % (2, 3, 4, 5, 6), "--max-iterations", "7")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "Status: DONE (max_iterations)"
    runs = one.runs()
    assert [run["status"] for run in runs] == [
        "keep", "keep", "discard", "crash", "checks_failed", "crash", "keep",
    ]  # fmt: skip
    assert [run["run"] for run in runs] == [1, 2, 3, 4, 5, 6, 7]
    assert [run["metric"] for run in runs] == [100, 90, 95, 0, 66, 0, 80]
    assert runs[5]["asi"]["error_details"].startswith("timed out after 2 s")
    assert runs[4]["asi"] == {"hypothesis": "break 66", "error_details": "checks: exited with status 1"}
    assert [bool(run["commit"]) for run in runs] == [True, True, False, False, False, False, True]
    assert one.records()[-1]["state"] == "done"
    story = one.git("log", "--format=%s").splitlines()
    assert story == [
        "experiment: improve again",
        'Revert "experiment: hang"', "experiment: hang",
        'Revert "experiment: break"', "experiment: break",
        'Revert "experiment: crash"', "experiment: crash",
        'Revert "experiment: worsen"', "experiment: worsen",
        "experiment: improve",
        "autoresearch: add the measuring harness",
        "autoresearch: add session files to gitignore",
        "first",
    ]  # fmt: skip
    _stands_at_its_best(one, "80")


def test_a_loop_of_results_and_decisions(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol", "--min-effect", "6", "--max-iterations", "7")
    done = one.ledger("loop", "--agent", AGENT % (2, 3, 4, 5, 6))
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "Status: DONE (max_iterations)"
    actions = [record["action"] for record in one.records() if record["type"] == "decision"]
    assert actions == ["baseline", "keep", "discard", "discard", "discard", "discard", "keep"]
    assert [run["value"] for run in one.runs()] == [100, 90, 95, 0, 66, 0, 80]
    assert [run["status"] for run in one.runs()] == ["measured"] * 3 + ["crash", "measured", "crash", "measured"]
    _stands_at_its_best(one, "80")


def test_an_effect_under_the_threshold_is_discarded(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol", "--min-effect", "6", "--noise-floor", "11")
    assert one.ledger("run", "--baseline").code == 0
    one.write(90)
    done = one.ledger("run", "--description", "ten percent")
    assert (done.code, done.out[:16]) == (0, "Run #2: discard "), done.err
    assert one.records()[-1]["reason"] == "10 % better than the best, 100, which is under 11 %"
    one.write(89)
    assert one.ledger("run", "--description", "eleven percent").out.startswith("Run #3: keep ")
    check_sound(one)


def test_a_codex_loop_stops_at_an_error_and_is_resumed(tmp_path: Path):
    one = project(tmp_path / "work", "codex", "--max-iterations", "4")
    agent = AGENT % (1, 2, 3, 4, 99)
    done = one.ledger("loop", "--agent", agent)
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: ERROR"), done.err
    error = one.records()[-1]
    assert (error["event"], error["reason"]) == ("error", "exited with status 3")
    assert error["head"] == error["revert_commit"] == one.git("rev-parse", "HEAD")
    assert one.git("rev-parse", error["trial_commit"]) == error["trial_commit"]
    assert one.number() == "90"

    refused = one.ledger("run", "--description", "on and on")
    assert refused.code == 2 and "ledger mark resumed" in refused.err
    assert one.ledger("mark", "resumed", "--reason", "the crash was a bad idea").code == 0
    done = one.ledger("loop", "--resume", "--agent", AGENT % (97, 98, 99, 3, 96))
    assert done.code == 0, done.err
    events = [record["event"] for record in one.records()]
    assert events[:4] == ["baseline", "iteration", "iteration", "error"]
    assert events[4:] == ["resumed", "iteration", "iteration", "stopped"]
    assert done.out.splitlines()[-1] == "Status: DONE (max_iterations)"
    folder = one.log.parent / "logs"
    assert (folder / "006.verify.log").read_text() == "80\n" and (folder / "006.guard.log").read_text() == ""
    assert [record["verify_log"] for record in one.runs()] == [f"logs/{place:03}.verify.log" for place in (1, 2, 5, 6)]
    assert error["log"] == "logs/003.verify.log" and (folder / "003.verify.log").exists()
    _stands_at_its_best(one, "80")


def test_a_codex_run_completes_at_its_target(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    one.write(9)
    done = one.ledger("run", "--description", "all at once")
    assert done.code == 0, done.err
    last = one.records()[-1]
    assert (last["event"], last["reason"], last["metric"]) == ("complete", "target met: total_ms 9 <= 10", 9)
    check_sound(one)
    one.write(8)
    refused = one.ledger("run", "--description", "more")
    assert refused.code == 2 and "ledger archive" in refused.err
    one.git("checkout", "--", NUMBER)
    assert one.ledger("archive").code == 0
    assert not one.log.exists() and one.changed() == ""


def test_a_better_codex_trial_that_fails_its_guard_is_discarded(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    one.write(66)
    done = one.ledger("run", "--description", "break it")
    assert done.code == 0 and done.out.startswith("Run #1: discard "), done.err
    last = one.records()[-1]
    assert (last["guard"], last["guard_log"], last["retained_metric"]) == ("fail", "logs/001.guard.log", 100)
    check_sound(one)


@pytest.mark.parametrize("layout", ["auto", "flat"])
def test_each_layout_keeps_its_files_through_reverts(tmp_path: Path, layout: str):
    one = project(tmp_path / "work", layout=layout)
    prompt = one.log.with_name("prompt.md" if layout == "auto" else "autoresearch.md")
    assert one.ledger("run", "--baseline").code == 0
    prompt.write_text(prompt.read_text() + "\nlearned: nothing yet\n")
    one.write(120)
    done = one.ledger("run", "--description", "worse")
    assert done.code == 0 and done.out.startswith("Run #2: discard"), done.err
    assert prompt.read_text().endswith("learned: nothing yet\n")
    assert one.number() == "100"
    check_sound(one)


def test_steering_and_hooks_reach_the_next_brief(tmp_path: Path):
    one = project(tmp_path / "work")
    for stage in ("before", "after"):
        hook = one.folder / ".auto" / "hooks" / f"{stage}.sh"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho 'the {stage}-hook says hello'\necho oh >&2\nexit 3\n")
        hook.chmod(0o755)
    assert one.ledger("steer", "try the cache").code == 0
    agent = (
        'cp "$LEDGER_BRIEF" "$HOME/brief-$LEDGER_RUN.md"; cat > "$HOME/stdin.md"; echo 9$LEDGER_RUN > src/number.txt'
    )
    done = one.ledger("loop", "--agent", agent, "--max-iterations", "2")
    assert done.code == 0, done.err
    brief = (one.home / "brief-2.md").read_text()
    head = brief[: brief.index("Where the session stands")]
    for said in ("try the cache", "the before-hook says hello", "the after-hook says hello", "oh"):
        assert said in head
    assert (one.home / "stdin.md").read_text() == brief
    hooks = [(record["stage"], record["exit_code"]) for record in one.records() if record.get("type") == "hook"]
    assert hooks == [("after", 3), ("before", 3), ("after", 3)]
    assert one.runs()[-1]["description"] == "change src/number.txt"


def test_the_wall_ends_a_loop(tmp_path: Path):
    one = project(tmp_path / "work")
    done = one.ledger("loop", "--agent", "echo $((100 + LEDGER_RUN)) > src/number.txt")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "Status: WALL"
    assert one.records()[-1]["state"] == "wall" and len(one.runs()) == 10
    assert one.number() == "100"


def test_the_backstop_asks_a_person_once(tmp_path: Path):
    one = project(tmp_path / "work")
    log = one.log.read_bytes()
    for number in range(1, 201):
        run = {"run": number, "commit": "abc1234", "metric": 100 - number / 10, "metrics": {}, "status": "keep",
               "description": "x", "timestamp": 1_700_000_000_000 + number}  # fmt: skip
        log += json.dumps(run).encode() + b"\n"
    one.log.write_bytes(log)
    refused = one.ledger("run", "--description", "one more")
    assert refused.code == 2 and "ledger mark running --backstop-ack 200" in refused.err
    done = one.ledger("loop", "--agent", "true")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: BACKSTOP"), done.err
    assert one.records()[-1]["backstop_ack"] == 200
    assert "VERDICT=continue" in one.ledger("verdict").out


def test_minutes_end_a_loop(tmp_path: Path):
    one = project(tmp_path / "work")
    done = one.ledger("loop", "--agent", "echo 9 > src/number.txt", "--minutes", "0")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_minutes)"), done.err
    assert one.records()[-1]["state"] == "done"


def _stands_at_its_best(one: Project, number: str) -> None:
    check_sound(one)
    assert one.number() == number
    best = best_commit(one)
    assert one.git("rev-parse", f"{best}^{{tree}}") == one.git("rev-parse", "HEAD^{tree}")
