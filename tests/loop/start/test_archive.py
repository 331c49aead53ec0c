"""`ledger archive`: what moves, what stays, what is refused, and what a stop half way leaves."""

import json
from pathlib import Path

import pytest

from tests.support.cli import ledger
from tests.support.repos import git, repository, session, write

SPEED = ("init", "speed", "--metric", "total_ms", "--direction", "lower")
CODEX = ("init", "errors", "--metric", "errors", "--direction", "lower", "--dialect", "codex", "--command", "echo 5",
         "--scope", "src", "--target")  # fmt: skip


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def codex(place: Path, target: str = "5") -> None:
    done = session(place, *CODEX, target)
    assert done.code == 0, done.err


def test_a_session_that_goes_on_stays(tmp_path):
    session(tmp_path, *SPEED)
    done = ledger(tmp_path, "archive")
    assert (done.code, done.out) == (2, "") and "ledger mark done" in done.err
    assert not (tmp_path / ".auto/archive").exists()
    done = ledger(tmp_path / ".auto", "archive")
    assert done.code == 2 and "No active session" in done.err


def test_a_concluded_session_moves_and_its_tools_stay(tmp_path):
    session(tmp_path, *SPEED, "--guard", "true", "--max-iterations", "5")
    write(tmp_path, ".auto/hooks/after.sh")
    ledger(tmp_path, "log", "--metric", "5", "--status", "keep", "--description", "baseline", "--commit", "abc1234")
    assert ledger(tmp_path, "cancel").code == 0
    before = (tmp_path / ".auto/log.jsonl").read_bytes()
    done = ledger(tmp_path, "archive")
    assert done.code == 0, done.err
    place = tmp_path / done.out.strip()
    assert place.parent == tmp_path / ".auto/archive" and place.name.endswith("-speed")
    assert (place / "log.jsonl").read_bytes() == before
    assert names(place) >= {
        "log.jsonl",
        "prompt.md",
        "ideas.md",
        "AUTORESEARCH_STATE.json",
        "autoresearch-dashboard.md",
    }
    assert names(tmp_path / ".auto") == {
        "archive",
        "hooks",
        "measure.sh",
        "checks.sh",
        "config.json",
        "log.lock",
        "log.run.lock",
    }
    assert ledger(tmp_path, "check", place / "log.jsonl").code == 0
    assert session(tmp_path, *SPEED).code == 0
    ledger(tmp_path, "cancel")
    assert ledger(tmp_path, "archive").out.strip() == f"{done.out.strip()}-2"


def test_a_flat_session_leaves_other_files_alone(tmp_path):
    place = repository(tmp_path / "repo", "autoresearch.toml", "src/a.py")
    session(place, *SPEED, "--layout", "flat", "--guard", "true")
    write(place, "autoresearch.hooks/after.sh")
    ledger(place, "mark", "done")
    done = ledger(place, "archive", "autoresearch.jsonl")
    assert done.code == 0, done.err
    moved = place / done.out.strip()
    assert moved.parent == place / "autoresearch.archive"
    assert names(moved) >= {"autoresearch.jsonl", "autoresearch.md", "autoresearch.ideas.md"}
    assert {name for name in names(place) if name.startswith("autoresearch")} == {
        "autoresearch.toml", "autoresearch.sh", "autoresearch.checks.sh", "autoresearch.hooks", "autoresearch.archive",
        "autoresearch.lock",
        "autoresearch.run.lock",
    }  # fmt: skip
    assert ledger(place, "check", "autoresearch.archive").code == 0


@pytest.mark.parametrize("layout", ["flat", "auto"])
def test_what_was_decided_and_repaired_goes_with_the_log(layout, tmp_path):
    place = repository(tmp_path / "repo")
    session(place, *SPEED, "--layout", layout)
    log = place / ("autoresearch.jsonl" if layout == "flat" else ".auto/log.jsonl")
    with log.open("ab") as file:
        file.write(b'\n{"run":1,"metric":NaN}\n')
    log.chmod(0o600)
    assert ledger(place, "review", "accept", log, "L106", "--reason", "lost").code == 0
    assert ledger(place, "repair", "--safe", "--yes", log).code == 0
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "--message", "repaired")
    assert ledger(place, "mark", "done").code == 0
    done = ledger(place, "archive")
    assert done.code == 0, done.err
    beside = {name for name in names(place / done.out.strip()) if name.startswith(f"{log.name}.")}
    assert {name.rpartition(".")[0].removeprefix(log.name).lstrip(".") for name in beside} >= {"accepted", "repairs"}
    assert len(beside) == 3 and not [name for name in names(log.parent) if name.startswith(log.name)]
    assert {path.stat().st_mode & 0o777 for path in (place / done.out.strip()).glob(f"{log.name}*")} == {0o600}
    assert ledger(place, "check", place / done.out.strip() / log.name).code == 0


def test_a_log_beside_the_session_leaves_the_prompt_to_it(tmp_path):
    session(tmp_path, *SPEED, "--layout", "flat")
    session(tmp_path, *SPEED, "--log", "other.jsonl")
    ledger(tmp_path, "mark", "done", "--log", "other.jsonl")
    done = ledger(tmp_path, "archive", "other.jsonl")
    assert done.code == 0 and done.out.startswith("other.archive/")
    assert "other.jsonl" in names(tmp_path / done.out.strip())
    assert {"autoresearch.jsonl", "autoresearch.md", "autoresearch.sh"} <= names(tmp_path)
    assert "autoresearch.md" not in names(tmp_path / done.out.strip())


def test_a_log_with_the_name_of_another_protocols_is_a_flat_one(tmp_path):
    session(tmp_path, *SPEED, "--layout", "flat")
    log = (tmp_path / "autoresearch.jsonl").rename(tmp_path / "events.jsonl")
    assert ledger(tmp_path, "mark", "done", "--log", log).code == 0
    done = ledger(tmp_path, "archive", log)
    assert done.code == 0 and done.out.startswith("events.archive/") and done.out.endswith("-speed\n")
    assert {"events.jsonl", "autoresearch.md"} <= names(tmp_path / done.out.strip())
    assert "autoresearch.sh" in names(tmp_path)


def test_a_state_protocol_session_is_over_by_a_decision(tmp_path):
    session(tmp_path, *SPEED, "--dialect", "state-protocol")
    ledger(tmp_path, "log", "--metric", "5", "--status", "baseline", "--description", "baseline")
    done = ledger(tmp_path, "archive")
    assert done.code == 2 and "ledger decide RUN stop" in done.err
    assert ledger(tmp_path, "decide", "1", "stop", "--reason", "enough").code == 0
    assert ledger(tmp_path, "archive").code == 0


def test_a_codex_run_moves_whole(tmp_path):
    place = repository(tmp_path / "repo")
    codex(place)
    results = place / "autoresearch-results"
    config = (results / "run.json").read_bytes()
    done = ledger(place, "archive")
    assert done.code == 0, done.err
    run_id = json.loads(config)["run_id"]
    assert done.out == f"autoresearch-results/archive/{run_id}\n"
    moved = results / "archive" / run_id
    assert (moved / "run.json").read_bytes() == config
    assert (moved / "logs/000.verify.log").read_text() == "5\n"
    assert names(moved) >= {"run.json", "events.jsonl", "logs", "prompt.md", "ideas.md"}
    assert {name for name in names(results) if not name.endswith(".lock")} == {"archive"}
    checked = json.loads(ledger(place, "check", "--format", "json", moved).out)
    assert checked["logs"][0]["diagnostics"] == []
    assert git(place, "status", "--short", "src") == ""
    codex(place, "0")
    done = ledger(place, "archive")
    assert done.code == 2 and "ledger mark stopped --reason" in done.err
    assert session(place, "mark", "stopped", "--reason", "enough").code == 0
    assert ledger(place, "archive", "autoresearch-results/events.jsonl").code == 0


def test_an_archive_of_the_same_name_is_not_touched(tmp_path):
    place = repository(tmp_path / "repo")
    codex(place)
    results = place / "autoresearch-results"
    run_id = json.loads((results / "run.json").read_bytes())["run_id"]
    write(results, f"archive/{run_id}/events.jsonl", "another\n")
    assert ledger(place, "archive").out.strip().endswith(f"{run_id}-2")
    assert (results / "archive" / run_id / "events.jsonl").read_text() == "another\n"


@pytest.mark.parametrize("moved", [("run.json",), ("run.json", "logs", "prompt.md")])
def test_an_interrupted_archiving_goes_on(tmp_path, moved):
    place = repository(tmp_path / "repo")
    codex(place)
    results = place / "autoresearch-results"
    config = (results / "run.json").read_bytes()
    half = results / "archive" / json.loads(config)["run_id"]
    half.mkdir(parents=True)
    (half / "run.json").write_bytes(config)
    for name in moved[1:]:
        (results / name).rename(half / name)
    assert ledger(place, "check", "autoresearch-results/events.jsonl").code == 0, "the run is still whole where it was"
    assert ledger(place, "archive").code == 0
    assert names(half) >= {"run.json", "events.jsonl", "logs", "prompt.md"}


def test_a_run_json_left_behind_is_no_run(tmp_path):
    place = repository(tmp_path / "repo")
    codex(place)
    results = place / "autoresearch-results"
    config = (results / "run.json").read_bytes()
    assert ledger(place, "archive").code == 0
    (results / "run.json").write_bytes(config)
    assert ledger(place, "verdict").code == 2
    codex(place)


def test_a_log_with_errors_and_a_half_done_iteration_stay(tmp_path):
    session(tmp_path, *SPEED)
    ledger(tmp_path, "mark", "done")
    half = {"number": 1, "branch": "main", "base": "0" * 40, "paths": [], "wishes": {"description": "x"}}
    journal = write(tmp_path, ".auto/log.iteration.json", json.dumps(half))
    done = ledger(tmp_path, "archive")
    assert done.code == 2 and "half done" in done.err
    journal.unlink()
    with (tmp_path / ".auto/log.jsonl").open("ab") as file:
        file.write(b"{torn")
    done = ledger(tmp_path, "archive")
    assert done.code == 2 and "errors" in done.err
    assert (tmp_path / ".auto/log.jsonl").exists()
