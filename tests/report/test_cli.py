"""`ledger report` as a command: what it reads, what it writes where, how it ends."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import BAD, COMMAND, HEADER, SOUND, environment, ledger, lines, log, run
from tests.support.report_reading import data_of, written

pytestmark = pytest.mark.usefixtures("each_mirror")


def test_the_session_of_the_folder(tmp_path: Path):
    log(tmp_path, SOUND, ".auto/log.jsonl")
    assert data_of(written(tmp_path))["log"]["name"] == f"{tmp_path.name}/.auto/log.jsonl"
    assert not (tmp_path / "mirror.db").exists()


def test_no_session(tmp_path: Path):
    done = ledger(tmp_path, "report", "-o", "page.html")
    assert done.code == 2 and "No active session" in done.err and not (tmp_path / "page.html").exists()


def test_errors_are_told_after_the_page_is_written(tmp_path: Path):
    log(tmp_path, BAD)
    done = ledger(tmp_path, "report", "autoresearch.jsonl", "-o", "page.html")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"ledger: {tmp_path.name}/autoresearch.jsonl has errors; the page shows what could be read\n"
    assert data_of(tmp_path / "page.html")["runs"]["run"] == [1]


def test_warnings_alone_are_clean(tmp_path: Path):
    assert data_of(written(tmp_path, log(tmp_path)))["log"]["ok"] is True


def test_the_limit_of_the_settings_counts(tmp_path: Path):
    log(tmp_path, b'{"maxIterations": 3}', ".auto/config.json")
    path = log(tmp_path)
    assert data_of(written(tmp_path, path))["summary"]["verdict"]["word"] == "max_iterations"


def test_a_mirrored_session_outlives_its_log(tmp_path: Path):
    path = log(tmp_path)
    assert ledger(tmp_path, "sync", path).code == 0
    before = data_of(written(tmp_path, path))
    path.unlink()
    after = data_of(written(tmp_path, "--session", "speed"))
    assert after == before
    done = ledger(tmp_path, "report", "--session", "nobody", "-o", "page.html")
    assert done.code == 2 and "nobody is not in the mirror" in done.err


def test_a_mirrored_codex_log_needs_no_file(tmp_path: Path):
    folder = tmp_path / "autoresearch-results"
    folder.mkdir()
    from tests.support.cli import SAMPLES

    for name in ("events.jsonl", "run.json"):
        (folder / name).write_bytes((SAMPLES / "table-reader" / "autoresearch-results" / name).read_bytes())
    assert ledger(tmp_path, "sync", folder).code == 0
    before = data_of(written(tmp_path, folder))
    for name in ("events.jsonl", "run.json"):
        (folder / name).unlink()
    assert data_of(written(tmp_path, "--session", "Read every table of the suite")) == before


def test_a_name_of_several_sessions(tmp_path: Path):
    for name in ("a", "b"):
        log(tmp_path / name)
    assert ledger(tmp_path, "sync", ".").code == 0
    done = ledger(tmp_path, "report", "--session", "speed", "-o", "page.html")
    assert done.code == 2 and "speed means 2 sessions" in done.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--metric", "m"), "--metric needs --compare"),
        (("--since", "2026-01-01"), "--since needs --compare"),
        (("autoresearch.jsonl", "--compare"), "LOG says nothing to --compare"),
        (("--compare", "--dialect", "codex"), "--dialect says nothing to --compare"),
        (("--compare", "--since", "yesterday"), "'yesterday' is no ISO-8601 time"),
        (("autoresearch.jsonl", "--session", "speed"), "name a log or a --session, not both"),
        (("nowhere.jsonl",), "no such file"),
    ],
)
def test_mistakes_in_the_call(tmp_path: Path, arguments: tuple[str, ...], reason: str):
    log(tmp_path)
    (tmp_path / "page.html").write_text("as it was")
    done = ledger(tmp_path, "report", *arguments, "-o", "page.html")
    assert done.code == 2 and reason in done.err and "Traceback" not in done.err
    assert (tmp_path / "page.html").read_text() == "as it was"


@pytest.mark.of_a_file
def test_a_page_is_never_written_over_a_log_or_a_mirror(tmp_path: Path):
    path = log(tmp_path, SOUND, "log.txt")
    assert ledger(tmp_path, "sync", path).code == 0
    os.link(path, tmp_path / "page.html")
    (tmp_path / "link.html").symlink_to(path)
    for target in ("log.txt", "mirror.db", "other.jsonl", "run.json", "link.html"):
        done = ledger(tmp_path, "report", path, "-o", target)
        assert done.code == 2 and "is no place for a page" in done.err, target
    assert path.read_bytes() == SOUND and not (tmp_path / "other.jsonl").exists()
    written(tmp_path, path)  # replaces a name, and leaves the log under its other one
    assert path.read_bytes() == SOUND and (tmp_path / "page.html").read_bytes() != SOUND


def test_a_page_replaces_the_one_before_it(tmp_path: Path):
    path = log(tmp_path)
    target = tmp_path / "deep" / "er" / "page.html"
    written(tmp_path, path, name=str(target))
    target.chmod(0o600)
    log(tmp_path, SOUND + lines(run(4, 80)))
    written(tmp_path, path, name=str(target))
    assert data_of(target)["runs"]["count"] == 4 and target.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in target.parent.iterdir()] == ["page.html"]


def test_a_place_that_cannot_be_written(tmp_path: Path):
    path = log(tmp_path)
    for target in ("autoresearch.jsonl/page.html", "."):
        done = ledger(tmp_path, "report", path, "-o", target)
        assert done.code == 2 and "Traceback" not in done.err, target
    assert path.read_bytes() == SOUND


def test_a_terminal_is_not_flooded(tmp_path: Path):
    log(tmp_path)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*COMMAND, "report"], cwd=tmp_path, env=environment(tmp_path), stdout=theirs, stderr=subprocess.PIPE,
        timeout=60, check=False,
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2 and b"name a file for the page: -o report.html" in done.stderr


def test_a_project_name_that_is_no_text(tmp_path: Path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    path = log(folder, lines(HEADER, run(1, 1)))
    assert data_of(written(tmp_path, path))["log"]["name"].endswith("/autoresearch.jsonl")
