"""A fourth dialect touches one folder, one tuple and its samples: a toy one is read, mirrored, looped and told of."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledger import dialects
from ledger.base.errors import LedgerError
from ledger.dialects.base import FileLayout
from ledger.reading.discovery import find_logs, session_log
from tests.support.cli import ROOT, Result, environment
from tests.support.project import IDENTITY, Project, bare

SAMPLE = ROOT / "tests" / "support" / "toy_dialect" / "sample.jsonl"


def toy(folder: Path, *arguments: object, home: Path | None = None) -> Result:
    """Run a command of the program whose registry has the toy dialect as well."""
    env = {**environment(home or folder), **IDENTITY}
    env["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.toy_dialect", *map(str, arguments)],
        cwd=folder, env=env, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "bouts.jsonl"
    path.write_bytes(SAMPLE.read_bytes())
    return path


def test_check_reads_it_by_the_rules_of_all_and_by_its_own(log: Path) -> None:
    found = json.loads(toy(log.parent, "check", log, "--format", "json").out)["logs"]
    assert [(one["dialect"], one["records"], one["ok"], one["diagnostics"]) for one in found] == [("toy", 6, True, [])]
    bad = SAMPLE.read_bytes().replace(b'"no":2', b'"no":3').replace(b'"came":"fell"', b'"came":"rose"')
    bad = bad.replace(b'{"what":"bell","why":"the limit was near"}', b'{"what":"gong"}')
    log.write_bytes(bad)
    done = toy(log.parent, "check", log, "--format", "json")
    codes = [(one["line"], one["code"]) for one in json.loads(done.out)["logs"][0]["diagnostics"]]
    assert codes == [(3, "E390"), (4, "R203"), (6, "R219")]
    assert done.code == 1


def test_what_only_its_end_shows_is_found(log: Path) -> None:
    log.write_bytes(SAMPLE.read_bytes().replace(b'"limit":5', b'"limit":4').rsplit(b"\n", 2)[0] + b"\n")
    done = toy(log.parent, "check", log, "--format", "json")
    assert [one["code"] for one in json.loads(done.out)["logs"][0]["diagnostics"]] == ["E391"]
    assert done.code == 0


def test_the_mirror_takes_it_and_gives_it_back(log: Path) -> None:
    folder = log.parent
    whole = log.read_bytes()
    log.write_bytes(whole[: whole.index(b'{"what":"bell"')])
    assert toy(folder, "sync", log).code == 0
    log.write_bytes(whole)
    done = toy(folder, "sync", log)
    assert (done.code, done.err) == (0, "")
    out = folder / "copy.jsonl"
    assert toy(folder, "export", log, "-o", out).code == 0
    assert out.read_bytes() == whole
    verified = json.loads(toy(folder, "verify", log, "--format", "json").out)["logs"]
    assert [(one["ok"], one["bytes"], one["values"]) for one in verified] == [(True, True, True)]
    (session,) = json.loads(toy(folder, "sessions", "--format", "json").out)
    told = {key: session[key] for key in ("dialect", "metric_name", "direction", "runs", "keep", "discard", "crash")}
    assert told == {
        "dialect": "toy", "metric_name": "seconds", "direction": "lower",
        "runs": 4, "keep": 2, "discard": 1, "crash": 1,
    }  # fmt: skip
    assert (session["baseline"], session["best"]) == (10, 8.25)
    assert toy(folder, "db", "rebuild").code == 0
    assert toy(folder, "verify", log).code == 0


def test_verdict_and_status_judge_it_by_its_own_rules(log: Path) -> None:
    folder = log.parent
    assert "VERDICT=concluded\n" in toy(folder, "verdict", log).out
    log.write_bytes(log.read_bytes().rsplit(b"\n", 2)[0] + b"\n")
    assert "VERDICT=continue\n" in toy(folder, "verdict", log).out
    assert "VERDICT=max_iterations\n" in toy(folder, "verdict", log, "--max-iterations", 4).out
    status = toy(folder, "status", log)
    assert (status.code, status.err) == (0, "")
    assert "8.25" in status.out
    assert "seconds" in status.out


def test_logs_are_found_where_a_dialect_has_them(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = FileLayout("ring", "ring/bouts.jsonl", "ring/hooks", run_json=dialects.by_name("codex").run_json)
    fourth = dialects.DEFAULT._replace(name="ring", layout=layout)
    monkeypatch.setattr(dialects, "DIALECTS", (fourth, *dialects.DIALECTS))
    ring = log.parent / "ring"
    ring.mkdir()
    log = log.rename(ring / "bouts.jsonl").resolve()
    (ring / "run.json").touch()
    assert session_log(log.parent.parent) == session_log(ring) == log
    assert find_logs((str(ring.parent),)) == find_logs((str(ring / "run.json"),)) == [log]
    history = log.rename(ring / "events.jsonl")
    assert find_logs((str(ring / "run.json"),)) == [history]
    history.unlink()
    with pytest.raises(LedgerError, match=r"run\.json has no bouts\.jsonl or events\.jsonl beside it"):
        find_logs((str(ring / "run.json"),))


def test_a_command_can_be_told_that_a_log_speaks_it(log: Path) -> None:
    assert toy(log.parent, "check", log, "--dialect", "toy").code == 0


def test_without_the_tuple_nobody_knows_it(log: Path) -> None:
    env = environment(log.parent)
    done = subprocess.run(
        [sys.executable, "-m", "ledger", "check", str(log)], cwd=log.parent, env=env, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert b"S400" in done.stdout


class Ring:
    """Hold a project whose session speaks it, and run the commands there."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def toy(self, *arguments: object) -> Result:
        return toy(self.project.folder, *arguments, home=self.project.home)

    def records(self) -> list[tuple[object, ...]]:
        """Give what each record says, but for its time."""
        keys = ("what", "no", "took", "came", "tried", "why")
        return [tuple(record[key] for key in keys if key in record) for record in self.project.records()]


@pytest.fixture
def ring(tmp_path: Path) -> Ring:
    one = Ring(bare(tmp_path / "work"))
    done = one.toy(
        "init", "speed", "--metric", "total_ms", "--direction", "lower", "--dialect", "toy", "--max-iterations", 4,
        "--command", "bash bench.sh", "--scope", "src", "--git",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "The trainer decides" in one.project.log.with_name("prompt.md").read_text()
    return one


def test_runs_are_made_logged_and_told_of_in_it(ring: Ring) -> None:
    one = ring.project
    one.write(90)
    assert ring.toy("run", "--description", "shorter").code == 0
    one.write(95)
    assert ring.toy("run", "--description", "longer", "--keep-equal", "why not").code == 2
    assert ring.toy("run", "--description", "longer").out == "Run #3: discard | total_ms: 95 (-5.0%)\n"
    assert one.number() == "90"
    assert ring.toy("log", "--metric", "80", "--status", "measured", "--description", "x").code == 2
    assert ring.toy("decide", "3", "keep", "--reason", "x").code == 2
    assert ring.toy("mark", "wall").err == "ledger: a bell says that it is done\n"
    brief = ring.toy("brief")
    assert (brief.code, brief.err) == (0, "")
    for said in ("than the best bout, 90", "make the run a lost bout", "3 of 4 made", "2 keep, 1 discard"):
        assert said in brief.out
    assert "--keep-equal" not in brief.out
    assert ring.toy("log", "--metric", "80", "--status", "crash", "--description", "fell").code == 0
    assert "Ring the bell." in ring.toy("brief").out
    assert ring.toy("archive").err.endswith("is archived: ring the bell first\n")
    assert ring.toy("cancel").code == 0
    assert ring.toy("run", "--description", "more").err == "ledger: the bell rang\n"
    assert ring.records() == [
        ("card",), ("bout", 1, 100, "won", "baseline"), ("bout", 2, 90, "won", "shorter"),
        ("bout", 3, 95, "lost", "longer"), ("bout", 4, 0, "fell", "fell"), ("bell", "cancelled"),
    ]  # fmt: skip
    assert ring.toy("check").code == 0
    assert one.git("ls-files", ".auto") == ".auto/measure.sh"
    assert ring.toy("archive").code == 0
    assert sorted(path.name for path in one.log.parent.iterdir() if path.suffix != ".lock") == ["archive", "measure.sh"]


def test_a_loop_goes_by_it(ring: Ring) -> None:
    agent = (
        'n=$(cat src/number.txt); echo $((n - 1)) > src/number.txt; echo \'{"description": "less"}\' > "$LEDGER_NOTE"'
    )
    done = ring.toy("loop", "--agent", agent)
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert ring.records() == [
        ("card",), ("bout", 1, 100, "won", "baseline"),
        *(("bout", number, 101 - number, "won", "less") for number in (2, 3, 4)), ("bell", "max_iterations"),
    ]  # fmt: skip
    assert ring.toy("loop", "--agent", agent, "--resume").err == "ledger: the bell rang\n"
