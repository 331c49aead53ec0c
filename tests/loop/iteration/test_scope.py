"""What a prompt lists, and which changed files are out of scope."""

import json
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.loop.git.repository import Git
from ledger.loop.iteration.scope import Scope, find
from ledger.session.files import of_log
from ledger.session.history import read
from ledger.session.prompt import Lists, lists
from tests.support.cli import HEADER, lines, log, run
from tests.support.repos import git, repository, write

PROMPT = """# Parser speed

## Files in Scope
- `src/parser.py` — the parser, see `tokens()`
* src/tokens.py - its tokens
+ lib/ (all of it)
1. `a.py`, `b.py`: two of them
- the tables: `data/*.csv`
- **docs/x.md** – words
<!-- - `hidden.py` -->
- _nothing else yet_
- *to be filled in*
- <file>

```
# Off limits
- in_code.py
```

### Why these
- `also/in.py`

## OFF-LIMITS files
- tests/
- `__pycache__`

Not a bullet: `x.py`

## Constraints
- `no/path.py`
"""


def test_the_lists_of_a_prompt():
    assert lists(PROMPT) == Lists(
        ("src/parser.py", "src/tokens.py", "lib/", "a.py", "b.py", "data/*.csv", "docs/x.md", "also/in.py"),
        ("tests/", "__pycache__"),
    )


@pytest.mark.parametrize(
    "text",
    ["", "no headings\n- `a.py`", "## Files in scope\n<!-- - `a.py`", "## Files in scope\n_none yet_", "# Scope\n- a",
     "## Files in scope\n- \n-\n", "```\n## Files in scope\n- a.py\n", "## Files in scoped\n- a.py"],
)  # fmt: skip
def test_a_prompt_that_lists_nothing(text):
    assert lists(text) == Lists((), ())


@pytest.mark.parametrize(
    ("bullet", "path"),
    [("- **/*.py", "**/*.py"), ("- *.py", "*.py"), ("- ``a`b.py``", "a`b.py"), ("- a b.py — two words", "a b.py"),
     ("- __init__.py", "__init__.py"), ("-\ta.py", "a.py"), ("- a.py:", "a.py"), ("- a-b.py", "a-b.py")],
)  # fmt: skip
def test_bullets_that_look_like_something_else(bullet, path):
    assert lists(f"# files in scope\r\n{bullet}\r\n").scope == (path,)


def changed(place: Path, *names: str) -> Git:
    for name in names:
        write(place, name, "changed\n")
    return Git(place, of_log(place / ".auto/log.jsonl").own())


def test_folders_globs_and_single_files_are_in_scope(tmp_path):
    place = repository(tmp_path / "repo", "src/a.py", "b.py", "lib/c/d.py", "e.txt")
    files = changed(
        place, "src/a.py", "src/deep/new.py", "b.py", "lib/c/d.py", "lib/top.py", "e.txt", ".auto/prompt.md"
    )
    assert Scope((), ()).outside(files) == []
    assert sorted(Scope(("src/",), ()).outside(files)) == ["b.py", "e.txt", "lib/c/d.py", "lib/top.py"]
    assert Scope(("*.py",), ()).outside(files) == ["e.txt"]
    assert Scope(("lib/**/*.py", "src/**", "b.py"), ()).outside(files) == ["e.txt"]
    assert Scope((".",), ("src", "e.txt")).outside(files) == ["e.txt", "src/a.py", "src/deep/new.py"]
    assert Scope((), ("src/deep",)).outside(files) == ["src/deep/new.py"]


def test_removed_and_renamed_files_count(tmp_path):
    place = repository(tmp_path / "repo", "src/a.py", "tests/t.py", "u.py")
    git(place, "mv", "tests/t.py", "src/t.py")
    (place / "u.py").unlink()
    assert sorted(Scope(("src",), ()).outside(Git(place))) == ["tests/t.py", "u.py"]


@pytest.mark.parametrize("name", [":odd.py", "[id]/page.py", "a b.py", "ü.py", "-x.py", "#x.py", "$x"])
def test_odd_names_are_literal(tmp_path, name):
    place = repository(tmp_path / "repo", name, "other.py")
    files = changed(place, name, "other.py")
    assert Scope((name,), ()).outside(files) == ["other.py"]
    assert Scope((), (name,)).outside(files) == [name]


def test_entries_outside_the_repository_name_nothing(tmp_path):
    place = repository(tmp_path / "repo", "a.py")
    files = changed(place, "a.py")
    assert Scope(("../elsewhere", "/etc"), ()).outside(files) == ["a.py"]
    assert Scope((), ("../elsewhere", "/")).outside(files) == []
    assert Scope(("./a.py", "src/../b.py"), ()).outside(files) == []


def test_a_scope_is_relative_to_the_folder_or_to_the_top(tmp_path):
    place = repository(tmp_path / "repo", "in/src/a.py", "src/a.py")
    inner = changed(place, "in/src/a.py", "src/a.py")
    inner = Git(place / "in")
    assert Scope(("src",), ()).outside(inner) == ["src/a.py"]
    assert Scope(("src",), (), from_top=True).outside(inner) == ["in/src/a.py"]


def test_without_a_repository_it_is_a_clear_error(tmp_path):
    with pytest.raises(LedgerError, match=r"git status failed"):
        Scope(("src",), ()).outside(Git(tmp_path))


def test_the_scope_of_an_autoresearch_log_is_its_prompt_s(tmp_path):
    path = log(tmp_path, lines(HEADER, run(1, 5)), ".auto/log.jsonl")
    assert find(of_log(path), read(path)) == Scope((), ())
    write(tmp_path, ".auto/prompt.md", PROMPT)
    assert find(of_log(path), read(path)).off_limits == ("tests/", "__pycache__")
    (tmp_path / ".auto/prompt.md").write_bytes(b"# Files in scope\n- \xff.py\n- a.py\n")
    assert find(of_log(path), read(path)).paths[-1] == "a.py"


def test_the_scope_of_a_state_protocol_log_is_its_current_header_s(tmp_path):
    first = {
        "type": "config", "schema_version": 1, "name": "x", "metric": "m", "direction": "lower",
        "created_at": "2026-05-06T12:00:00Z", "files_in_scope": ["old.py"], "off_limits": ["never.py"],
    }  # fmt: skip
    result = {"type": "result", "run": 1, "metric": "m", "value": 5, "timestamp": "2026-05-06T12:01:00Z"}
    second = {**first, "files_in_scope": ["new.py"], "off_limits": []}
    path = log(tmp_path, lines(first, result), "autoresearch.jsonl")
    write(tmp_path, "autoresearch.md", PROMPT)
    assert find(of_log(path), read(path)) == Scope(("old.py",), ("never.py",))
    path.write_bytes(lines(first, result, b"", second))
    assert find(of_log(path), read(path)) == Scope(("new.py",), ("tests/", "__pycache__"))


def test_the_scope_of_a_codex_run_is_run_json_s(tmp_path):
    config = {
        "schema_version": 1, "run_id": "r", "created_at": "2026-05-12T10:00:00Z", "repo": "/srv/t", "branch": "main",
        "mode": "foreground", "goal": "g", "scope": ["src"],
        "metric": {"name": "errors", "direction": "lower", "command": "./bench", "json_key": None}, "guard": None,
        "target": 0, "max_iterations": None, "timeout_seconds": 300, "background": None,
    }  # fmt: skip
    write(tmp_path, "autoresearch-results/run.json", json.dumps(config))
    write(tmp_path, "autoresearch-results/prompt.md", PROMPT)
    baseline = {
        "schema_version": 1, "run_id": "r", "seq": 0, "time": "2026-05-12T10:00:00Z", "event": "baseline",
        "head": "b17707a", "metric": 47, "verify_log": "logs/b.log", "guard_log": None,
    }  # fmt: skip
    path = log(tmp_path, lines(baseline), "autoresearch-results/events.jsonl")
    assert find(of_log(path), read(path)) == Scope(("src",), ("tests/", "__pycache__"), from_top=True)
