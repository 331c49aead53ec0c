"""Take a session up again: only one that goes on, only where the kept work is, with a prompt in any case."""

from pathlib import Path

import pytest

from tests.support.project import Project, check_sound, project

RESUME = ("loop", "--resume", "--agent", "echo $((100 - LEDGER_RUN)) > src/number.txt", "--max-iterations")


@pytest.fixture
def one(tmp_path: Path) -> Project:
    made = project(tmp_path / "work", "autoresearch", "--secondary", "mem", "--off-limits", "src/fixed.txt")
    done = made.ledger("loop", "--agent", "echo 90 > src/number.txt", "--max-iterations", "2")
    assert done.code == 0, done.err
    assert made.ledger("mark", "running", "--restart").code == 0
    return made


def test_a_session_goes_on(one: Project):
    done = one.ledger(*RESUME, "3")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert [run["run"] for run in one.runs()] == [1, 2, 3]
    check_sound(one)


def test_kept_work_that_is_not_here_is_refused(one: Project):
    before = one.log.read_bytes()
    kept = one.runs()[-1]["commit"]
    one.git("checkout", "--quiet", "main")
    for more in ([], ["--detach"]):
        refused = one.ledger(*RESUME, "3", *more)
        assert (refused.code, refused.out) == (2, ""), refused
        assert f"the last kept commit, {kept}, is not in HEAD" in refused.err
        assert f"git branch --contains {kept}" in refused.err
    assert one.log.read_bytes() == before
    one.git("checkout", "--quiet", "-")
    one.git("revert", "--no-edit", "HEAD")
    assert one.ledger(*RESUME, "3").code == 0


def test_a_kept_commit_that_is_no_hash_is_only_text(one: Project):
    data = one.log.read_bytes()
    kept = one.runs()[-1]["commit"]
    one.log.write_bytes(data.replace(f'"commit":"{kept}"'.encode(), b'"commit":"--all\\u001b[2J"'))
    refused = one.ledger(*RESUME, "3")
    assert refused.code == 2 and "\x1b" not in refused.err and "Traceback" not in refused.err


@pytest.mark.parametrize("word", ["done", "cancelled", "wall", "blocked"])
def test_a_concluded_session_is_not_resumed_nor_begun(one: Project, word: str):
    assert one.ledger("mark", word, "--reason", "x").code == 0
    before = one.log.read_bytes()
    for words in ((*RESUME, "9"), ("loop", "--agent", "true")):
        refused = one.ledger(*words)
        assert (refused.code, refused.out) == (2, "")
        assert f"the session is concluded ({word}); ledger mark running --restart goes on with it" in refused.err
    assert one.log.read_bytes() == before
    assert one.ledger("mark", "running", "--restart").code == 0
    assert one.ledger(*RESUME, "3").code == 0


def test_a_missing_prompt_is_rebuilt(one: Project):
    prompt = one.log.with_name("prompt.md")
    prompt.unlink()
    done = one.ledger(*RESUME, "3")
    assert done.code == 0
    assert ".auto/prompt.md was missing; it is rebuilt from the header and git log" in done.err
    text = prompt.read_text()
    assert text.startswith("# Autoresearch: speed\n")
    for line in (
        "Make `total_ms` lower.", "- Primary: `total_ms` (ms), lower is better", "- Secondary: `mem`",
        "## Files in scope", "## What has been tried",
    ):  # fmt: skip
        assert line in text.splitlines()
    tried = text.partition("## What has been tried")[2]
    assert tried.count("\n- ") == 4 and tried.splitlines()[-1].endswith(" first")
    assert one.ledger("brief").code == 0
    kept = prompt.read_bytes()
    assert one.ledger(*RESUME, "4").code == 2, "done by now"
    assert prompt.read_bytes() == kept


def test_a_rebuilt_prompt_keeps_the_scope_that_the_header_states(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol", "--off-limits", "src/fixed.txt")
    assert one.ledger("run", "--baseline").code == 0
    one.log.with_name("prompt.md").unlink()
    one.git("commit", "--quiet", "--allow-empty", "-m", "<!-- \x1b[31mred")
    done = one.ledger("loop", "--resume", "--agent", "echo x > other.txt", "--max-iterations", "2")
    assert done.code == 2 and "changed out of scope or off limits: other.txt" in done.err
    text = one.log.with_name("prompt.md").read_text()
    assert "- `src`\n" in text and "- `src/fixed.txt`\n" in text
    assert "\x1b" not in text and "&lt;!-- red" in text


def test_resume_needs_an_agent_once(tmp_path: Path):
    one = project(tmp_path / "work")
    refused = one.ledger("loop", "--resume")
    assert refused.code == 2 and "--agent" in refused.err
    one.log.with_name("log.loop.json").write_text('{"agent":["x"]}')
    assert one.ledger("loop", "--resume").code == 2
