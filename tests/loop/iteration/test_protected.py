"""Agents that touch what is not theirs: the log, HEAD, the branch, files out of scope. No work is lost, nor the log."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Result
from tests.support.project import NUMBER, Project, check_sound, project
from tests.support.waiting import LEDGER, twin

IMPROVE = f"echo 90 > {NUMBER}; "
LOG = ".auto/log.jsonl"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = project(tmp_path_factory.mktemp("template") / "work")
    (made.folder / "src" / "other.txt").write_text("other\n")
    made.git("add", "-A")
    made.git("commit", "--quiet", "-m", "second")
    assert made.ledger("run", "--baseline").code == 0
    return made


@pytest.fixture
def one(template: Project, tmp_path: Path) -> Project:
    return twin(template, tmp_path / "work")


def turn(one: Project, agent: str) -> Result:
    """Let an agent take a turn; what one before it left in the tree is this one's."""
    return one.ledger("loop", "--resume", "--agent", agent, "--max-iterations", "2")


def refused(one: Project, agent: str, said: str) -> Result:
    """Assert that a turn is refused with a sentence, the log being as it was and the change still there."""
    before = one.log.read_bytes()
    done = turn(one, IMPROVE + agent)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err, done
    assert one.log.read_bytes() == before
    assert one.number() in ("90", "50")
    assert one.ledger("check").code == 0
    return done


def kept(one: Project, agent: str, *said: str) -> Result:
    """Assert that a turn becomes one kept experiment."""
    head = one.git("rev-parse", "HEAD")
    done = turn(one, agent)
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert all(one_ in done.err for one_ in said), done.err
    assert [run["status"] for run in one.runs()] == ["keep", "keep"]
    assert one.git("rev-parse", "HEAD~") == head
    assert one.git("log", "-1", "--format=%s") == f"experiment: change {NUMBER}"
    check_sound(one)
    return done


@pytest.mark.parametrize(
    "agent",
    [
        f"sed -i s/100/1/ {LOG}",
        f"head -n 2 {LOG} > x && mv x {LOG}",
        f": > {LOG}",
        f"echo garbage >> {LOG}",
        f"printf '{{\"run\":2' >> {LOG}",
        f'tail -n 1 {LOG} | sed s/:1,/:2,/ | tr -d "\\n" >> {LOG}',
        f"printf '\\xef\\xbb\\xbf' | cat - {LOG} > x && mv x {LOG}",
    ],
    ids=["rewritten", "shortened", "emptied", "garbage", "torn", "no newline", "BOM"],
)
def test_an_edited_log_is_put_back_and_the_other_kept(one: Project, agent: str):
    refused(one, f"{agent}; cp {LOG} $HOME/edited", "the agent edited the log (its version is ")
    aside = one.log.with_name("log.edited-1.jsonl")
    assert aside.read_bytes() == (one.home / "edited").read_bytes() != one.log.read_bytes()
    assert one.changed() == f"M {NUMBER}"


def test_each_edited_log_is_kept_under_a_name_of_its_own(one: Project):
    refused(one, f"echo some >> {LOG}", "log.edited-1.jsonl")
    aside = one.log.with_name("log.edited-1.jsonl")
    refused(one, f"echo more >> {LOG}", "log.edited-2.jsonl")
    aside.unlink()
    refused(one, f"echo less >> {LOG}", "log.edited-1.jsonl")
    assert one.log.with_name("log.edited-2.jsonl").read_bytes().endswith(b"\nmore\n")
    done = one.ledger("loop", "--resume", "--agent", "true", "--max-iterations", "2")
    assert done.code == 0 and "changed before the agent's turn" in done.err, done.err
    check_sound(one)


@pytest.mark.parametrize("agent", [f"rm {LOG}", f"mv {LOG} $HOME", "rm -rf .auto", "rm -rf .auto; echo x > .auto"])
def test_a_removed_log_is_put_back(one: Project, agent: str):
    prompt = one.log.with_name("prompt.md").read_bytes()
    refused(one, agent, "the agent removed the log, which only ledger writes")
    assert one.log.with_name("prompt.md").read_bytes() == prompt
    assert one.log.with_name("measure.sh").exists()
    done = one.ledger("loop", "--resume", "--agent", "true", "--max-iterations", "2")
    assert done.code == 0, done.err
    check_sound(one)


@pytest.mark.parametrize("agent", [f"rm {LOG}; mkdir {LOG}", f"mv {LOG} $HOME/l; ln -s $HOME/l {LOG}",
                                   f"rm {LOG}; mkfifo {LOG}"])  # fmt: skip
def test_what_takes_the_place_of_the_log_goes_aside(one: Project, agent: str):
    refused(one, agent, "the agent edited the log")
    assert one.log.is_file() and not one.log.is_symlink()


def test_side_files_that_are_removed_lose_nothing(one: Project):
    agent = f"rm -f .auto/log.[!j]* .auto/*.md .auto/*.json; echo $((100 - LEDGER_RUN)) > {NUMBER}"
    done = one.ledger("loop", "--agent", agent, "--max-iterations", "3")
    assert done.code == 2 and "somebody removed " in done.err and "log.loop.lock" in done.err, done
    assert "Traceback" not in done.err
    done = one.ledger("loop", "--resume", "--agent", f"echo 50 > {NUMBER}", "--max-iterations", "3")
    assert done.code == 0 and ".auto/prompt.md was missing; it is rebuilt" in done.err, done.err
    assert [run["metric"] for run in one.runs()] == [100, 98, 50]
    check_sound(one)


def test_a_changed_run_json_is_put_back(tmp_path: Path):
    one = project(tmp_path / "work", "codex")
    path = one.log.with_name("run.json")
    before = path.read_bytes()
    for agent in (f"sed -i 's/bash bench.sh/echo 1/' {path}", f"rm {path}"):
        refused(one, agent, "run.json, which never changes")
        assert path.read_bytes() == before
    assert b"echo 1" in path.with_name("run.edited-1.json").read_bytes()


def test_a_marker_of_the_agents_ends_the_loop(one: Project):
    done = turn(one, IMPROVE + f"{LEDGER} mark blocked --reason 'the licence server is down'")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: BLOCKED"), done.err
    assert [one.records()[-1][key] for key in ("state", "reason")] == ["blocked", "the licence server is down"]
    assert len(one.runs()) == 1
    assert (one.number(), one.changed()) == ("90", f"M {NUMBER}")
    assert one.ledger("check").code == 0


def test_a_loop_waits_for_no_cancel_of_its_own_agent(one: Project):
    done = turn(one, IMPROVE + f"{LEDGER} cancel")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: CANCELLED"), done.err
    assert one.records()[-1]["state"] == "cancelled"


def test_the_loop_alone_measures(one: Project):
    words = "run --description x", "loop --agent true", "init more --metric total_ms --direction lower"
    agent = "; ".join(f'{LEDGER} {said} >> "$HOME/said" 2>&1; echo $? >> "$HOME/said"' for said in words)
    kept(one, IMPROVE + agent)
    said = (one.home / "said").read_text().splitlines()
    assert said[1::2] == ["2", "2", "2"]
    assert said[0].endswith("it measures your change once your turn is over") and said[2] == said[0]


@pytest.mark.parametrize(
    "agent",
    [
        "git commit -qam mine",
        f"git commit -qam mine; echo 80 > {NUMBER}; git commit -qam more; echo 90 > {NUMBER}",
        "git checkout -qb side; git commit -qam side; git checkout -q -; git merge -q --no-ff side -m merged",
        f"git add {NUMBER}; git add -f .auto/log.jsonl; git commit -qm mine",
    ],
    ids=["one", "two", "merge", "with the log"],
)
def test_commits_of_the_agents_are_one_experiment(one: Project, agent: str):
    kept(one, IMPROVE + agent, "the agent: you committed (")
    assert one.git("show", "--format=", "--name-only", "HEAD") == NUMBER


def test_what_the_agent_put_on_the_index_is_only_a_change(one: Project):
    kept(one, f"echo 95 > {NUMBER}; git add {NUMBER}; {IMPROVE}")


def test_a_commit_that_is_taken_back_is_no_change(one: Project):
    done = turn(one, IMPROVE + "git commit -qam mine; git revert --no-edit HEAD")
    assert done.code == 2 and "changed nothing 3 times in a row" in done.err
    assert one.git("log", "-1", "--format=%s") == "second"


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("git commit -q --amend -am better", "moved HEAD from "),
        (f"git reset -q --hard HEAD~1; {IMPROVE}", "git reset --mixed "),
        ("git checkout -qb side", "left the branch "),
        ("git commit -qam x; git checkout -q main", "left the branch "),
        ("git checkout -q --detach; git commit -qam x", "for a detached HEAD; go back with git checkout autoresearch/"),
        ("git checkout -q --orphan new", "the agent took the repository away, or left its branch"),
        ("mv .git $HOME/gone", "the agent took the repository away"),
    ],
)
def test_history_that_the_agent_changed_is_refused(one: Project, agent: str, said: str):
    before = one.log.read_bytes()
    done = turn(one, IMPROVE + agent)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err, done
    assert one.log.read_bytes() == before
    if said.startswith("moved"):
        head = done.err.partition("git reset --mixed ")[2][:7]
        one.git("reset", "--quiet", "--mixed", head)
        done = one.ledger("loop", "--resume", "--agent", "true", "--max-iterations", "2")
        assert done.code == 0, done.err
        check_sound(one)


@pytest.mark.parametrize("first", ["", "echo 1 > src/new.txt; git add -A; git commit -qm first; "])
def test_a_merge_that_is_half_done_is_refused(one: Project, first: str):
    agent = (
        f"{first}git checkout -qb side; echo 50 > {NUMBER}; git commit -qam side; git checkout -q -;"
        f" echo 60 > {NUMBER}; git commit -qam ours; git merge side"
    )
    done = turn(one, agent)
    assert done.code == 2 and "the agent left a merge under way: finish or abort it" in done.err, done
    assert (one.folder / ".git" / "MERGE_HEAD").exists() and len(one.runs()) == 1


def test_a_stash_is_no_change(one: Project):
    done = turn(one, IMPROVE + "git stash -q")
    assert done.code == 2 and "changed nothing" in done.err
    one.git("stash", "pop", "--quiet")
    assert one.number() == "90"
    one.git("checkout", "--", ".")
    one.git("stash", "clear")


def test_files_out_of_scope_stay_uncommitted(one: Project):
    head = one.git("rev-parse", "HEAD")
    done = turn(one, IMPROVE + "echo x > other.txt; git add -A; git commit -qm mine")
    assert done.code == 2 and "changed out of scope or off limits: other.txt" in done.err, done
    assert one.git("rev-parse", "HEAD") == head and len(one.runs()) == 1
    assert one.changed().split("\n") == [f"M {NUMBER}", "?? other.txt"]


def test_a_turn_does_not_widen_its_own_scope(one: Project):
    widen = "sed -i 's/^- `src`/- `src`\\n- `other.txt`/' .auto/prompt.md; echo x > other.txt; "
    done = turn(one, IMPROVE + widen)
    assert done.code == 2 and "changed out of scope or off limits: other.txt" in done.err, done
    assert "`other.txt`" in one.log.with_name("prompt.md").read_text()
    assert turn(one, "true").code == 0, "a person who goes on has seen the prompt"


def test_a_changed_measure_script_measures_nothing(one: Project):
    done = turn(one, IMPROVE + "echo 'echo METRIC total_ms=1' > .auto/measure.sh; git commit -qam cheat")
    assert done.code == 2 and ".auto/measure.sh differs from what is committed" in done.err, done
    assert len(one.runs()) == 1 and one.number() == "90"
    assert one.git("log", "-1", "--format=%s") == "second"


def test_sound_records_that_others_append_meanwhile_stay(one: Project):
    record = json.dumps(one.runs()[0] | {"run": 2, "metric": 95, "status": "discard", "commit": ""})
    (one.home / "line").write_text(record + "\n")
    done = one.ledger("loop", "--agent", IMPROVE + f'cat "$HOME/line" >> {LOG}', "--max-iterations", "3")
    assert done.code == 0, done.err
    assert [(run["run"], run["metric"]) for run in one.runs()] == [(1, 100), (2, 95), (3, 90)]
    check_sound(one)
