"""Measurements and checks that are really run: what they come to, whatever the programs do."""

import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.base.errors import LedgerError
from ledger.base.numbers import Number, compare
from ledger.log.jsontext import load
from ledger.loop.measuring.last_measurement import failed_checks, remember
from ledger.loop.measuring.measurement import (
    NO_CHECKS,
    Checked,
    Measurement,
    check,
    guard,
    measure,
    measure_in,
    median,
    verify,
)
from ledger.loop.measuring.output import FIRST_BYTES, LAST_BYTES, TAIL_LINES, Output
from ledger.session.files import Session, of_log
from tests.support.cli import COMMAND, HEADER, ROOT, SAMPLES, environment, ledger, lines, log

FLOOD = """
import sys
from pathlib import Path
from ledger.loop.measuring.measurement import measure_in
taken = measure_in(Path(), ["bash", "-c", sys.argv[1]], "t", Path("run.log"), timeout=60)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(taken.metric, taken.failure, peak.split()[1])
"""
SLEEPER = "(echo $BASHPID > child; exec sleep 300) & sleep 300"


def session(folder: Path, *, script: str = "", checks: str = "") -> Session:
    """Make a session in `.auto`, with these scripts."""
    path = log(folder, lines(HEADER), ".auto/log.jsonl")
    for name, content in (("measure", script), ("checks", checks)):
        if content:
            (path.parent / f"{name}.sh").write_text(content, "utf-8")
    return of_log(path)


def measured(folder: Path, script: str, **more: Any) -> Measurement:
    return measure(session(folder, script=script), "total_ms", **more)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assert_dies(folder: Path) -> None:
    pid = int((folder / "child").read_text())
    deadline = time.monotonic() + 5
    while is_alive(pid):
        assert time.monotonic() < deadline, "the grandchild lives on"
        time.sleep(0.02)


def test_both_streams_are_read_and_kept(tmp_path: Path):
    taken = measured(tmp_path, "echo METRIC total_ms=4.5e3; echo METRIC mem=7 >&2; pwd; echo METRIC total_ms=5")
    assert taken[:5] == (5, {"mem": 7}, (), "", "")
    assert 0 < taken.seconds < 5
    kept = (tmp_path / "run.log").read_text()
    assert kept == f"METRIC total_ms=4.5e3\nMETRIC mem=7\n{tmp_path.resolve()}\nMETRIC total_ms=5\n"


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("echo METRIC mem=7", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=NaN", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=12ms", "printed no METRIC total_ms"),
        ("printf 'METRIC total_ms=\\xff\\n'", "printed no METRIC total_ms"),
        ("echo METRIC total_ms=1; exit 3", "exited with status 3"),
        ("echo METRIC total_ms=1; exit 255", "exited with status 255"),
        ("echo METRIC total_ms=1; kill -9 $$", "killed by signal 9"),
        ("bash -c 'kill -11 $$'", "killed by signal 11"),
        ("no-such-program-anywhere", "exited with status 127"),
        ("true", "printed no METRIC total_ms"),
    ],
)
def test_a_failure_says_what_happened(tmp_path: Path, script: str, failure: str):
    taken = measured(tmp_path, f"echo before; {script}")
    assert (taken.metric, taken.metrics, taken.failure) == (None, {}, failure)
    assert taken.tail.startswith("before")
    assert len(taken.warnings) == ("NaN" in script or "12ms" in script or "xff" in script)


def test_what_cannot_run_is_a_failure(tmp_path: Path):
    there = session(tmp_path)
    assert measure(there, "total_ms").failure.endswith("without its script " + str(there.file("measure")))
    assert measure(there, None, command=["no-such-program"]).failure == (
        "cannot run no-such-program: no such file or directory"
    )
    assert (
        measure(there, None, command=["echo", "a\0b"]).failure == "cannot run a command that has a NUL character in it"
    )
    assert measure(there, None, command=["echo", "x" * 5_000_000]).failure == "cannot run echo: argument list too long"
    (tmp_path / "run.log").unlink()
    (tmp_path / "run.log").mkdir()
    with pytest.raises(LedgerError, match=r"cannot write the output to .*run\.log: is a directory"):
        measure(there, None, command=["echo"])


def test_without_a_primary_all_metrics_count_alike(tmp_path: Path):
    there = session(tmp_path)
    assert measure(there, None, command=["echo", "METRIC a=1"])[:2] == (None, {"a": 1})
    assert measure(there, None, command=["echo", "METRICS"]).failure == "printed no METRIC line"


def test_line_ends_and_names_of_any_system(tmp_path: Path):
    there = session(tmp_path, script="printf 'METRIC total_µs=1.5e1\\r\\nMETRIC größe=2\\r\\n\\xff\\xfe\\n'")
    assert measure(there, "total_µs")[:4] == (15.0, {"größe": 2}, (), "")


def test_a_timeout_kills_the_children_too(tmp_path: Path):
    taken = measured(tmp_path, f"echo METRIC total_ms=1; {SLEEPER}", timeout=0.4)
    assert (taken.metric, taken.failure, taken.tail) == (None, "timed out after 0.4 s", "METRIC total_ms=1")
    assert taken.seconds < 5
    assert_dies(tmp_path)


def test_a_child_that_holds_the_output_holds_nothing_up(tmp_path: Path):
    taken = measured(tmp_path, "(echo $BASHPID > child; exec sleep 300) & echo METRIC total_ms=1", timeout=60)
    assert (taken.metric, taken.failure) == (1, "") and taken.seconds < 10
    assert_dies(tmp_path)


def test_a_full_disk_ends_it_with_all_its_children(tmp_path: Path):
    with pytest.raises(LedgerError, match="cannot write the output to /dev/full: no space left on device"):
        measure_in(tmp_path, ["bash", "-c", f"{SLEEPER} & sleep 0.2; echo out; wait"], None, Path("/dev/full"))
    assert_dies(tmp_path)


def test_the_timeout_is_that_of_the_settings(tmp_path: Path):
    there = session(tmp_path, script="sleep 300", checks="sleep 300")
    there = there._replace(settings=there.settings._replace(benchmark_timeout=0.2, checks_timeout=0.3))
    assert measure(there, None).failure == "timed out after 0.2 s"
    assert check(there)[:2] == ("fail", "timed out after 0.3 s")
    assert check(there, timeout=0.1).failure == "timed out after 0.1 s"


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("head -c 256M /dev/zero | tr '\\0' x", "None printed no METRIC t"),
        ("printf 'METRIC t='; head -c 256M /dev/zero | tr '\\0' 7", "None printed no METRIC t"),
        ("head -c 256M /dev/zero | tr '\\0' '\\n'; echo METRIC t=4", "4 "),
    ],
)
def test_a_flood_of_output_is_bounded(tmp_path: Path, command: str, result: str):
    done = subprocess.run(
        [sys.executable, "-c", FLOOD, command],
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said, _, memory = done.stdout.rstrip().rpartition(" ")
    assert said == result
    assert int(memory) < 64_000, "kilobytes"
    kept = (tmp_path / "run.log").read_bytes()
    assert FIRST_BYTES + LAST_BYTES < len(kept) < FIRST_BYTES + LAST_BYTES + 100
    assert b"\n[ledger left out " in kept[FIRST_BYTES : FIRST_BYTES + 20]
    assert kept.endswith(b"METRIC t=4\n") == (result == "4 ")


def test_the_median_of_each_metric_is_taken(tmp_path: Path):
    script = """
    echo x >> count; n=$(wc -l < count)
    echo METRIC mem=$((10 * n)); [ $n = 2 ] && echo METRIC rare=1
    case $n in 1) echo METRIC total_ms=0.1;; 2) echo METRIC total_ms=9;; *) echo METRIC total_ms=0.2;; esac
    """
    taken = measured(tmp_path, script, repeat=4)
    assert taken[:4] == (0.2, {"mem": 25, "rare": 1}, (0.1, 9, 0.2, 0.2), "")
    assert taken.warnings == ("METRIC rare came in 1 of 4 runs",)
    assert (tmp_path / "run.log").read_text().count("METRIC total_ms=") == 4


def test_a_repeated_measurement_stops_at_the_first_failure(tmp_path: Path):
    taken = measured(tmp_path, "echo x >> count; echo METRIC total_ms=1; [ $(wc -l < count) != 2 ]", repeat=5)
    assert taken[:4] == (None, {}, (), "exited with status 1")
    assert (tmp_path / "count").read_text() == "x\nx\n"


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([3], 3),
        ([0.1, 0.2], 0.15),
        ([1, 2], 1.5),
        ([1, 3], 2),
        ([5, 1, 9], 5),
        ([Decimal(2**53 + 1), 2**53], Decimal("9007199254740992.5")),
        ([1e308, 1.5e308], 1.25e308),
        ([Decimal("1E-400"), 1], Decimal("0.5" + "0" * 399 + "5")),
    ],
)
def test_a_median_is_exact(values: list[Number], middle: Number):
    assert compare(median(values), middle) == 0
    assert compare(median(values[::-1]), middle) == 0


@given(st.lists(st.integers(-(10**20), 10**20), min_size=1, max_size=9))
def test_a_median_lies_in_the_middle(values: list[int]):
    middle = median([Decimal(value) for value in values])
    below = sum(compare(value, middle) < 0 for value in values)
    above = sum(compare(value, middle) > 0 for value in values)
    assert max(below, above) <= len(values) / 2


def test_checks_pass_fail_or_are_not_there(tmp_path: Path):
    there = session(tmp_path)
    assert check(there) == NO_CHECKS
    assert not there.side("checks.log").exists()
    there.file("checks").write_text("pwd; echo wrong >&2; exit $(cat status)")
    (tmp_path / "status").write_text("0")
    assert check(there)[:3] == ("pass", "", "")
    (tmp_path / "status").write_text("4")
    assert check(there)[:3] == ("fail", "exited with status 4", f"{tmp_path.resolve()}\nwrong")
    assert there.side("checks.log").read_text() == f"{tmp_path.resolve()}\nwrong\n"


def test_a_tail_is_short_and_plain(tmp_path: Path):
    with Output(None) as kept:
        kept.write(b"first\n" + b"".join(b"line %d\n" % i for i in range(100)))
        kept.write(b"10%\r20%\r\n\x1b[31mred\x1b[0m \xff\n\n")
    assert kept.tail.split("\n") == [f"line {i}" for i in range(62, 100)] + ["20%", "red �"]
    with Output(tmp_path / "whole", whole=True) as kept:
        kept.write(b"y" * (FIRST_BYTES + 1))
    assert (tmp_path / "whole").stat().st_size == FIRST_BYTES + 1
    assert len(kept.tail) <= 500 and TAIL_LINES == 40


# ---- codex -----------------------------------------------------------------------------------------------------------


def config(command: str, json_key: str | None = None, **more: Any) -> dict[str, Any]:
    return {"metric": {"command": command, "json_key": json_key}, "guard": None, "timeout_seconds": 20, **more}


def codex(folder: Path) -> Session:
    return of_log(log(folder, b"", "autoresearch-results/events.jsonl"))


PRETTY = '{\n  "errors": 4.50,\n  "deep": {"er": {"rors": 5}},\n  "a.b": 6\n}\n'


@pytest.mark.parametrize(
    ("printed", "key", "value"),
    [
        ("12\n", None, 12),
        ("noise 7\n  -1.5e3 \r\n\n \n", None, -1500.0),
        ("0.1000000000000000000001", None, Decimal("0.1000000000000000000001")),
        ('noise\n{"errors":3}\n', "errors", 3),
        ('{"errors":9223372036854776000}\n\n', "errors", Decimal(9223372036854776000)),
        (PRETTY, "errors", 4.5),
        (PRETTY, "deep.er.rors", 5),
        (PRETTY, "a.b", 6),
        ('{"a.b":1,"a":{"b":2}}', "a.b", 1),
        ("x" * 3_000_000 + "\n12\n", None, 12),
    ],
)
def test_a_codex_command_prints_a_number(tmp_path: Path, printed: str, key: str | None, value: Number):
    (tmp_path / "printed").write_text(printed, "utf-8", newline="")
    output = tmp_path / "autoresearch-results" / "logs" / "001.verify.log"
    taken = verify(codex(tmp_path), config("cat printed", key), output)
    assert taken[:5] == (value, {}, (), "", "")
    assert type(taken.metric) is type(value)
    assert output.read_text("utf-8") == printed.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("printed", "key", "failure"),
    [
        (b"", None, "printed no number"),
        (b"\n \n", None, "printed no number"),
        (b"12 ms\n", None, "no finite decimal number as its last line but '12 ms'"),
        (b"12\ndone\n", None, "no finite decimal number as its last line but 'done'"),
        (b"NaN", None, "no finite decimal number"),
        (b"1e999", None, "no finite decimal number"),
        (b"0x10", None, "no finite decimal number"),
        (b"{}", None, "no finite decimal number"),
        (b"\xff\n12\n", None, "printed text that is not UTF-8"),
        (b"12\xc3", None, "printed text that is not UTF-8"),
        (b"12\n", "errors", "no JSON object"),
        (b"[1]\n", "errors", "no JSON object"),
        (b'{"error":1}', "errors", "a JSON object with no 'errors'"),
        (b'{"errors":"1"}', "errors", "no number as 'errors'"),
        (b'{"errors":true}', "errors", "no number as 'errors'"),
        (b'{"errors":null}', "errors", "no 'errors'"),
        (b'{"errors":NaN}', "errors", "constant NaN"),
        (b'{"errors":1e999}', "errors", "overflow 1e999"),
        (b'{"errors":1,"errors":2}', "errors", "duplicate errors"),
        (b'{"errors":1} x', "errors", "trailing x"),
        (b'{\n"errors":1,\n"errors":2\n}', "errors", "duplicate errors"),
        (b'noise\n{\n"errors":1\n}', "errors", "no sound JSON object as its last line but '}'"),
        (b"[" * 5000, "errors", "depth"),
        (b"1" * 1_100_000, None, "a line of more than 1,048,576 bytes"),
    ],
)
def test_a_codex_command_that_prints_anything_else_fails(tmp_path: Path, printed: bytes, key: str | None, failure: str):
    (tmp_path / "printed").write_bytes(printed)
    output = tmp_path / "autoresearch-results" / "logs" / "001.verify.log"
    taken = verify(codex(tmp_path), config("cat printed", key), output)
    assert taken.metric is None and failure in taken.failure and len(taken.failure) < 250
    assert output.read_bytes() == printed


def test_a_codex_command_may_fail_and_hang(tmp_path: Path):
    there, output = codex(tmp_path), tmp_path / "verify.log"
    taken = verify(there, config("echo 1; echo 2 >&2; exit 3"), output)
    assert taken[:4] == (None, {}, (), "exited with status 3")
    assert sorted(taken.tail) == ["\n", "1", "2"] and sorted(output.read_bytes().split()) == [b"1", b"2"]
    assert verify(there, config("echo 2 >&2"), output).failure == "printed no number", "stderr is no answer"
    taken = verify(there, config(f"echo 7; {SLEEPER}", timeout_seconds=0.4), output)
    assert (taken.failure, taken.tail) == ("timed out after 0.4 s", "7")
    assert_dies(tmp_path)
    assert "NUL" in verify(there, config("echo 1\0"), output).failure


def test_a_codex_guard(tmp_path: Path):
    there, output = codex(tmp_path), tmp_path / "logs" / "guard.log"
    assert guard(there, config("true"), output) == NO_CHECKS and not output.exists()
    assert guard(there, config("true", guard="echo fine"), output)[:3] == ("pass", "", "")
    assert output.read_bytes() == b"fine\n"
    assert guard(there, config("true", guard="echo bad; false"), output)[:3] == ("fail", "exited with status 1", "bad")
    assert guard(there, config("true", guard="sleep 9", timeout_seconds=0.2), output).failure.startswith("timed out")


# ---- the last measurement --------------------------------------------------------------------------------------------

GOOD = Measurement(5, {"mem": Decimal("0.1000000000000000000001")}, (), "", "", 1.0, ())
FAILED = Checked("fail", "exited with status 4", "wrong", 1.0)
PASSED = Checked("pass", "", "", 1.0)
REASON = "the checks of these files failed (exited with status 4)"


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    env = {**environment(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *arguments], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "code.py").write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-qm", "start")
    return session(tmp_path)


def test_failed_checks_are_those_of_the_same_tree(repository: Session):
    code = repository.workdir / "code.py"
    assert failed_checks(repository) is None, "nothing was measured"
    code.write_text("two\n")
    remember(repository, GOOD, FAILED)
    assert failed_checks(repository) == REASON
    (repository.workdir / "run.log").write_text("the session's own")
    repository.file("ideas").write_text("the session's own")
    assert failed_checks(repository) == REASON
    git(repository.workdir, "commit", "-qam", "experiment: two")
    assert failed_checks(repository) == REASON, "a commit changes no file"
    code.write_text("three\n")
    assert failed_checks(repository) is None
    (repository.workdir / "new.py").write_text("")
    code.write_text("two\n")
    assert failed_checks(repository) is None
    (repository.workdir / "new.py").unlink()
    assert failed_checks(repository) == REASON
    remember(repository, GOOD, PASSED)
    assert failed_checks(repository) is None


def test_to_measure_again_without_checks_forgives_nothing(repository: Session):
    remember(repository, GOOD, FAILED)
    remember(repository, GOOD, None)
    assert failed_checks(repository) == REASON
    (repository.workdir / "code.py").write_text("two\n")
    remember(repository, GOOD, None)
    assert failed_checks(repository) is None


def test_outside_a_repository_the_last_checks_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    there = session(tmp_path)
    remember(there, GOOD, FAILED)
    (tmp_path / "code.py").write_text("two\n")
    assert failed_checks(there) == REASON
    remember(there, GOOD, PASSED)
    assert failed_checks(there) is None


def test_what_is_remembered_is_exact_and_leaves_no_other_file(repository: Session):
    remember(repository, GOOD, FAILED)
    path = repository.side("measurement.json")
    said = load(path.read_text())
    assert (said["metric"], said["metrics"], said["checks"]) == (5, GOOD.metrics, "fail")
    assert len(said["head"]) == len(said["tree"]) == 40
    assert sorted(one.name for one in path.parent.iterdir()) == ["log.jsonl", "log.measurement.json"]


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{", b"[]", b"\xff", b"null", b'{"checks":"fail"}', b'{"checks":"fail","checks_failure":"x","tree":1}'],
)
def test_a_damaged_file_is_ignored(repository: Session, damaged: bytes):
    repository.side("measurement.json").write_bytes(damaged)
    assert failed_checks(repository) is None
    remember(repository, GOOD, None)
    assert failed_checks(repository) is None


# ---- the command line ------------------------------------------------------------------------------------------------


def test_measure_prints_metrics_that_can_be_read_again(tmp_path: Path):
    there = session(tmp_path, script="echo METRIC mem=7; echo METRIC total_ms=4.5e3; echo METRIC bad=x")
    done = ledger(tmp_path, "measure")
    assert (done.code, done.out) == (0, "METRIC total_ms=4500.0\nMETRIC mem=7\n")
    assert "warning: a METRIC line was refused, its value is no finite decimal number: METRIC bad=x" in done.err
    assert "output in run.log" in done.err
    assert load(there.side("measurement.json").read_text())["metric"] == 4500
    assert ledger(tmp_path, "measure", "--parse", stdin=done.out.encode()).out == done.out
    other = tmp_path / "other"
    other.mkdir()
    assert ledger(other, "measure", "--log", there.log).out == done.out


def test_measure_of_a_command_in_a_session(tmp_path: Path):
    session(tmp_path)
    done = ledger(tmp_path, "measure", "--repeat", "2", "--format", "json", "--", "echo", "METRIC total_ms=3")
    said = load(done.out)
    assert done.code == 0 and said.pop("seconds") > 0
    assert said == {"metric": 3, "metrics": {}, "samples": [3, 3], "failure": None, "checks": None, "warnings": []}
    assert "samples: 3, 3" in done.err


def test_measure_of_a_failure(tmp_path: Path):
    there = session(tmp_path, script="echo METRIC mem=1; echo $'\\e[31mboom'; exit 7", checks="touch checked")
    done = ledger(tmp_path, "measure", "--checks")
    assert (done.code, done.out) == (1, "")
    assert done.err == "ledger: measurement failed: exited with status 7; output in run.log\nMETRIC mem=1\nboom\n"
    assert not (tmp_path / "checked").exists(), "there is nothing to check"
    done = ledger(tmp_path, "measure", "--format", "json")
    assert done.code == 1 and load(done.out)["failure"] == "exited with status 7"
    there.file("measure").unlink()
    done = ledger(tmp_path, "measure")
    assert (done.code, done.err) == (
        1,
        "ledger: measurement failed: cannot run without its script .auto/measure.sh; output in run.log\n",
    )


def test_measure_with_checks(tmp_path: Path):
    there = session(tmp_path, script="echo METRIC total_ms=1", checks="echo wrong; exit 1")
    done = ledger(tmp_path, "measure", "--checks", "--format", "json", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (done.code, load(done.out)["checks"], load(done.out)["failure"]) == (1, "fail", None)
    assert "checks failed: exited with status 1; output in .auto/log.checks.log\nwrong\n" in done.err
    assert failed_checks(there) == "the checks of these files failed (exited with status 1)"
    there.file("checks").write_text("true")
    done = ledger(tmp_path, "measure", "--checks")
    assert (done.code, done.out) == (0, "METRIC total_ms=1\n") and "checks done in" in done.err
    assert failed_checks(there) is None
    there.file("checks").unlink()
    done = ledger(tmp_path, "measure", "--checks")
    assert done.code == 0 and "there are no checks" in done.err


def test_measure_outside_a_session(tmp_path: Path):
    done = ledger(tmp_path, "measure", "bash", "-c", "echo METRIC a=1; echo METRIC b=2 >&2")
    assert (done.code, done.out) == (0, "METRIC a=1\nMETRIC b=2\n")
    assert list(tmp_path.iterdir()) == []
    assert ledger(tmp_path, "measure", "--timeout", "0.2", "--", "sleep", "9").code == 1
    done = ledger(tmp_path, "measure")
    assert done.code == 2 and "No active session" in done.err
    done = ledger(tmp_path, "measure", "--checks", "--", "true")
    assert done.code == 2 and "no checks outside a session" in done.err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--repeat", "0"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--timeout", "inf"],
        ["--log", "-"],
        ["--log", "gone.jsonl"],
        ["--parse", "--", "true"],
        ["--parse", "x", "--checks"],
        ["--frobnicate"],
    ],
    ids=" ".join,
)
def test_measure_refuses_what_makes_no_sense(tmp_path: Path, wrong: list[str]):
    session(tmp_path, script="touch measured")
    done = ledger(tmp_path, "measure", *wrong)
    assert done.code == 2 and done.err and "Traceback" not in done.err
    assert not (tmp_path / "measured").exists()


def test_parse_only_reads(tmp_path: Path):
    output = "noise\nMETRIC total_ms=4.5e3\nMETRIC µs=7\r\nMETRIC total_ms=+5\nMETRIC bad=NaN\n\udcff".encode(
        "utf-8", "surrogateescape"
    )
    done = ledger(tmp_path, "measure", "--parse", "total_ms", stdin=output)
    assert (done.code, done.out) == (0, "5\n") and done.err.count("\n") == 1
    done = ledger(tmp_path, "measure", "--parse", stdin=output)
    assert (done.code, done.out) == (0, "METRIC total_ms=5\nMETRIC µs=7\n")
    done = ledger(tmp_path, "measure", "--parse", "--format", "json", stdin=output)
    assert (done.code, load(done.out)) == (0, {"total_ms": 5, "µs": 7})
    for arguments in (["--parse", "bad"], ["--parse", "gone"]):
        done = ledger(tmp_path, "measure", *arguments, stdin=output)
        assert (done.code, done.out) == (1, "") and f"no METRIC {arguments[1]} on" in done.err
    done = ledger(tmp_path, "measure", "--parse", stdin=b"\xff" * 100)
    assert (done.code, done.out, done.err) == (1, "", "ledger: there is no METRIC line on standard input\n")
    assert list(tmp_path.iterdir()) == []


def test_measure_in_a_codex_session(tmp_path: Path):
    sample = SAMPLES / "table-reader" / "autoresearch-results"
    made = load((sample / "run.json").read_text("utf-8"))
    made["metric"] |= {"command": "echo noise >&2; cat answer", "json_key": "errors"}
    made["guard"] = "echo guarded; test -e answer"
    there = of_log(log(tmp_path, (sample / "events.jsonl").read_bytes(), "autoresearch-results/events.jsonl"))
    log(tmp_path, lines(made), "autoresearch-results/run.json")
    (tmp_path / "answer").write_text('{"errors": 3}')
    before = there.log.read_bytes()
    done = ledger(tmp_path, "measure", "--checks")
    assert (done.code, done.out) == (0, "METRIC errors=3\n")
    logs = there.log.parent / "logs"
    assert (logs / "measure.guard.log").read_bytes() == b"guarded\n"
    assert b"noise\n" in (logs / "measure.verify.log").read_bytes()
    (tmp_path / "answer").write_text('{"errors": "three"}')
    done = ledger(tmp_path, "measure")
    assert done.code == 1 and "printed a JSON object with no number as 'errors'" in done.err
    done = ledger(tmp_path, "measure", "--", "echo", '{"errors":4}')
    assert (done.code, done.out) == (0, "METRIC errors=4\n")
    assert ledger(tmp_path, "measure", "--repeat", "2").code == 2
    assert there.log.read_bytes() == before
    (there.log.parent / "run.json").unlink()
    done = ledger(tmp_path, "measure")
    assert done.code == 2 and "run.json" in done.err


def test_ctrl_c_kills_what_was_started(tmp_path: Path):
    session(tmp_path, script=SLEEPER)
    child = subprocess.Popen(
        [*COMMAND, "measure"], cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 20
        while not ((tmp_path / "child").exists() and (tmp_path / "child").read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
    finally:
        child.kill()
    assert (child.returncode, said.strip()) == (130, "ledger: interrupted")
    assert_dies(tmp_path)
