"""The example hooks at work: each installed by the command line and fired in a real session."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ledger.loop.driving import hook_examples, hooks
from ledger.loop.driving.hook_examples import FOLDER, list_examples
from ledger.session.files import here
from ledger.session.history import read
from tests.support.cli import HEADER, Result, environment, ledger, lines, log, run
from tests.support.programs import needs

needs_jq = needs("jq", "bash")

EXAMPLES = {example.name: example.stage for example in list_examples()}
NAMES = {
    "before": {
        "anti-thrash", "context-rotation", "document-search", "external-search", "hypothesis-reflection",
        "idea-rotation",
    },
    "after": {"desktop-notification", "learnings-journal", "tag-winners"},
}  # fmt: skip
AUTO, FLAT, CODEX = ".auto/log.jsonl", "autoresearch.jsonl", "autoresearch-results/events.jsonl"
HOSTILE = "a \"q\" 'r' `touch pwned` $(touch pwned); touch pwned\n<b>&\\ caf\u00e9 \u65e5\u672c \U0001f600 -n %s"
STATE_CONFIG = {
    "type": "config", "schema_version": 1, "name": "speed", "metric": "total_ms", "direction": "lower",
    "created_at": "2026-05-06T12:00:00Z",
}  # fmt: skip


def install(folder: Path, name: str, *records: object, place: str = AUTO) -> Path:
    """Make a session with an example as its hook and give the hook's path."""
    write(folder, *records, place=place)
    return hook_examples.install(here(folder), hook_examples.find(name))


def write(folder: Path, *records: object, place: str = AUTO) -> None:
    log(folder, lines(*(records or (HEADER, run(1, 100)))), place)


def fire(folder: Path, name: str, **variables: str) -> Result:
    """Fire an example with nothing else in the environment: whether it failed, what it says, the problem."""
    session = here(folder)
    with pytest.MonkeyPatch.context() as patch:
        for variable in os.environ:
            patch.delenv(variable)
        for variable, value in environment(folder, **variables).items():
            patch.setenv(variable, value)
        done = hooks.fire(session, read(session.log), EXAMPLES[name])
    assert done is not None
    return Result(int(bool(done.problem)), done.text, done.problem)


def said(folder: Path, name: str, **variables: str) -> str:
    """Fire an example that has to succeed and give what it says."""
    done = fire(folder, name, **variables)
    assert (done.code, done.err) == (0, "")
    return done.out


def program(folder: Path, name: str, script: str) -> str:
    """Write a program and give a PATH on which it is found first."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(script, "utf-8")
    path.chmod(0o755)
    return f"{path.parent}{os.pathsep}{os.environ['PATH']}"


def result(number: int, value: float, **more: Any) -> dict[str, Any]:
    stamp = {"timestamp": f"2026-05-06T12:0{number}:00Z"}
    return {"type": "result", "run": number, "metric": "total_ms", "value": value, **stamp, **more}


def decision(number: int, action: str) -> dict[str, Any]:
    stamp = {"timestamp": f"2026-05-06T12:0{number}:30Z"}
    return {"type": "decision", "run": number, "action": action, "reason": "measured", **stamp}


def test_there_are_nine_each_with_a_stage_and_a_purpose(tmp_path: Path):
    assert set(EXAMPLES.items()) == {(name, stage) for stage, names in NAMES.items() for name in names}
    done = ledger(tmp_path, "hook", "examples")
    listed = [re.split(r"\s{2,}", line, maxsplit=2) for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert [line[0] for line in listed] == [example.name for example in list_examples()]
    assert all(EXAMPLES[name] == stage and len(purpose) > 20 for name, stage, purpose in listed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_is_written_alike(name: str):
    text = (FOLDER / EXAMPLES[name] / f"{name}.sh").read_text("utf-8")
    first, second, *rest = text.splitlines()
    assert first == "#!/usr/bin/env bash" and second.startswith(f"# {name}: ") and rest[0] == "#"
    assert "\nset -euo pipefail # " in text and "\nreadonly " in text and f"'{name}: %s\\n'" in text
    assert not re.search(r"\beval\b|\bmapfile\b|\breadarray\b|\$\{\w+(,,|\^\^)", text), "no eval; bash 3.2 is enough"
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", ["anti-thrash", "tag-winners"])
def test_an_example_is_printed(name: str, tmp_path: Path):
    shown = ledger(tmp_path, "hook", "examples", "--show", name, LC_ALL="C")
    assert shown == (0, (FOLDER / EXAMPLES[name] / f"{name}.sh").read_text("utf-8"), "")


@pytest.mark.parametrize("place", [AUTO, FLAT, CODEX])
def test_an_example_is_installed_once(place: str, tmp_path: Path):
    write(tmp_path, place=place)
    done = ledger(tmp_path, "hook", "examples", "--install", "anti-thrash")
    hook = tmp_path / ("autoresearch.hooks" if place == FLAT else ".auto/hooks") / "before.sh"
    assert done == (0, f"installed {hook.relative_to(tmp_path)}\n", "")
    assert hook.read_bytes() == (FOLDER / "before/anti-thrash.sh").read_bytes()
    assert os.access(hook, os.X_OK)
    hook.write_text("#!/bin/sh\n# mine\n")
    again = ledger(tmp_path, "hook", "examples", "--install", "idea-rotation")
    assert (again.code, again.out) == (2, "") and "before.sh is there already and stays as it is; move it" in again.err
    assert hook.read_text() == "#!/bin/sh\n# mine\n"
    assert ledger(tmp_path, "hook", "examples", "--install", "tag-winners").code == 0


def test_installing_neither_shadows_a_hook_nor_follows_a_link(tmp_path: Path):
    write(tmp_path)
    log(tmp_path, b"#!/bin/sh\n", "autoresearch.hooks/after.sh")
    shadow = ledger(tmp_path, "hook", "examples", "--install", "tag-winners")
    assert shadow.code == 2 and "autoresearch.hooks/after.sh is there already" in shadow.err
    (tmp_path / ".auto/hooks").mkdir()
    (tmp_path / ".auto/hooks/before.sh").symlink_to(tmp_path / "elsewhere")
    linked = ledger(tmp_path, "hook", "examples", "--install", "idea-rotation")
    assert linked.code == 2 and ".auto/hooks/before.sh is there already" in linked.err
    assert not (tmp_path / "elsewhere").exists()


def test_installing_says_what_is_in_the_way(tmp_path: Path):
    alone = ledger(tmp_path, "hook", "examples", "--install", "tag-winners")
    assert (alone.code, alone.out) == (2, "") and alone.err.startswith("ledger: No active session")
    write(tmp_path)
    unknown = ledger(tmp_path, "hook", "examples", "--install", "tag-losers")
    assert unknown.code == 2 and "no example 'tag-losers'; there are anti-thrash, " in unknown.err
    assert ledger(tmp_path, "hook", "examples", "--show", "../after/tag-winners").code == 2
    both = ledger(tmp_path, "hook", "examples", "--show", "tag-winners", "--install", "tag-winners")
    assert both.code == 2 and "do not go together" in both.err
    (tmp_path / ".auto/hooks").write_text("a file")
    blocked = ledger(tmp_path, "hook", "examples", "--install", "tag-winners")
    assert (blocked.code, blocked.out) == (2, "") and blocked.err.startswith("ledger: cannot write ")


@needs_jq
@pytest.mark.parametrize("name", EXAMPLES)
def test_without_jq_each_says_so(name: str, tmp_path: Path):
    install(tmp_path, name)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "cat"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    done = fire(tmp_path, name, PATH=str(tools))
    hook = tmp_path / f".auto/hooks/{EXAMPLES[name]}.sh"
    reason = f"exited with 1: {name}: jq is needed and was not found"
    assert done == (1, "", f"the {EXAMPLES[name]} hook {hook} {reason}")


@needs_jq
@pytest.mark.parametrize("name", sorted(NAMES["before"]))
def test_a_fresh_session_has_nothing_to_say(name: str, tmp_path: Path):
    install(tmp_path, name, HEADER)
    log(tmp_path, b"# Documents\n", "docs/index.md")
    assert said(tmp_path, name, HOOK_SEARCH_COMMAND="echo found") == ""


@needs_jq
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_text_of_a_log_is_ever_run(name: str, tmp_path: Path):
    program(tmp_path, "notify-send", '#!/bin/sh\nprintf "%s\\n" "$@" >>notified\n')
    path = program(tmp_path, "git", '#!/bin/sh\nprintf "%s\\n" "$@" >>asked\n')
    log(tmp_path, f"- [ ] {HOSTILE}".encode(), ".auto/ideas.md")
    log(tmp_path, f"touch pwned, then touch it again: {HOSTILE}\n".encode(), "docs/a b.md")
    records = [{**HEADER, "name": HOSTILE}, run(1, 100), *(run(n, 120, "discard") for n in range(2, 10))]
    heard = []
    for asi in (None, {"hypothesis": HOSTILE, "next_focus": [1, HOSTILE], HOSTILE: HOSTILE}):
        status = "keep" if EXAMPLES[name] == "after" else "discard"
        write(tmp_path, *records, run(10, 90, status, description=HOSTILE, asi=asi))
        if asi is None:
            hook_examples.install(here(tmp_path), hook_examples.find(name))
        heard.append(said(tmp_path, name, HOOK_SEARCH_COMMAND="echo", PATH=path))
    assert all(heard) if EXAMPLES[name] == "before" else not any(heard)
    assert not list(tmp_path.rglob("pwned"))


@needs_jq
def test_tag_winners(tmp_path: Path):
    identity = {
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@t",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@t",
    }

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=environment(tmp_path, **identity), capture_output=True, text=True,
            check=True,
        ).stdout.strip()  # fmt: skip

    def commit() -> str:
        git("commit", "--quiet", "--allow-empty", "-m", "experiment")
        return git("rev-parse", "--short=7", "HEAD")

    git("init", "--quiet")
    header = {**HEADER, "name": "--Sort $(touch pwned) speed! caf\u00e9"}
    records = [header, run(1, 100, commit=commit(), description=HOSTILE)]
    install(tmp_path, "tag-winners", *records)
    assert said(tmp_path, "tag-winners") == "" and git("tag") == ""  # the baseline
    records += [run(2, 110, "discard")]
    write(tmp_path, *records)
    assert said(tmp_path, "tag-winners") == "" and git("tag") == ""
    best = commit()
    records += [run(3, 90.5, commit=best)]
    write(tmp_path, *records)
    commit()
    tag = "best/sort-touch-pwned-speed-caf/run-3"
    for _ in range(2):  # the second time the tag is there
        assert said(tmp_path, "tag-winners") == "" and git("tag") == tag
    assert git("rev-parse", "--short=7", tag) == best
    records += [run(4, 95, commit=commit())]
    write(tmp_path, *records)
    assert said(tmp_path, "tag-winners") == "" and git("tag") == tag
    records += [run(5, 80, commit="")]
    write(tmp_path, *records)
    assert said(tmp_path, "tag-winners") == "" and git("tag") == tag
    records += [run(6, 70, commit="0123456")]
    write(tmp_path, *records)
    lost = fire(tmp_path, "tag-winners")
    assert lost.code == 1 and "tag-winners: no commit 0123456 in a repository at " in lost.err
    assert git("tag") == tag and not (tmp_path / "pwned").exists()


@needs_jq
@pytest.mark.parametrize(
    ("place", "journal"), [(AUTO, ".auto/learnings.md"), (FLAT, "autoresearch.learnings.md")], ids=["auto", "flat"]
)
def test_learnings_journal(place: str, journal: str, tmp_path: Path):
    asi = {"hypothesis": "cache\nhelps", "learned": ["it", {"does": "not"}]}
    records = [HEADER, run(1, 100), run(2, 104.5, "discard", description='a "b"\n`c` $(d)', asi=asi)]
    install(tmp_path, "learnings-journal", *records, place=place)
    assert said(tmp_path, "learnings-journal") == ""
    write(tmp_path, *records, run(3, 0, "crash", description="d"), place=place)
    assert said(tmp_path, "learnings-journal") == ""
    assert (tmp_path / journal).read_text("utf-8") == (
        "## Run 2: discard\n\n"
        '- tried: a "b" `c` $(d)\n- total_ms: 104.5ms\n- best so far: 100ms\n'
        '- hypothesis: cache helps\n- learned: ["it",{"does":"not"}]\n\n'
        "## Run 3: crash\n\n- tried: d\n- best so far: 100ms\n\n"
    )


@needs_jq
def test_the_journal_of_a_named_log_is_beside_it(tmp_path: Path):
    install(tmp_path, "learnings-journal")
    log(tmp_path, lines(HEADER, run(1, 7, description="other")), "other.jsonl")
    assert ledger(tmp_path, "hook", "after", "other.jsonl") == (0, "", "")
    assert "- tried: other\n" in (tmp_path / "other.learnings.md").read_text("utf-8")
    assert not (tmp_path / ".auto/learnings.md").exists()


@needs_jq
def test_desktop_notification(tmp_path: Path):
    path = program(tmp_path, "notify-send", '#!/bin/sh\nprintf "[%s]\\n" "$@" >>notified\nexit 1\n')
    records = [HEADER, run(1, 100)]
    install(tmp_path, "desktop-notification", *records)
    for record in (run(1, 100), run(2, 110, "discard"), run(3, 110)):
        write(tmp_path, HEADER, run(1, 100), *([record] if record["run"] > 1 else []))
        assert said(tmp_path, "desktop-notification", PATH=path) == ""
    assert not (tmp_path / "notified").exists()
    write(tmp_path, *records, run(2, 90.5, description=f"-x {HOSTILE}"))
    assert said(tmp_path, "desktop-notification", PATH=path) == ""
    dashes, title, body = (tmp_path / "notified").read_text("utf-8").splitlines()
    assert (dashes, title) == ("[--]", "[New best: speed]")
    assert "&lt;b&gt;&amp;\\ " in body and "<" not in body
    text = HOSTILE.replace("\n", " ")
    assert html.unescape(body) == f"[total_ms 90.5ms in run 2 (baseline 100ms): -x {text}]"


@needs_jq
def test_desktop_notification_on_macos_and_where_there_is_no_desktop(tmp_path: Path):
    install(tmp_path, "desktop-notification", HEADER, run(1, 100), run(2, 90, description='say "hi" & go'))
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "cat", "jq"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    assert said(tmp_path, "desktop-notification", PATH=str(tools)) == ""
    program(tmp_path, "osascript", '#!/bin/bash\nprintf "[%s]\\n" "${@: -2}" >notified\n')
    assert said(tmp_path, "desktop-notification", PATH=f"{tmp_path / 'bin'}:{tools}") == ""
    body = '[total_ms 90ms in run 2 (baseline 100ms): say "hi" & go]'
    assert (tmp_path / "notified").read_text().splitlines() == ["[New best: speed]", body]


FAILS = [run(number, 120, "discard") for number in range(2, 5)]


@needs_jq
@pytest.mark.parametrize(
    ("records", "streak"),
    [
        ([HEADER, run(1, 100), *FAILS[:2]], 0),
        ([HEADER, run(1, 100), *FAILS], 3),
        ([HEADER, run(1, 100), *FAILS, run(5, 0, "crash")], 4),
        ([HEADER, run(1, 100), *FAILS, run(5, 0, "checks_failed")], 0),
        ([HEADER, run(1, 100), *FAILS, run(5, 90)], 0),
        ([HEADER, run(1, 100), *FAILS, {**HEADER, "name": "again"}, run(5, 120, "discard")], 0),
        ([HEADER, run(1, 100), *FAILS, {"type": "finalize", "run": 9, "status": "keep"}, b""], 3),
        ([HEADER, run(1, 100), *FAILS, b'{"run":5,"status":"ke'], 3),
        ([STATE_CONFIG, *(result(n, 9) for n in range(1, 5)), *(decision(n, "discard") for n in (2, 3, 4))], 3),
        ([STATE_CONFIG, *(result(n, 9) for n in range(1, 6)), *(decision(n, "discard") for n in (2, 3, 4))], 3),
        ([STATE_CONFIG, *(result(n, 9, status="crash") for n in (1, 2, 3)), decision(3, "keep")], 3),
        ([STATE_CONFIG, *(result(n, 9) for n in (1, 2, 3)), *(decision(n, "discard") for n in (1, 2, 3)),
          decision(3, "keep"), decision(3, "stop")], 0),
    ],
)  # fmt: skip
def test_anti_thrash(records: list[object], streak: int, tmp_path: Path):
    install(tmp_path, "anti-thrash", *records)
    out = fire(tmp_path, "anti-thrash").out
    assert out.startswith(f"The last {streak} runs failed, one after the other. ") if streak else out == ""
    if records[:2] == [HEADER, run(1, 100)] and streak == 4:
        assert out.endswith("What failed last:\n- idea 3\n- idea 4\n- idea 5\n")


@needs_jq
def test_anti_thrash_reads_codex_histories(tmp_path: Path):
    head = {"schema_version": 1, "run_id": "r", "time": "2026-05-12T10:00:00Z"}
    events = [{**head, "seq": 0, "event": "baseline", "head": "a", "metric": 47, "verify_log": "v", "guard_log": None}]
    events += [
        {
            **head, "seq": n, "event": "iteration", "iteration": n, "outcome": "discard", "description": f"idea {n}",
            "previous_metric": 47, "trial_metric": 50, "retained_metric": 47, "trial_commit": "b", "head": f"c{n}",
            "revert_commit": f"c{n}", "guard": "not_run", "verify_log": "v", "guard_log": None,
        }
        for n in range(1, 4)
    ]  # fmt: skip
    config = {
        **head, "created_at": head["time"], "repo": "/srv/t", "branch": "main", "mode": "foreground", "goal": "g",
        "scope": ["src"], "metric": {"name": "m", "direction": "lower", "command": "c", "json_key": None},
        "guard": None, "target": 0, "max_iterations": None, "timeout_seconds": 9, "background": None,
    }  # fmt: skip
    config.pop("time")
    log(tmp_path, json.dumps(config).encode(), "autoresearch-results/run.json")
    install(tmp_path, "anti-thrash", *events, place=CODEX)
    assert said(tmp_path, "anti-thrash").startswith("The last 3 runs failed")


@needs_jq
@pytest.mark.parametrize(("place", "prompt"), [(AUTO, ".auto/prompt.md"), (FLAT, "autoresearch.md")])
def test_context_rotation(place: str, prompt: str, tmp_path: Path):
    runs = [run(number, 100) for number in range(1, 12)]
    install(tmp_path, "context-rotation", HEADER, *runs[:9], place=place)
    assert said(tmp_path, "context-rotation") == ""
    write(tmp_path, HEADER, *runs[:10], place=place)
    without = said(tmp_path, "context-rotation")
    assert without.startswith("10 runs are logged. The goal is still: speed\n") and "sum up" in without
    log(tmp_path, b"# Goal\n", prompt)
    assert f"read {tmp_path / prompt} again" in said(tmp_path, "context-rotation")
    write(tmp_path, HEADER, *runs, place=place)
    assert said(tmp_path, "context-rotation") == ""


@needs_jq
@pytest.mark.parametrize(
    ("more", "question"),
    [
        ({"asi": {"next_focus": " -list  copy\navoidance ", "hypothesis": "h"}}, "list copy avoidance"),
        ({"asi": {"next_focus": "", "hypothesis": 'it "is" $(fast)'}}, 'it "is" $(fast)'),
        ({"asi": {"next_focus": None}}, "idea 1"),
        ({}, "idea 1"),
        ({"description": "x" * 300}, "x" * 200),
    ],
)
def test_external_search(more: dict[str, Any], question: str, tmp_path: Path):
    install(tmp_path, "external-search", HEADER, run(1, 100, **more))
    path = program(tmp_path, "find-it", '#!/bin/sh\nprintf "%s|" "$@"\n')
    found = said(tmp_path, "external-search", HOOK_SEARCH_COMMAND="find-it --limit  3", PATH=path)
    assert found == f'A search for "{question}" found:\n--limit|3|{question}|\n'


@needs_jq
def test_external_search_is_silent_where_there_is_nothing(tmp_path: Path):
    install(tmp_path, "external-search")
    path = program(tmp_path, "find-it", "#!/bin/sh\necho half an answer\nexit 1\n")
    for command in (None, "", "  ", "no-such-command", "true", "find-it"):
        variables = {} if command is None else {"HOOK_SEARCH_COMMAND": command}
        assert said(tmp_path, "external-search", PATH=path, **variables) == ""
    program(tmp_path, "find-it", "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x\n")
    long = said(tmp_path, "external-search", PATH=path, HOOK_SEARCH_COMMAND="find-it")
    assert long == f'A search for "idea 1" found:\n{"x" * 6000}\n'


@needs_jq
def test_hypothesis_reflection(tmp_path: Path):
    asi = {"hypothesis": "fewer\ncopies", "learned": "none"}
    install(tmp_path, "hypothesis-reflection", HEADER, run(1, 100), run(2, 104.5, "discard", asi=asi))
    assert said(tmp_path, "hypothesis-reflection").startswith(
        "Run 2 was not kept (discard).\n- tried: idea 2\n- expected: fewer copies\n"
        "- result: total_ms 104.5ms, the best is 100ms\n- learned: none\nBefore the next change, answer "
    )
    write(tmp_path, HEADER, run(1, 0, "crash"))
    out = said(tmp_path, "hypothesis-reflection")
    assert "- expected: nothing was written down" in out and "- result: it crashed, so nothing was measured\n" in out
    write(tmp_path, HEADER, run(1, 90, "checks_failed", asi={"hypothesis": "h"}))
    assert "- result: total_ms 90ms; the checks failed\n" in said(tmp_path, "hypothesis-reflection")
    write(tmp_path, HEADER, run(1, 90))
    assert said(tmp_path, "hypothesis-reflection") == ""


@needs_jq
@pytest.mark.parametrize(("place", "ideas"), [(AUTO, ".auto/ideas.md"), (FLAT, "autoresearch.ideas.md")])
def test_idea_rotation(place: str, ideas: str, tmp_path: Path):
    runs = [run(number, 100) for number in range(1, 5)]
    install(tmp_path, "idea-rotation", HEADER, place=place)
    assert said(tmp_path, "idea-rotation") == ""  # there is no such file yet
    text = '# I\n\n- [x] a\n- [ ] one `x` $(y)\r\n  * two "q"\nprose - no\n- [X] b\n- ~~c~~\n+ [ ] three \u65e5\n'
    log(tmp_path, text.encode(), ideas)
    heard = []
    for count in range(4):
        write(tmp_path, HEADER, *runs[:count], place=place)
        first, _, rest = said(tmp_path, "idea-rotation").partition("\n")
        heard.append(first.removeprefix(f"An idea that is not tried yet (3 open in {tmp_path / ideas}): "))
        assert "Tick it off" in rest
    assert heard == ["one `x` $(y)", 'two "q"', "three \u65e5", "one `x` $(y)"]
    log(tmp_path, b"- [x] all done\n", ideas)
    assert said(tmp_path, "idea-rotation") == ""


@needs_jq
def test_document_search(tmp_path: Path):
    asi = {"next_focus": "avoid the list COPY in sorted()", "hypothesis": "caching"}
    install(tmp_path, "document-search", HEADER, run(1, 100, description="sort by key", asi=asi))
    assert said(tmp_path, "document-search") == ""  # there is no such folder
    log(
        tmp_path,
        b"# Sorting\n\nsorted() makes a\ncopy of the list.\n\nAvoid it: list.sort has no copy, caching.\n",
        "docs/a.md",
    )
    log(tmp_path, b"nothing of it\n\nonly a copy\n", "docs/deep/b.txt")
    log(tmp_path, b"avoid list copy sorted caching\n", "docs/code.py")
    log(tmp_path, b"\xff\xfe latin: avoid copy " + b"y" * 2000 + b"\n", "docs/c=d e.rst")
    head, *passages = said(tmp_path, "document-search").splitlines()
    assert head == "Passages of docs that may help with the next change:"
    assert passages[0] == "- docs/a.md: Avoid it: list.sort has no copy, caching."
    assert passages[1] == "- docs/a.md: sorted() makes a copy of the list."
    assert passages[2].startswith("- docs/c=d e.rst: \ufffd\ufffd latin: avoid copy yyy") and len(passages) == 3
    assert len(passages[2]) < 750
    log(tmp_path, b"manual: avoid the copy\n", "manual/m.md")
    assert "- manual/m.md: manual: avoid the copy\n" in said(tmp_path, "document-search", HOOK_DOCS="manual")
    for index in range(40):
        log(tmp_path, b"avoid the list copy in sorted, caching " * 30, f"docs/many/{index}.md")
    many = said(tmp_path, "document-search")
    assert many.count("\n") == 4 and len(many) < 3000
