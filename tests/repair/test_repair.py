"""`ledger repair` as a process: what it shows, what it changes, and what it never does."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.repair.replace import check_replaceable
from tests.support.cli import BAD, COMMAND, HEADER, SOUND, Result, environment, ledger, lines, log, run

TORN = SOUND + b'{"run":4,"met'
UNENDED = SOUND[:-1]
CRASHED = lines(
    HEADER,
    run(1, 100),
    b'{"run":2,"metric":NaN,"status":"crash","commit":"","description":"","timestamp":1700000002000}',
)
NAME = "autoresearch.jsonl"
KEPT = [{**run(1, 100), "status": "kept"}, {**run(2, 90), "status": "kept"}]


def sha8(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def plan_of(folder: Path) -> dict[str, Any]:
    ledger(folder, "repair", "--plan", "plan.json", NAME)
    return dict(json.loads((folder / "plan.json").read_bytes()))


@pytest.mark.parametrize(("data", "code"), [(TORN, 1), (UNENDED, 0), (BAD, 1), (SOUND, 0), (b"", 1)])
def test_by_itself_it_changes_nothing(data: bytes, code: int, tmp_path: Path):
    path = log(tmp_path, data)
    done = ledger(tmp_path, "repair", NAME)
    assert done.code == code and path.read_bytes() == data and names(tmp_path) == {NAME}


def test_the_plan_is_numbered_and_shows_what_changes(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 100), b"", run(2, 90)) + b'{"run":')
    done = ledger(tmp_path, "repair")
    assert done.out.startswith(
        f"{NAME}: 2 of 2 findings can be repaired\n\n1. L113 line 3 (safe): remove the blank line\n"
    )
    assert "2. L115 line 5 (unsafe): cut off the 7 bytes of the unfinished line\n" in done.out
    assert '\n-{"run":\n\\ No newline at end of file\n' in done.out


def test_what_has_no_fix_says_what_a_person_can_do(tmp_path: Path):
    log(tmp_path, lines(HEADER, b'{"run":1,"metric":}'))
    done = ledger(tmp_path, "repair", NAME)
    assert done.code == 1
    assert "what can be done: see what the line was meant to say, in the agent's transcript or in git.\n" in done.out


def test_safe_repairs_and_nothing_else(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, b"", b'{"run":1,"metric":NaN,"status":"crash"}', run(2, 90))[:-1])
    before = path.read_bytes()
    done = ledger(tmp_path, "repair", "--safe", "--yes", NAME)
    assert (done.code, done.err) == (1, f"errors are left in {NAME}; see ledger check\n")
    assert path.read_bytes() == lines(HEADER, b'{"run":1,"metric":NaN,"status":"crash"}', run(2, 90))
    assert (tmp_path / f"{NAME}.{sha8(before)}.bak").read_bytes() == before


@pytest.mark.parametrize(("answer", "changed"), [(b"y\n", True), (b"yes\n", True), (b"n\n", False), (b"\n", False)])
def test_safe_asks(answer: bytes, changed: bool, tmp_path: Path):
    path = log(tmp_path, UNENDED)
    done = ledger(tmp_path, "repair", "--safe", NAME, stdin=answer)
    assert done.code == 0 and path.read_bytes() == (SOUND if changed else UNENDED)
    assert "1. L116 line 4 (safe): add the final newline" in done.out


@pytest.mark.parametrize("way", ["--safe", "--review"])
def test_nobody_answers(way: str, tmp_path: Path):
    path = log(tmp_path, UNENDED)
    done = ledger(tmp_path, "repair", way, NAME)
    assert done.code == 2 and "nobody answered, so nothing was changed" in done.err
    assert path.read_bytes() == UNENDED and names(tmp_path) == {NAME}


def test_a_repair_is_written_down_and_undone(tmp_path: Path):
    path = log(tmp_path, TORN)
    path.chmod(0o640)
    done = ledger(tmp_path, "repair", "--select", "L115", NAME)
    backup = f"{NAME}.{sha8(TORN)}.bak"
    assert done == (0, f"repaired {NAME}: 1 item; the original is {backup}\n", "")
    assert path.read_bytes() == SOUND and (tmp_path / backup).read_bytes() == TORN
    assert path.stat().st_mode & 0o777 == (tmp_path / backup).stat().st_mode & 0o777 == 0o640
    (made,) = records(tmp_path / f"{NAME}.repairs.jsonl")
    assert (made["action"], made["backup"], made["before_size"], made["after_size"]) == (
        "repair", backup, len(TORN), len(SOUND),
    )  # fmt: skip
    assert [made["before"], made["after"]] == [hashlib.sha256(data).hexdigest() for data in (TORN, SOUND)]
    assert made["by"] and made["at"].endswith("Z")
    assert [(item["code"], item["line"], item["applicability"]) for item in made["items"]] == [("L115", 5, "unsafe")]
    assert ledger(tmp_path, "repair", "--undo", NAME).code == 0
    assert path.read_bytes() == TORN and path.stat().st_mode & 0o777 == 0o640
    assert [one["action"] for one in records(tmp_path / f"{NAME}.repairs.jsonl")] == ["repair", "undo"]
    done = ledger(tmp_path, "repair", "--undo", NAME)
    assert done.code == 2 and path.read_bytes() == TORN


def test_repairs_are_undone_one_by_one(tmp_path: Path):
    first = lines(HEADER, b"", run(1, 100), b"\tx")
    path = log(tmp_path, first[:-1])
    assert ledger(tmp_path, "repair", "--select", "L113", NAME).code == 1
    assert ledger(tmp_path, "repair", "--select", "L115", NAME).code == 0
    assert path.read_bytes() == lines(HEADER, run(1, 100))
    for expected in (lines(HEADER, run(1, 100), b"\tx")[:-1], first[:-1]):
        assert ledger(tmp_path, "repair", "--undo", NAME).code == 0
        assert path.read_bytes() == expected


def test_undo_refuses_what_would_lose_records(tmp_path: Path):
    path = log(tmp_path, UNENDED)
    assert ledger(tmp_path, "repair", "--undo", NAME) == (2, "", f"ledger: there is no repair of {path} to undo\n")
    ledger(tmp_path, "repair", "--safe", "--yes", NAME)
    backup = tmp_path / f"{NAME}.{sha8(UNENDED)}.bak"
    grown = SOUND + lines(run(4, 80))
    path.write_bytes(grown)
    done = ledger(tmp_path, "repair", "--undo", NAME)
    assert done.code == 2 and "would lose what came since" in done.err and path.read_bytes() == grown
    path.write_bytes(SOUND)
    backup.write_bytes(b"other")
    done = ledger(tmp_path, "repair", "--undo", NAME)
    assert done.code == 2 and "is no longer what the log was" in done.err and path.read_bytes() == SOUND
    backup.unlink()
    assert "is gone" in ledger(tmp_path, "repair", "--undo", NAME).err


def test_a_plan_is_applied_to_its_log_alone(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, b"", run(1, 100), b'{"run":2'))
    plan = plan_of(tmp_path)
    assert plan["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() and plan["size"] == path.stat().st_size
    assert [(item["item"], item["code"], item["line"]) for item in plan["items"]] == [(1, "L113", 2)]
    path.write_bytes(path.read_bytes() + lines(run(3, 1)))
    done = ledger(tmp_path, "repair", "--apply", "plan.json", NAME)
    assert done == (
        2,
        "",
        f"ledger: {path} has changed since the plan was made, or is another log; make the plan again\n",
    )


def test_a_plan_may_be_thinned_out(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, b"", run(1, 100)) + b'{"run":2')
    plan = plan_of(tmp_path)
    plan["items"] = [item for item in plan["items"] if item["code"] == "L115"]
    (tmp_path / "plan.json").write_text(json.dumps(plan, indent=2))
    assert ledger(tmp_path, "repair", "--apply", "plan.json", NAME).code == 0
    assert path.read_bytes() == lines(HEADER, b"", run(1, 100))


Tampering = Callable[[dict[str, Any]], Any]
TAMPERED: dict[str, Tampering] = {
    "other bytes": lambda item: item["edits"][0].update(text="x"),
    "a record less": lambda item: item.update(edits=[{"start": len(lines(HEADER)), "end": len(SOUND), "text": ""}]),
    "more findings": lambda item: item["findings"].append({"code": "L113", "line": 1}),
    "another code": lambda item: item["findings"][0].update(code="L113"),
    "a line far away": lambda item: item["findings"][0].update(line=10**30),
    "safe": lambda item: item.update(applicability="safe"),
    "a move": lambda item: item["edits"][0].update(origin=0),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_plan_that_holds_what_no_fixer_made_is_refused(what: str, tmp_path: Path):
    path = log(tmp_path, TORN)
    plan = plan_of(tmp_path)
    TAMPERED[what](plan["items"][0])
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = ledger(tmp_path, "repair", "--apply", "plan.json", NAME)
    assert done.code == 2 and path.read_bytes() == TORN and names(tmp_path) == {NAME, "plan.json"}
    assert done.err.startswith(f"ledger: item 1 of plan.json is not what this version plans for {NAME} by now")


@pytest.mark.parametrize(("way", "said"), [("--review", 0), ("--review", 2), ("--safe", 0)])
def test_ctrl_c_and_the_end_of_input_at_a_question(way: str, said: int, tmp_path: Path):
    path = log(tmp_path, data := lines(HEADER, b"", run(1, 100), b"", run(2, 90), b"", run(3, 80)))
    done = ledger(tmp_path, "repair", way, NAME, stdin=b"y\n" * said)
    assert done.code == 2 and done.err.rstrip().endswith("--safe --yes and --select do not ask")
    with subprocess.Popen(
        [*COMMAND, "repair", way, NAME], cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdin is not None and child.stderr is not None
        child.stdin.write(b"y\n" * said)
        child.stdin.flush()
        told = b""
        while told.count(b"?]") + told.count(b"N]") <= said and (one := child.stderr.read(1)):
            told += one
        while child.poll() is None:  # it may not be waiting for the answer yet
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.5)
        told += child.stderr.read()
        assert child.returncode == 130 and told.endswith(b"ledger: interrupted\n"), told
    assert path.read_bytes() == data and names(tmp_path) == {NAME}


def test_what_an_error_hid_is_told(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 100), b'{"run":2,"metric":NaN,"status":"crash"}'))
    done = ledger(tmp_path, "repair", "--select", "1", NAME)
    assert done.code == 0 and path.read_bytes().endswith(b'{"run":2,"metric":0,"status":"crash"}\n')
    assert f"{NAME}:3:1: R206 " in done.err and "an error had hidden these findings from view\n" in done.err


def test_a_warning_is_not_traded_for_another(tmp_path: Path):
    two = {**HEADER, "metric_name": "b"}
    del two["metricName"]
    path = log(tmp_path, lines({**two, "unit": "s"}, run(1, 100)))
    done = ledger(tmp_path, "repair", "--select", "R213", NAME)
    assert done.code == 0 and path.read_bytes().startswith(b'{"type":"config","name":"speed","metricUnit":"ms"')
    assert b'"metricName":"b","unit":"s"' in path.read_bytes()


def test_items_that_touch_one_line_are_carried_out_in_rounds(tmp_path: Path):
    header = b'\xef\xbb\xbf{"type":"config","name":"a","metric_name":"x","direction":"lower"}'
    path = log(tmp_path, lines(KEPT[0], b"", header, run(2, 90)) + b"  ")
    done = ledger(tmp_path, "repair", "--select", "L,R,S", NAME)
    assert done.code == 0, done
    assert path.read_bytes() == lines(
        b'{"type":"config","name":"a","metricName":"x","bestDirection":"lower"}', run(1, 100), run(2, 90)
    )


def test_output_goes_elsewhere(tmp_path: Path):
    path = log(tmp_path, TORN)
    assert ledger(tmp_path, "repair", "--select", "L115", "-o", "new.jsonl", NAME).code == 0
    assert (path.read_bytes(), (tmp_path / "new.jsonl").read_bytes()) == (TORN, SOUND)
    assert ledger(tmp_path, "repair", "--select", "L115", "-o", "-", NAME).out.encode() == SOUND
    assert names(tmp_path) == {NAME, "new.jsonl"}
    done = ledger(tmp_path, "repair", "--select", "L115", "-o", NAME, NAME)
    assert done.code == 2 and path.read_bytes() == TORN
    assert ledger(tmp_path, "repair", "-o", "new.jsonl", NAME).code == 2
    assert ledger(tmp_path, "repair", "--plan", NAME, NAME).code == 2 and path.read_bytes() == TORN


def test_review_takes_one_item_at_a_time(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, b"", KEPT[0], b"", KEPT[1], b""))
    done = ledger(tmp_path, "repair", "--review", NAME, stdin=b"?\nn\nc\ny\nwhat\ns\nq\n")
    assert done.code == 1, done
    assert "> 3: " in done.out and "y: repair it" in done.out
    assert path.read_bytes() == lines(HEADER, b"", run(1, 100), b"", KEPT[1], b"")


def test_review_that_quits_at_once_changes_nothing(tmp_path: Path):
    path = log(tmp_path, TORN)
    done = ledger(tmp_path, "repair", "--review", NAME, stdin=b"q\n")
    assert done.code == 1 and path.read_bytes() == TORN and names(tmp_path) == {NAME}


@pytest.mark.parametrize(
    "options",
    [("--safe", "--undo"), ("--plan", "p", "--apply", "q"), ("--metric", "x"), ("--select", "L999"), ("--select", "7"),
     ("--select", "²")],
)  # fmt: skip
def test_mistakes_in_the_call(options: tuple[str, ...], tmp_path: Path):
    path = log(tmp_path, TORN)
    done = ledger(tmp_path, "repair", *options, NAME)
    assert done.code == 2 and done.out == "" and path.read_bytes() == TORN
    assert ledger(tmp_path, "repair", "-", stdin=TORN).code == 2


def test_nothing_to_do(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 100)))
    assert ledger(tmp_path, "repair", NAME) == (0, f"{NAME}: nothing to repair\n", "")
    for way in (("--safe", "--yes"), ("--select", "L116"), ("--review",)):
        assert ledger(tmp_path, "repair", *way, NAME) == (0, "", f"{NAME}: nothing was changed\n")
    assert names(tmp_path) == {path.name}


def test_a_header_is_given(tmp_path: Path):
    path = log(tmp_path, lines(run(1, 100), run(2, 90)))
    assert ledger(tmp_path, "repair", "--select", "S401", NAME).code == 1
    done = ledger(
        tmp_path, "repair", "--select", "S401", "--metric", "total_ms", "--direction", "lower", "--name", "speed",
        "--unit", "ms", NAME,
    )  # fmt: skip
    assert done.code == 0 and path.read_bytes() == lines(HEADER, run(1, 100), run(2, 90))


CONFLICT = (
    lines(HEADER, run(1, 100), b"<<<<<<< HEAD", run(3, 80), b"||||||| base", b"=======", run(2, 90), run(3, 80)),
    lines(b">>>>>>> other"),
)


@pytest.mark.parametrize(
    ("side", "kept"),
    [((), [run(2, 90), run(3, 80)]), (("--ours",), [run(3, 80)]), (("--theirs",), [run(2, 90), run(3, 80)])],
)
@pytest.mark.parametrize("ended", [True, False])
def test_git_conflicts(side: tuple[str, ...], kept: list[Any], ended: bool, tmp_path: Path):
    path = log(tmp_path, b"".join(CONFLICT)[: None if ended else -1])
    assert ledger(tmp_path, "repair", "--select", "L119", *side, NAME).code == 0
    assert path.read_bytes() == lines(HEADER, run(1, 100), *kept)


def test_a_link_is_followed(tmp_path: Path):
    (tmp_path / "real").mkdir()
    path = log(tmp_path, TORN, "real/log.jsonl")
    (tmp_path / NAME).symlink_to(path)
    assert ledger(tmp_path, "repair", "--select", "L115", NAME).code == 0
    assert (tmp_path / NAME).is_symlink() and path.read_bytes() == SOUND
    assert (tmp_path / "real" / f"log.jsonl.{sha8(TORN)}.bak").read_bytes() == TORN
    assert ledger(tmp_path, "repair", "--undo", NAME).code == 0 and path.read_bytes() == TORN


def test_something_in_the_way_of_the_copy(tmp_path: Path):
    path = log(tmp_path, TORN)
    backup = tmp_path / f"{NAME}.{sha8(TORN)}.bak"
    backup.write_bytes(b"mine")
    done = ledger(tmp_path, "repair", "--select", "L115", NAME)
    assert done.code == 2 and "is in the way" in done.err
    assert (path.read_bytes(), backup.read_bytes()) == (TORN, b"mine")
    backup.unlink()
    backup.symlink_to(tmp_path / "nowhere")
    assert ledger(tmp_path, "repair", "--select", "L115", NAME).code == 2
    assert path.read_bytes() == TORN and not (tmp_path / "nowhere").exists()


def test_a_codex_history(tmp_path: Path):
    folder = Path(__file__).parents[1] / "rules" / "L114" / "good"
    whole, config = (folder / "events.jsonl").read_bytes(), (folder / "run.json").read_bytes()
    for data in (whole.replace(b"\n", b"\n\n", 1), whole[:-1], whole + b'{"schema'):
        path = log(tmp_path, data, "autoresearch-results/events.jsonl")
        log(tmp_path, config, "autoresearch-results/run.json")
        assert ledger(tmp_path, "repair", "--select", "L", path).code == 0
        assert path.read_bytes() == whole and path.with_name("run.json").read_bytes() == config


def test_the_mirror_follows(tmp_path: Path):
    def count() -> Any:
        return json.loads(ledger(tmp_path, "sql", "SELECT count(*) AS n FROM runs", "--format", "json").out)[0]["n"]

    log(tmp_path, CRASHED)
    assert ledger(tmp_path, "sync", "--quarantine", NAME).code == 0 and count() == 1
    assert ledger(tmp_path, "repair", "--select", "L106", NAME).code == 0 and count() == 2
    assert ledger(tmp_path, "verify", NAME).code == 0
    assert ledger(tmp_path, "sync", NAME).out.startswith("unchanged")
    done = ledger(tmp_path, "repair", "--undo", NAME)  # a log with errors is not taken unasked
    assert done.code == 0 and count() == 2 and done.err.startswith("warning: the mirror did not follow: it has errors")
    (tmp_path / "mirror.db").write_bytes(b"no database")
    done = ledger(tmp_path, "repair", "--select", "L106", NAME)
    assert done.code == 0 and done.err.startswith("warning: the mirror did not follow: ")


def test_a_log_that_no_mirror_holds_gets_none(tmp_path: Path):
    log(tmp_path, TORN)
    ledger(tmp_path, "repair", "--select", "L115", NAME)
    assert not (tmp_path / "mirror.db").exists()


WRITER = """
import sys, time
from pathlib import Path
from ledger.base.files import append
from ledger.base.locks import lock_of, locked
log = Path(sys.argv[1])
with locked(lock_of(log)):
    print("locked", flush=True)
    time.sleep(1)
    append(log, sys.argv[2].encode(), log.stat().st_size)
"""


@pytest.mark.parametrize("way", [("--safe", "--yes"), ("--select", "L113"), ("--select", "1")])
def test_what_nobody_looked_at_is_planned_anew_for_a_log_that_grew(way: tuple[str, ...], tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 100), b"", run(2, 90)))
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), lines(b"", run(3, 80)).decode()], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"locked\n"
        done = ledger(tmp_path, "repair", *way, NAME)
    assert done.code == 0, done
    kept = [b""] if way[1] == "1" else []
    assert path.read_bytes() == lines(HEADER, run(1, 100), run(2, 90), *kept, run(3, 80))
    assert ledger(tmp_path, "repair", "--undo", NAME).code == 0


def test_a_number_that_means_another_item_by_now_is_refused(tmp_path: Path):
    path = log(tmp_path, UNENDED)
    more = "\n" + lines(b"", run(4, 80)).decode()
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), more], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"locked\n"
        done = ledger(tmp_path, "repair", "--select", "1", NAME)
    assert done.code == 2 and "has changed, and its plan has other numbers" in done.err
    assert path.read_bytes() == UNENDED + more.encode()


@pytest.mark.parametrize("way", [("--review",), ("--safe",), ("--apply", "p.json")])
def test_a_plan_that_somebody_saw_is_for_the_log_that_they_saw(way: tuple[str, ...], tmp_path: Path):
    path = log(tmp_path, UNENDED)
    assert ledger(tmp_path, "repair", "--plan", "p.json", NAME).code == 0
    more = "\n" + lines(run(4, 80)).decode()
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), more], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"locked\n"
        done = ledger(tmp_path, "repair", *way, NAME, stdin=b"y\n")
    assert done.code == 2 and "has changed since the plan was made" in done.err
    assert path.read_bytes() == UNENDED + more.encode()


BUSY = """
import json, sys, time
from pathlib import Path
from ledger.base.files import append
from ledger.base.locks import lock_of, locked
log = Path(sys.argv[1])
for number in range(2, 10_000):
    with locked(lock_of(log)):
        record = {**json.loads(sys.argv[2]), "run": number, "timestamp": 1_700_000_000_000 + number}
        append(log, json.dumps(record).encode() + b"\\n", log.stat().st_size)
    print(number, flush=True)
    time.sleep(0.01)
"""


def test_a_log_that_is_written_to_all_the_time_is_repaired(tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 100), b""))
    command = [sys.executable, "-c", BUSY, str(path), json.dumps(run(1, 90))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline()
        done = ledger(tmp_path, "repair", "--safe", "--yes", NAME)
        assert done.code == 0 and "repaired" in done.out, done
        writer.kill()
        written = 2 + len(writer.stdout.read().split())
    numbers = [json.loads(line)["run"] for line in path.read_bytes().splitlines()[1:]]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) in (written, written + 1)


def test_an_interrupted_repair_leaves_the_log_before_or_after(tmp_path: Path):
    """Kill it a little later each time; whatever is left, the next one completes."""
    data = lines(HEADER, *(run(number, 100 + number % 7) for number in range(1, 4000))) + b'{"run":'
    path = log(tmp_path, data)
    command = [*COMMAND, "repair", "--select", "L115", NAME]
    for delay in (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6):
        with subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.DEVNULL) as child:
            try:
                child.wait(delay)
            except subprocess.TimeoutExpired:
                child.kill()
        assert path.read_bytes() in (data, data[:-7])
        path.write_bytes(data)
    assert ledger(tmp_path, "repair", "--select", "L115", NAME).code == 0 and path.read_bytes() == data[:-7]
    assert not [name for name in names(tmp_path) if name.endswith(".repair")]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_nobody_may_write_to(tmp_path: Path):
    path = log(tmp_path, TORN, "x/log.jsonl")
    path.parent.chmod(0o500)
    try:
        done: Result = ledger(tmp_path, "repair", "--select", "L115", path)
    finally:
        path.parent.chmod(0o700)
    assert done.code == 2 and "cannot write" in done.err and path.read_bytes() == TORN


@pytest.mark.parametrize(
    "options",
    [("--undo", "--dialect", "codex"), ("--undo", "--yes"), ("--undo", "--metric", "ms", "--direction", "lower"),
     ("--apply", "p.json", "--theirs"), ("--apply", "p.json", "--dialect", "codex"), ("--apply", "p.json", "--yes"),
     ("--select", "L1", "--yes"), ("--plan", "p.json", "--db", "m.db"), ("--db", "m.db"), ("--yes",), ("--unit", "ms"),
     ("--safe", "--yes", "-o", "x.jsonl", "--db", "m.db"), ("--name", "x"), ("-o", "x.jsonl"), ("--select", " , ")],
)  # fmt: skip
def test_an_option_that_would_mean_nothing_is_a_mistake(options: tuple[str, ...], tmp_path: Path):
    path = log(tmp_path, UNENDED)
    assert ledger(tmp_path, "repair", "--plan", "p.json", NAME).code == 0
    before = names(tmp_path)
    done = ledger(tmp_path, "repair", *options, NAME)
    assert done.code == 2 and done.err.startswith("Usage: ledger repair") and done.out == "", done
    assert names(tmp_path) == before and path.read_bytes() == UNENDED


def test_a_log_with_two_names_is_not_parted(tmp_path: Path):
    path = log(tmp_path, UNENDED)
    (tmp_path / "other").hardlink_to(path)
    done = ledger(tmp_path, "repair", "--safe", "--yes", NAME)
    assert done.code == 2 and "has 2 names (hard links)" in done.err
    assert path.read_bytes() == UNENDED and names(tmp_path) == {NAME, "other"}
    assert ledger(tmp_path, "repair", "--safe", "--yes", "-o", "new.jsonl", NAME).code == 0
    (tmp_path / "other").unlink()
    assert ledger(tmp_path, "repair", "--safe", "--yes", NAME).code == 0 and path.read_bytes() == SOUND


def test_a_read_only_log_is_left_alone(tmp_path: Path):
    path = log(tmp_path, UNENDED)
    path.chmod(0o444)
    done = ledger(tmp_path, "repair", "--safe", "--yes", NAME)
    assert done.code == 2 and "is read-only" in done.err
    assert path.read_bytes() == UNENDED and names(tmp_path) == {NAME}
    path.chmod(0o644)
    assert ledger(tmp_path, "repair", "--safe", "--yes", NAME).code == 0
    path.chmod(0o444)
    assert ledger(tmp_path, "repair", "--undo", NAME).code == 2 and path.read_bytes() == SOUND


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_log_of_another_user(tmp_path: Path):
    """Root leaves it to its owner; anybody else would take it from them."""
    path = log(tmp_path, UNENDED)
    path.chmod(0o666)
    os.chown(path, 12_345, 54_321)
    assert ledger(tmp_path, "repair", "--safe", "--yes", NAME).code == 0
    assert (path.stat().st_uid, path.stat().st_gid, path.read_bytes()) == (12_345, 54_321, SOUND)


def test_a_user_does_not_take_the_log_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = log(tmp_path, UNENDED)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1, raising=False)
    with pytest.raises(LedgerError, match="belongs to another user"):
        check_replaceable(path)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    check_replaceable(path)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_what_stands_beside_a_log_is_as_private_as_the_log(mode: int, tmp_path: Path):
    path = log(tmp_path, lines(HEADER, run(1, 100), b'{"run":2,"metric":NaN}', b""))
    path.chmod(mode)
    assert ledger(tmp_path, "review", "accept", NAME, "L106", "--reason", "x").code == 0
    assert ledger(tmp_path, "repair", "--plan", "p.json", NAME).code == 0
    assert ledger(tmp_path, "repair", "--safe", "--yes", "-o", "new.jsonl", NAME).code == 0
    assert ledger(tmp_path, "repair", "--safe", "--yes", NAME).code == 0
    made = {name: (tmp_path / name).stat().st_mode & 0o777 for name in names(tmp_path) if not name.endswith(".lock")}
    assert len(made) == 6 and set(made.values()) == {mode}


def test_a_decision_on_a_line_that_a_repair_changes_ends_aloud(tmp_path: Path):
    log(tmp_path, lines(HEADER, run(1, 100), run(1, 90, commit="longer"), run(3, 80, commit="longer")))
    assert ledger(tmp_path, "review", "accept", NAME, "R215", "--reason", "x").code == 0
    done = ledger(tmp_path, "repair", "--select", "S405", NAME)
    assert done.code == 0
    assert done.err == "warning: R215 was accepted of line 3, which is another one now; see ledger check\n"
    assert "R215" in ledger(tmp_path, "check", NAME).out
