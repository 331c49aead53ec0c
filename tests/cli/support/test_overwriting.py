"""What `-o` of repair and merge never replaces, and decisions that every reader honours."""

import json
from pathlib import Path

import pytest

from tests.support.cli import HEADER, SOUND, ledger, lines, log, run

UNFINISHED = SOUND[:-1]


@pytest.mark.parametrize("words", [("repair", "log.jsonl", "--safe", "--yes"), ("merge", "log.jsonl", "other.jsonl")])
def test_a_mirror_and_another_log_stay(tmp_path: Path, words: tuple[str, ...]):
    log(tmp_path, SOUND + run_line(4), "other.jsonl")
    log(tmp_path, SOUND if words[0] == "merge" else UNFINISHED, "log.jsonl")
    victim = log(tmp_path, lines(HEADER | {"name": "victim"}, run(1, 5)), "victim.jsonl")
    assert ledger(tmp_path, "sync", "victim.jsonl").code == 0
    mirror = (tmp_path / "mirror.db").read_bytes()
    before = victim.read_bytes()
    for name in ("mirror.db", "victim.jsonl"):
        done = ledger(tmp_path, *words, "-o", name)
        assert done.code == 2 and name in done.err, done
    assert (victim.read_bytes(), (tmp_path / "mirror.db").read_bytes()) == (before, mirror)
    assert ledger(tmp_path, *words, "-o", "new.jsonl").code == 0
    assert ledger(tmp_path, *words, "-o", "new.jsonl").code == 0, "one's own output may be replaced"


def run_line(number: int) -> bytes:
    return lines(run(number, 95, "discard"))


def test_a_plan_replaces_no_log(tmp_path: Path):
    log(tmp_path, UNFINISHED, "log.jsonl")
    victim = log(tmp_path, SOUND, "victim.jsonl")
    assert ledger(tmp_path, "repair", "log.jsonl", "--plan", "victim.jsonl").code == 2
    assert victim.read_bytes() == SOUND


def test_an_empty_plan_of_another_file_is_refused(tmp_path: Path):
    log(tmp_path, UNFINISHED, "log.jsonl")
    log(tmp_path, json.dumps({"version": 1, "sha256": "0" * 64, "size": 5, "items": []}).encode(), "plan.json")
    assert ledger(tmp_path, "repair", "log.jsonl", "--apply", "plan.json").code == 2


def test_an_accepted_finding_is_accepted_everywhere(tmp_path: Path):
    bad = lines(HEADER, run(1, 100), run(2, 90) | {"status": "success"}, run(3, 80))
    log(tmp_path, bad, "autoresearch.jsonl")
    assert ledger(tmp_path, "review", "accept", "autoresearch.jsonl", "R203@3", "--reason", "an old tool").code == 0
    assert ledger(tmp_path, "check").code == 0
    assert "error" not in ledger(tmp_path, "status").out
    assert ledger(tmp_path, "report", "-o", "page.html").code == 0
    assert "accepted: an old tool" in (tmp_path / "page.html").read_text()
    log(tmp_path, bad + run_line(4), "other.jsonl")
    (tmp_path / "other.jsonl.accepted.jsonl").write_bytes((tmp_path / "autoresearch.jsonl.accepted.jsonl").read_bytes())
    done = ledger(tmp_path, "merge", "autoresearch.jsonl", "other.jsonl", "-o", "merged.jsonl")
    assert done.code == 0, done.err


def test_a_name_too_long_for_a_side_file(tmp_path: Path):
    name = "a" * 238 + ".jsonl"
    log(tmp_path, SOUND + b"\n", name)
    assert ledger(tmp_path, "status", name).code == 0
