"""Agents that say odd things, hang, fail, write floods, or do nothing: each turn is measured as what it is, or told."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Result
from tests.support.project import NUMBER, Project, check_sound, project
from tests.support.waiting import is_dead, twin, until

IMPROVE = f"echo 90 > {NUMBER}; "


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = project(tmp_path_factory.mktemp("template") / "work")
    assert made.ledger("run", "--baseline").code == 0
    return made


@pytest.fixture
def one(template: Project, tmp_path: Path) -> Project:
    return twin(template, tmp_path / "work")


def turn(one: Project, agent: str, *more: str) -> Result:
    """Let an agent take the one turn that is left."""
    return one.ledger("loop", "--agent", agent, "--max-iterations", "2", *more)


def noted(one: Project, note: object) -> tuple[Result, dict[str, Any]]:
    """Let an agent improve the number and leave a note, which is to be logged; bytes stand for a note as it is."""
    (one.home / "note").write_bytes(note if isinstance(note, bytes) else json.dumps(note).encode())
    done = turn(one, IMPROVE + 'cp "$HOME/note" "$LEDGER_NOTE"')
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert "Traceback" not in done.err
    assert one.ledger("check").code == 0 and one.changed() == ""
    assert one.git("log", "-1", "--format=%s").startswith("experiment: ")
    report = next(line for line in done.out.splitlines() if line.startswith("Run #2"))
    assert report.startswith("Run #2: keep | total_ms: 90 (-10.0%) | ") and len(report) < 200
    return done, one.runs()[-1]


def test_a_note_says_what_was_tried(one: Project):
    note = {"description": " use a table\n", "asi": {"hypothesis": "it is faster", "n": 2**60}, "other": 1}
    done, run = noted(one, note)
    assert (run["description"], run["asi"]) == ("use a table", note["asi"])
    assert done.err == ""
    assert one.git("log", "-1", "--format=%B") == "experiment: use a table"


def test_a_note_of_a_windows_editor_is_read(one: Project):
    _, run = noted(one, b'\xef\xbb\xbf{"description":"x"}\r\n')
    assert run["description"] == "x"


def test_a_reason_to_discard_is_heeded(one: Project):
    done = turn(one, IMPROVE + """echo '{"description":"x","discard":"ugly"}' > "$LEDGER_NOTE" """)
    assert done.code == 0
    run = one.runs()[-1]
    assert (run["status"], run["asi"]["discard_reason"]) == ("discard", "ugly")
    check_sound(one)


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (b"", "left no note"),
        (b" \n", "left no note"),
        (b"{", "the note is no JSON object"),
        (b"[1]", "the note is no JSON object"),
        (b'{"description":"\xff"}', "the note is no JSON object"),
        (b'{"description":"x","asi":NaN}', "the note is no JSON object"),
        (b'{"description":"x","asi":' + b"[" * 9000 + b"]" * 9000 + b"}", "the note is no JSON object"),
        ({"description": 7, "asi": [1, "two"]}, "description must be a text; asi must be an object"),
        ({"description": ["x"], "asi": {}}, "description must be a text"),
        ({"asi": {"hypothesis": "x"}}, "description is missing"),
        ({"description": "", "keep_equal": 3}, "keep_equal must be a text; description is missing"),
        ({"description": "\u0000\u001b[31m"}, "description is missing"),
        ({"description": "x" * 5_000_000}, "the agent's note is left out: "),
    ],
)
def test_a_note_that_is_wrong_costs_only_itself(one: Project, note: object, said: str):
    done, run = noted(one, note)
    assert said in done.err
    assert run["description"] == f"change {NUMBER}"
    if isinstance(note, dict) and isinstance(note.get("asi"), list):
        assert run["asi"] == {"note": '[1,"two"]'}
    assert said in one.ledger("brief").out


@pytest.mark.parametrize("made", ["mkdir", "mkfifo", "ln -s /dev/zero"])
def test_a_note_that_is_no_file_costs_only_itself(one: Project, made: str):
    done = turn(one, IMPROVE + made + ' "$LEDGER_NOTE"')
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert "the agent's note is left out" in done.err
    assert one.runs()[-1]["description"] == f"change {NUMBER}"
    check_sound(one)


@pytest.mark.parametrize(
    "text",
    ["-m \"quoted\" 'twice' $HOME `true`", "--amend", "two\n\nparagraphs\n# and no comment", "= + @ \u202e \U0001f600",
     "é" * 9_000],
    ids=["quotes", "dash", "lines", "signs", "long"],
)  # fmt: skip
def test_any_text_is_a_description(one: Project, text: str):
    done, run = noted(one, {"description": text})
    assert done.err == ""
    text = text.replace("\u202e", "")
    assert run["description"] == text
    subject = one.git("log", "-1", "--format=%s")
    assert len(subject) <= 80 and subject.startswith(" ".join(f"experiment: {text[:40]}".split())[:30])


def test_a_longer_description_is_cut_and_whole_in_the_asi(one: Project):
    done, run = noted(one, {"description": "é" * 100_000, "asi": {"hypothesis": "y"}})
    assert "description is cut after 10,000 characters" in done.err
    assert run["description"] == "é" * 9_999 + "…"
    assert run["asi"] == {"description": "é" * 100_000, "hypothesis": "y"}


def test_control_characters_reach_no_commit(one: Project):
    _, run = noted(one, {"description": "a\u0000b\u001b[31mc\td"})
    assert run["description"] == "abc d"


def test_an_agent_that_fails_and_changed_something_is_measured(one: Project):
    done = turn(one, f"echo oh no >&2; {IMPROVE} exit 3")
    assert done.code == 0, done.err
    assert "the agent exited with status 3; its output is in " in done.err and "ledger:   oh no\n" in done.err
    assert one.runs()[-1]["metric"] == 90
    check_sound(one)


@pytest.mark.parametrize(("agent", "how"), [("exit 3", "exited with status 3"), ("kill -9 $$", "status 137"),
                                            ("no-such-agent", "status 127"), ("true", "changed nothing")])  # fmt: skip
def test_three_idle_turns_end_the_loop(one: Project, agent: str, how: str):
    done = turn(one, f'echo >> "$HOME/turns"; {agent}')
    assert done.code == 2 and how in done.err
    assert "changed nothing 3 times in a row, so the loop stops" in done.err.splitlines()[-1]
    assert (one.home / "turns").read_text() == "\n\n\n"
    assert len(one.runs()) == 1
    assert "VERDICT=continue" in one.ledger("verdict").out
    check_sound(one)


def test_idle_turns_count_only_in_a_row(one: Project):
    agent = f'echo >> "$HOME/turns"; n=$(grep -c "" "$HOME/turns"); [ $((n % 3)) != 0 ] || echo $((100 - n)) > {NUMBER}'
    done = one.ledger("loop", "--agent", agent, "--max-iterations", "3")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Status: DONE (max_iterations)"), done.err
    assert (one.home / "turns").read_text() == "\n" * 6


def test_an_agent_that_hangs_is_killed_with_its_children(one: Project):
    agent = IMPROVE + 'sleep 300 & echo $! > "$HOME/child"; sleep 300'
    begin = time.monotonic()
    done = turn(one, agent, "--agent-timeout", "0.5")
    assert time.monotonic() - begin < 15
    assert done.code == 0 and "the agent timed out and was killed" in done.err, done.err
    until(lambda: is_dead(one.home / "child"), "the end of the agent's child")
    assert one.runs()[-1]["metric"] == 90
    check_sound(one)


def test_an_agent_that_leaves_a_child_with_its_output_holds_nothing_up(one: Project):
    begin = time.monotonic()
    done = turn(one, IMPROVE + 'sleep 300 & echo $! > "$HOME/child"')
    assert done.code == 0 and time.monotonic() - begin < 15
    until(lambda: is_dead(one.home / "child"), "the end of the agent's child")


def test_a_flood_of_output_is_bounded_and_kept_at_both_ends(one: Project):
    done = turn(one, f"echo first; head -c 200000000 /dev/zero; echo; {IMPROVE} echo last")
    assert done.code == 0, done.err
    log = one.log.with_name("log.agent.log")
    assert log.stat().st_size < 40_000_000
    with log.open("rb") as file:
        assert file.read(6) == b"first\n"
        file.seek(-5, 2)
        assert file.read() == b"last\n"


def test_an_agent_has_no_terminal_and_its_brief_need_not_be_read(one: Project):
    done = turn(one, f"(exec < /dev/tty) 2> /dev/null && exit 9; exec <&-; {IMPROVE}")
    assert done.code == 0 and "status 9" not in done.err, done.err


def test_arguments_that_are_no_utf8_break_nothing(one: Project):
    odd = b"x\xff".decode("utf-8", "surrogateescape")
    done = one.ledger("loop", "--agent", odd)
    assert done.code == 2 and "--agent must be UTF-8 text" in done.err
    one.write(90)
    done = one.ledger("run", "--description", odd, "--asi", f"{odd}={odd}", "--discard", odd)
    assert done.code == 0, done.err
    run = one.runs()[-1]
    assert (run["description"], run["asi"]) == ("x\ufffd", {"x\ufffd": "x\ufffd", "discard_reason": "x\ufffd"})


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x"])
def test_times_are_numbers(one: Project, value: str):
    for option in ("--minutes", "--agent-timeout"):
        done = one.ledger("loop", "--agent", "true", f"{option}={value}")
        assert done.code == 2 and option in done.err and "Traceback" not in done.err
    assert one.ledger("loop", "--agent", "true", "--agent-timeout", "0").code == 2
    assert one.ledger("loop", "--agent", " ").code == 2
    assert one.ledger("loop").code == 2
