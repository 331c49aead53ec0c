"""The contract of hooks: what they read, what becomes of what they write, and that nothing they do hangs or breaks."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.loop.driving.hooks import STDOUT_BYTES, Fired, find, fire, payload
from ledger.session.files import Session, of_log
from ledger.session.history import read
from tests.support.cli import BAD, COMMAND, HEADER, SOUND, environment, ledger, lines, log, run

POSIX = pytest.mark.skipif(os.name == "nt", reason="hooks are scripts with a run bit")
AUTO = ".auto/log.jsonl"

STATE_CONFIG = {
    "type": "config", "schema_version": 1, "name": "optimize-parser", "metric": "latency_ms", "direction": "lower",
    "unit": "ms", "created_at": "2026-05-06T12:00:00Z",
}  # fmt: skip
RUN_JSON = {
    "schema_version": 1, "run_id": "20260512T100000Z-tables", "created_at": "2026-05-12T10:00:00Z", "repo": "/srv/t",
    "branch": "main", "mode": "foreground", "goal": "Read every table", "scope": ["src"],
    "metric": {"name": "errors", "direction": "lower", "command": "./bench", "json_key": None}, "guard": None,
    "target": 0, "max_iterations": 20, "timeout_seconds": 300, "background": None,
}  # fmt: skip


def result(number: int, value: float, **more: Any) -> dict[str, Any]:
    made = {"type": "result", "run": number, "metric": "latency_ms", "value": value}
    return {**made, "timestamp": f"2026-05-06T12:0{number}:00Z", **more}


def decision(number: int, action: str) -> dict[str, Any]:
    return {
        "type": "decision", "run": number, "action": action, "reason": "measured",
        "timestamp": f"2026-05-06T12:0{number}:30Z",
    }  # fmt: skip


def event(seq: int, kind: str, **more: Any) -> dict[str, Any]:
    head = {"schema_version": 1, "run_id": RUN_JSON["run_id"], "seq": seq, "time": f"2026-05-12T10:0{seq}:00Z"}
    return {**head, "event": kind, **more}


def baseline() -> dict[str, Any]:
    return event(0, "baseline", head="b17707a", metric=47, verify_log="logs/b.log", guard_log=None)


def iteration(seq: int, outcome: str, previous: float, trial: float, description: str = "idea") -> dict[str, Any]:
    kept = outcome == "keep"
    return event(
        seq, "iteration", iteration=seq, outcome=outcome, description=description, previous_metric=previous,
        trial_metric=trial, retained_metric=trial if kept else previous, trial_commit=f"aaaaaa{seq}",
        head=f"{'aaaaaa' if kept else 'bbbbbb'}{seq}", revert_commit=None if kept else f"bbbbbb{seq}",
        guard="pass" if kept else "not_run", verify_log=f"logs/{seq}.log", guard_log=None,
    )  # fmt: skip


def codex(folder: Path, *events: object) -> Session:
    log(folder, json.dumps(RUN_JSON).encode(), "autoresearch-results/run.json")
    return of_log(log(folder, lines(*events), "autoresearch-results/events.jsonl"))


def session(folder: Path, data: bytes = SOUND, name: str = AUTO) -> Session:
    return of_log(log(folder, data, name))


def hook(folder: Path, stage: str, script: str, place: str = ".auto/hooks", mode: int = 0o755) -> Path:
    path = folder / place / f"{stage}.sh"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, "utf-8")
    path.chmod(mode)
    return path


def told(one: Session, stage: str) -> bytes:
    return payload(one, read(one.log), stage)


def fired(one: Session, stage: str = "before", **more: float) -> Fired:
    done = fire(one, read(one.log), stage, **more)
    assert done is not None
    return done


def expected(folder: Path, text: str) -> bytes:
    return text.replace("CWD", json.dumps(str(folder))).replace("\n", "").encode() + b"\n"


def test_before_on_a_fresh_session(tmp_path: Path):
    assert told(session(tmp_path, lines(HEADER)), "before") == expected(
        tmp_path,
        """{"event":"before","cwd":CWD,"next_run":1,"last_run":null,"session":{"metric_name":"total_ms",
"metric_unit":"ms","direction":"lower","baseline_metric":null,"best_metric":null,"run_count":0,"goal":"speed"}}""",
    )


ENTRY = (
    rb'{"run": 5, "commit":"", "metric":42.10, "metrics":{"m":1e3},"status":"discard","description":"\u00e9 \"$(x)\"",'
    rb'"timestamp":1700000005000,"segment":0,"confidence":null,"asi":{"a":"b\nc"},"samples":[42.1,9223372036854776000]}'
)


def test_before_has_the_whole_last_entry_as_it_was_written(tmp_path: Path):
    runs = [run(1, 40.7), run(2, 33.5), run(3, 39, "checks_failed"), run(4, 0, "crash")]
    one = session(tmp_path, lines(HEADER, *runs, b"  " + ENTRY + b"\r"))
    start, rest = told(one, "before").split(ENTRY)
    assert start == expected(tmp_path, '{"event":"before","cwd":CWD,"next_run":6,"last_run":')[:-1]
    assert rest == expected(
        tmp_path,
        ""","session":{"metric_name":"total_ms","metric_unit":"ms","direction":"lower","baseline_metric":40.7,
"best_metric":33.5,"run_count":5,"goal":"speed"}}""",
    )


def test_after_tells_of_the_run_that_was_logged(tmp_path: Path):
    assert told(session(tmp_path), "after") == expected(
        tmp_path,
        """{"event":"after","cwd":CWD,"run_entry":{"run":3,"commit":"abc1234","metric":90,"status":"keep",
"description":"idea 3","timestamp":1700000003000},"session":{"metric_name":"total_ms","metric_unit":"ms",
"direction":"lower","baseline_metric":100,"best_metric":90,"run_count":3,"goal":"speed"}}""",
    )


def test_the_last_run_and_the_count_are_of_the_whole_log_the_rest_of_the_segment(tmp_path: Path):
    second = {"type": "config", "metricName": "size", "bestDirection": "higher", "name": "small"}
    found = json.loads(told(session(tmp_path, SOUND + lines(second)), "before"))
    assert (found["next_run"], found["last_run"]["run"]) == (4, 3)
    assert found["session"] == {
        "metric_name": "size", "metric_unit": "", "direction": "higher", "baseline_metric": None, "best_metric": None,
        "run_count": 3, "goal": "small",
    }  # fmt: skip


def test_state_protocol_entries_have_the_keys_that_hooks_know(tmp_path: Path):
    records = [
        STATE_CONFIG, result(1, 20, status="measured", description="as it was"), decision(1, "baseline"),
        result(2, 19.5, median=12.25, samples=[12, 12.5], commit="abc1234", asi={"next_focus": "io"}),
    ]  # fmt: skip
    one = session(tmp_path, lines(*records), "autoresearch.jsonl")
    open_run = json.loads(told(one, "before"))["last_run"]
    assert (open_run["status"], open_run["decision"]) == ("measured", None)
    one = session(tmp_path, lines(*records, decision(2, "keep")), "autoresearch.jsonl")
    assert told(one, "after") == expected(
        tmp_path,
        """{"event":"after","cwd":CWD,"run_entry":{"type":"result","run":2,"metric":12.25,"value":19.5,
"timestamp":"2026-05-06T12:02:00Z","median":12.25,"samples":[12,12.5],"commit":"abc1234","asi":{"next_focus":"io"},
"status":"keep","description":"","decision":"keep"},"session":{"metric_name":"latency_ms","metric_unit":"ms",
"direction":"lower","baseline_metric":20,"best_metric":12.25,"run_count":2,"goal":"optimize-parser"}}""",
    )


def test_codex_counts_iterations_from_one_behind_its_baseline(tmp_path: Path):
    one = codex(tmp_path, baseline())
    found = json.loads(told(one, "before"))
    assert (found["next_run"], found["session"]["run_count"]) == (1, 0)
    assert found["last_run"] == {**baseline(), "run": 0, "status": "baseline", "metric": 47, "description": ""}
    one = codex(tmp_path, baseline(), iteration(1, "keep", 47, 39), iteration(2, "discard", 39, 41.5))
    assert told(one, "before") == expected(
        tmp_path,
        """{"event":"before","cwd":CWD,"next_run":3,"last_run":{"schema_version":1,"run_id":"20260512T100000Z-tables",
"seq":2,"time":"2026-05-12T10:02:00Z","event":"iteration","iteration":2,"outcome":"discard","description":"idea",
"previous_metric":39,"trial_metric":41.5,"retained_metric":39,"trial_commit":"aaaaaa2","head":"bbbbbb2",
"revert_commit":"bbbbbb2","guard":"not_run","verify_log":"logs/2.log","guard_log":null,"run":2,"status":"discard",
"metric":41.5},"session":{"metric_name":"errors","metric_unit":"","direction":"lower","baseline_metric":47,
"best_metric":39,"run_count":2,"goal":"Read every table"}}""",
    )


def test_after_needs_a_run_and_both_a_protocol(tmp_path: Path):
    with pytest.raises(LedgerError, match="no run yet"):
        told(session(tmp_path, lines(HEADER)), "after")
    with pytest.raises(LedgerError, match="no known protocol"):
        told(session(tmp_path, b'{"a":1}\n'), "before")


@POSIX
def test_a_hook_reads_the_payload_and_works_in_the_working_folder(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    log(tmp_path, b'{"workingDir": "sub"}', ".auto/config.json")
    one = session(tmp_path)
    hook(tmp_path, "before", '#!/bin/sh\ncat >got\nprintf "%s\\n" "$LEDGER_LOG"\n')
    assert fired(one).text == f"{one.log}\n"
    got = (tmp_path / "sub/got").read_bytes()
    assert got == told(one, "before") and json.loads(got)["cwd"] == str(tmp_path / "sub")


@POSIX
def test_every_firing_is_recorded_in_the_log_which_stays_clean(tmp_path: Path):
    data = lines(HEADER, run(1, 100), run(2, 90))
    one = session(tmp_path, data)
    hook(tmp_path, "before", "#!/bin/sh\necho try this\n")
    hook(tmp_path, "after", "#!/bin/sh\nexit 3\n")
    done, failed = fired(one), fired(one, "after")
    assert done[:2] == ("try this\n", "") and failed.text == ""
    written = one.log.read_bytes()
    assert written.startswith(data)
    first, second = map(json.loads, written[len(data) :].splitlines())
    assert (first, second) == (done.record, failed.record)
    assert list(first) == ["type", "stage", "exit_code", "duration_ms", "stdout_bytes", "timed_out", "timestamp"]
    assert [first[key] for key in ("stage", "exit_code", "stdout_bytes", "timed_out")] == ["before", 0, 9, False]
    assert [second[key] for key in ("stage", "exit_code", "stdout_bytes", "timed_out")] == ["after", 3, 0, False]
    assert 0 <= first["duration_ms"] < 10_000 and abs(first["timestamp"] - time.time() * 1000) < 60_000
    checked = ledger(tmp_path, "check", "--format", "json", AUTO)
    assert checked.code == 0 and json.loads(checked.out)["logs"][0]["diagnostics"] == []


@POSIX
def test_a_log_that_counts_seconds_gets_seconds(tmp_path: Path):
    one = session(tmp_path, lines(HEADER, {**run(1, 100), "timestamp": 1_700_000_000}))
    hook(tmp_path, "before", "#!/bin/sh\n")
    assert abs(fired(one).record["timestamp"] - time.time()) < 60


@POSIX
@pytest.mark.parametrize("protocol", ["state-protocol", "codex"])
def test_other_protocols_have_their_records_beside_the_log(protocol: str, tmp_path: Path):
    if protocol == "codex":
        one = codex(tmp_path, baseline(), iteration(1, "keep", 47, 39))
    else:
        one = session(tmp_path, lines(STATE_CONFIG, result(1, 20), decision(1, "baseline")), "autoresearch.jsonl")
    before = one.log.read_bytes()
    hook(tmp_path, "after", "#!/bin/sh\necho heard\n")
    records = [fired(one, "after").record for _ in range(2)]
    assert one.log.read_bytes() == before
    assert [json.loads(line) for line in one.side("hooks.jsonl").read_bytes().splitlines()] == records
    assert records[0]["stdout_bytes"] == 6


@POSIX
def test_a_log_with_errors_takes_no_record_and_that_is_told(tmp_path: Path):
    one = session(tmp_path, BAD)
    hook(tmp_path, "before", "#!/bin/sh\necho still heard\n")
    done = fired(one)
    assert (done.text, done.record["exit_code"]) == ("still heard\n", 0)
    assert done.problem.startswith("the record of the before hook was not written: ") and "L106" in done.problem
    assert one.log.read_bytes() == BAD


@POSIX
def test_only_executable_files_are_hooks(tmp_path: Path):
    one = session(tmp_path)
    assert find(one, "before") is None
    hook(tmp_path, "before", "#!/bin/sh\necho no\n", mode=0o644)
    (tmp_path / ".auto/hooks/after.sh").mkdir()
    assert find(one, "before") is find(one, "after") is None
    assert fire(one, read(one.log), "before") is fire(one, read(one.log), "after") is None
    assert one.log.read_bytes() == SOUND


@POSIX
def test_hooks_of_auto_come_before_flat_ones(tmp_path: Path):
    one = session(tmp_path, name="autoresearch.jsonl")
    hook(tmp_path, "before", "#!/bin/sh\necho flat\n", "autoresearch.hooks")
    assert fired(one).text == "flat\n"
    hook(tmp_path, "before", "#!/bin/sh\necho auto\n")
    assert fired(one).text == "auto\n"


def cut(end: int, count: int) -> str:
    return f"[cut: {end} of {count} bytes]\n"


@POSIX
@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"x" * 8191 + b"\n", "x" * 8191 + "\n"),
        (b"x" * 8192, "x" * 8192),
        (b"x" * 8192 + b"\n", "x" * 8192 + "\n" + cut(8192, 8193)),
        (b"x" * 8191 + b"\ny", "x" * 8191 + "\n" + cut(8192, 8193)),
        (b"line\n" + b"y" * 9000 + b"\n", "line\n" + cut(5, 9006)),
        ((b"z" * 99 + b"\n") * 200, ("z" * 99 + "\n") * 81 + cut(8100, 20_000)),
        ("é".encode() * 5000, "é" * 4096 + "\n" + cut(8192, 10_000)),
        (b"a" + "é".encode() * 5000, "a" + "é" * 4095 + "\n" + cut(8191, 10_001)),
        (b"ab" + "𝛑".encode() * 3000, "ab" + "𝛑" * 2047 + "\n" + cut(8190, 12_002)),
        (b"\xff\xfe good \xc3\n", "\ufffd\ufffd good \ufffd\n"),
        (b"\x80" * 9000, "\ufffd" * 8188 + "\n" + cut(8188, 9000)),
        (b" \n\n", ""),
        (b"", ""),
    ],
)
def test_what_the_agent_hears_is_cut_at_8_kib(written: bytes, text: str, tmp_path: Path):
    one = session(tmp_path)
    (tmp_path / "written").write_bytes(written)
    hook(tmp_path, "before", "#!/bin/sh\ncat written\n")
    done = fired(one)
    assert (done.text, done.problem, done.record["stdout_bytes"]) == (text, "", len(written))
    assert STDOUT_BYTES == 8192


@POSIX
def test_a_flood_is_counted_and_not_kept(tmp_path: Path):
    one = session(tmp_path)
    hook(tmp_path, "before", "#!/bin/sh\nhead -c 200000000 /dev/zero | tr '\\0' x\nhead -c 9000000 /dev/zero >&2\n")
    done = fired(one)
    assert done.record["stdout_bytes"] == 200_000_000 and len(done.text) < 8300


@POSIX
def test_a_failure_is_told_with_the_end_of_stderr(tmp_path: Path):
    one = session(tmp_path)
    path = hook(tmp_path, "before", "#!/bin/sh\necho 'oh \033[31mno' >&2\necho again >&2\necho text\nexit 7\n")
    done = fired(one)
    assert done.problem == f"the before hook {path} exited with 7: oh no again"
    assert done.text == "text\n" and done.record["exit_code"] == 7
    hook(tmp_path, "before", "#!/bin/sh\nhead -c 5000 /dev/zero | tr '\\0' e >&2\necho end >&2\nexit 1\n")
    assert fired(one).problem == f"the before hook {path} exited with 1: …{'e' * 2044}end"
    hook(tmp_path, "before", "#!/bin/sh\nexit 1\n")
    assert fired(one).problem == f"the before hook {path} exited with 1"
    hook(tmp_path, "before", "#!/bin/sh\necho fine >&2\n")
    assert fired(one)[:2] == ("", "")


@POSIX
def test_a_hook_that_a_signal_ends_has_failed(tmp_path: Path):
    one = session(tmp_path)
    hook(tmp_path, "before", "#!/bin/sh\nkill -9 $$\n")
    done = fired(one)
    assert done.record["exit_code"] == 128 + signal.SIGKILL and not done.record["timed_out"]
    assert done.problem.endswith("exited with 137")


@POSIX
def test_a_script_without_a_shebang_is_one_for_sh(tmp_path: Path):
    one = session(tmp_path)
    hook(tmp_path, "before", 'read -r line\necho "got ${#line}"\n')
    assert fired(one).text == f"got {len(told(one, 'before').decode()) - 1}\n"
    hook(tmp_path, "before", "")
    assert fired(one)[:2] == ("", "")


@POSIX
def test_a_hook_that_cannot_be_run_is_told(tmp_path: Path):
    one = session(tmp_path)
    path = hook(tmp_path, "before", "#!/no/such/shell\n")
    done = fired(one)
    assert (
        done.problem == f"the before hook {path} could not be run: the program that its first line names was not found"
    )
    assert done.record["exit_code"] is None and not done.record["timed_out"]
    log(tmp_path, b'{"workingDir": "gone"}', ".auto/config.json")
    gone = f"its working folder {tmp_path / 'gone'} is not there"
    assert fired(session(tmp_path)).problem == f"the before hook {path} could not be run: {gone}"


GRANDCHILD = "#!/bin/sh\nsleep 300 &\necho $! >pid\necho early\n"


def is_alive(folder: Path) -> bool:
    """Tell whether the grandchild runs; one that was killed may wait for somebody to take its status."""
    status = Path("/proc") / (folder / "pid").read_text().strip() / "stat"
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


def hang(folder: Path, timeout: float | None) -> None:
    one = session(folder)
    hook(folder, "before", f"{GRANDCHILD}sleep 300\n")
    started = time.monotonic()
    done = fired(one) if timeout is None else fired(one, timeout=timeout)
    seconds, allowed = time.monotonic() - started, 30 if timeout is None else timeout
    assert allowed <= seconds < allowed + 5
    assert done.text == "early\n" and done.problem.endswith(f"before.sh timed out after {allowed:g} s and was killed")
    assert (done.record["exit_code"], done.record["timed_out"]) == (None, True)
    assert allowed * 1000 <= done.record["duration_ms"] < (allowed + 5) * 1000
    deadline = time.monotonic() + 5
    while is_alive(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(folder)
    assert json.loads(one.log.read_bytes().splitlines()[-1]) == done.record


@PROC
def test_a_hook_that_hangs_is_killed_with_its_grandchild(tmp_path: Path):
    hang(tmp_path, 0.4)


@PROC
def test_the_real_patience_is_30_seconds(tmp_path: Path):
    hang(tmp_path, None)


@PROC
def test_a_child_that_stays_behind_with_stdout_is_left_alone(tmp_path: Path):
    one = session(tmp_path)
    hook(tmp_path, "before", GRANDCHILD)
    started = time.monotonic()
    done = fired(one)
    assert (done.text, done.problem, time.monotonic() - started < 5) == ("early\n", "", True)
    assert is_alive(tmp_path)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@POSIX
@pytest.mark.parametrize("script", ["echo ok", "exec <&-\nsleep 0.2\necho ok", "head -c 10 >&2\necho ok"])
def test_a_megabyte_may_be_ignored(script: str, tmp_path: Path):
    one = session(tmp_path, lines(HEADER, run(1, 100, asi={"notes": "n" * 1_200_000})))
    hook(tmp_path, "after", f"#!/bin/sh\n{script}\n")
    assert len(told(one, "after")) > 1_200_000
    assert fired(one, "after")[:2] == ("ok\n", "")


@POSIX
def test_a_megabyte_is_read_whole(tmp_path: Path):
    one = session(tmp_path, lines(HEADER, run(1, 100, asi={"notes": "n" * 1_200_000})))
    hook(tmp_path, "after", "#!/bin/sh\nwc -c\n")
    assert int(fired(one, "after").text) == len(told(one, "after"))


def test_by_hand_the_payload_is_shown_and_nothing_runs(tmp_path: Path):
    one = session(tmp_path)
    hook(tmp_path, "before", "#!/bin/sh\ntouch ran\n")
    for arguments in ([], [AUTO], [tmp_path / AUTO]):
        shown = ledger(tmp_path, "hook", "before", *arguments, "--show-payload")
        assert (shown.code, shown.out.encode(), shown.err) == (0, told(one, "before"), "")
    after = ledger(tmp_path, "hook", "after", "--show-payload")
    assert (after.code, after.out.encode(), after.err) == (0, told(one, "after"), "")
    assert one.log.read_bytes() == SOUND and not (tmp_path / "ran").exists()
    assert sorted(path.name for path in (tmp_path / ".auto").iterdir()) == ["hooks", "log.jsonl"]


@POSIX
def test_by_hand_a_hook_answers_with_its_status(tmp_path: Path):
    session(tmp_path)
    nothing = "ledger: there is no before hook: before.sh was looked for in .auto/hooks and in autoresearch.hooks\n"
    assert ledger(tmp_path, "hook", "before") == (0, "", nothing)
    path = hook(tmp_path, "before", "#!/bin/sh\nprintf 'caf\\303\\251'\n", mode=0o644)
    idle = "ledger: .auto/hooks/before.sh lacks the run bit, so it is not run: chmod +x .auto/hooks/before.sh\n"
    assert ledger(tmp_path, "hook", "before") == (0, "", idle)
    path.chmod(0o755)
    assert ledger(tmp_path, "hook", "before", LC_ALL="C") == (0, "café\n", "")
    hook(tmp_path, "after", "#!/bin/sh\necho heard\necho why >&2\nexit 4\n")
    failed = ledger(tmp_path, "hook", "after", AUTO)
    assert (failed.code, failed.out) == (1, "heard\n")
    assert failed.err == f"ledger: the after hook {tmp_path / '.auto/hooks/after.sh'} exited with 4: why\n"


@POSIX
def test_on_a_terminal_a_hook_steers_nothing(tmp_path: Path):
    session(tmp_path)
    hook(tmp_path, "before", "#!/bin/sh\nprintf 'one\\033[2J\\r\\ntwo\\a\\n'\n")
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, "hook", "before"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    shown = os.read(ours, 1000)
    os.close(ours)
    assert (done.returncode, shown.split()) == (0, [b"one", b"two"])
    assert ledger(tmp_path, "hook", "before").out == "one\033[2J\r\ntwo\a\n"


def test_by_hand_what_cannot_be_is_refused(tmp_path: Path):
    alone = ledger(tmp_path, "hook", "before")
    assert (alone.code, alone.out) == (2, "") and alone.err.startswith("ledger: No active session")
    session(tmp_path, lines(HEADER))
    early = ledger(tmp_path, "hook", "after")
    assert (early.code, early.out) == (2, "") and "no run yet" in early.err
    piped = ledger(tmp_path, "hook", "before", "-", stdin=SOUND)
    assert (piped.code, piped.out) == (2, "") and "standard input" in piped.err
    assert ledger(tmp_path, "hook", "between").code == 2
