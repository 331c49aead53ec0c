"""Completion in real shells, and what the program answers them: never anything but completions."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.cli import COMMANDS, ledger
from ledger.cli.support.completion_values import CANDIDATES, candidates_of
from ledger.cli.support.shell_completion import FishComplete, read_line, written
from ledger.rules import RULES
from tests.support import cli
from tests.support.cli import COMMAND, HEADER, SOUND, environment, lines, log, run
from tests.support.mirroring import examples
from tests.support.programs import need, needs
from tests.support.shells import SHELLS, Shell, shell

QUOTED = 'it\'s "odd" $HOME `x` \\ y!'
NAMES = ("speed:new one", QUOTED, "line\nbreak", "spaß & co", "plain", "=eq", "~tilde", "esc\x1b[31m", "a\tb")

every_shell = pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in SHELLS])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a mirror of sessions whose names are hard to write, and logs whose paths are."""
    folder = tmp_path_factory.mktemp("completion").resolve()
    for number, name in enumerate(NAMES):
        log(folder, lines({**HEADER, "name": name}, run(1, 100)), f"logs/{number}/autoresearch.jsonl")
    assert cli.ledger(folder, "sync", "logs").code == 0
    odd = log(folder, SOUND, "a folder/odd 'name'.jsonl")
    (odd.parent / "odd notes.txt").write_text("")
    log(folder, b"", "a folder/odd 'name'.jsonl.accepted.jsonl")
    log(folder, SOUND, ".auto/log.jsonl")
    return folder


@pytest.fixture(scope="module", params=SHELLS)
def opened(request: pytest.FixtureRequest, folder: Path) -> Iterator[Shell]:
    """Give a shell that is ready."""
    need(request.param)
    with shell(request.param, folder) as opened:
        yield opened


CASES = [
    ("ledger expl", ["explain"]),
    ("ledger db inf", ["db", "info"]),
    ("ledger db info --d", ["db", "info", "--db"]),
    ("ledger best --session pla", ["best", "--session", "plain"]),
    ("ledger report --session pla", ["report", "--session", "plain"]),
    ("ledger best --session speed:n", ["best", "--session", "speed:new one"]),
    ("ledger best --session speed:", ["best", "--session", "speed:new one"]),
    ("ledger best --session=speed:n", ["best", "--session=speed:new one"]),
    ("ledger best --session='speed:n", ["best", "--session=speed:new one"]),
    ('ledger best --session "speed:n', ["best", "--session", "speed:new one"]),
    ("ledger best --session it", ["best", "--session", QUOTED]),
    ("ledger best --session 'it", ["best", "--session", QUOTED]),
    ("ledger best --session=spa", ["best", "--session=spaß & co"]),
    ("ledger best --session \\~t", ["best", "--session", "~tilde"]),
    ("ledger best --session \\=e", ["best", "--session", "=eq"]),
    ("ledger best --session line", ["best", "--session", "line"]),  # what has control characters has an id
    ("ledger best --session esc", ["best", "--session", "esc"]),
    ("ledger best --db none --session pla", ["best", "--db", "none", "--session", "pla"]),
    ("ledger check --format=js", ["check", "--format=json"]),
    ("ledger check --select L101,s40", ["check", "--select", "L101,s40"]),
    ("ledger explain r20", ["explain", "r20"]),
    ("ledger review accept x L10", ["review", "accept", "x", "L10"]),
    ("ledger export --view fin", ["export", "--view", "findings"]),
    ("ledger runs --sort metric,del", ["runs", "--sort", "metric,delta_pct"]),
    ("ledger runs --sort metric,-del", ["runs", "--sort", "metric,-delta_pct"]),
    ("ledger check .au", ["check", ".auto/"]),
    ("ledger check a", ["check", "a folder/"]),
    ("ledger check a\\ folder/o", ["check", "a folder/odd 'name'.jsonl"]),
    ("ledger check 'a folder/o", ["check", "a folder/odd 'name'.jsonl"]),
    ("ledger export -o 'a folder/odd no", ["export", "-o", "a folder/odd notes.txt"]),
    ("ledger nonsense x", ["nonsense", "x"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), CASES, ids=[line for line, _ in CASES])
def test_a_line_goes_on_as_it_should(line: str, words: list[str], opened: Shell) -> None:
    found = opened.complete(line)
    assert [text.casefold() for text in found[1:]] == [text.casefold() for text in words]  # bash writes codes large
    assert "Traceback" not in opened.seen


def test_the_home_folder_is_known(folder: Path, opened: Shell) -> None:
    assert opened.complete("ledger check ~/a") == ["ledger", "check", f"{folder}/a folder/"]


def answer(folder: Path, line: str, shell: str = "fish", **variables: str) -> list[str]:
    """Give the values with which the program answers; it may say nothing else and must be content."""
    done = subprocess.run(
        COMMAND, cwd=folder, capture_output=True, timeout=60, check=False,
        env=environment(folder, _LEDGER_COMPLETE=f"{shell}_complete", LEDGER_LINE=line, **variables),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), done
    return [text.split("\t")[0] for text in done.stdout.decode().splitlines() if text]


def test_what_is_offered(folder: Path) -> None:
    assert answer(folder, "ledger ") == list(COMMANDS)
    assert answer(folder, "ledger explain ") == sorted(RULES)
    assert answer(folder, "ledger check --ignore S4") == [code for code in sorted(RULES) if code.startswith("S4")]
    assert answer(folder, "ledger check ") == [".auto/", "a folder/", "logs/"]
    assert answer(folder, "ledger check 'a folder/") == ["a folder/odd 'name'.jsonl"]
    offered = answer(folder, "ledger runs --session ")
    printable = [name for name in NAMES if name.isprintable()]
    ids = [row[0] for row in sqlite3.connect(folder / "mirror.db").execute("SELECT key FROM session")]
    assert offered == [*sorted(printable), *sorted(ids)]
    assert answer(folder, f"ledger runs --session {ids[0][:-1]}") == [ids[0]]
    assert answer(folder, "ledger forget ") == [".auto/", "a folder/", "logs/", *offered]
    assert answer(folder, "ledger best --metric ") == ["total_ms"] and answer(folder, "ledger init --metric ") == []
    assert answer(folder, "ledger runs --status c") == ["crash", "checks_failed"]
    assert answer(folder, "ledger sessions --status ") == ["none"]
    assert answer(folder, "ledger completion ") == ["bash", "zsh", "fish"]
    assert answer(folder, "") == list(COMMANDS)


def test_what_stands_beside_a_value_cannot_steer_the_terminal(tmp_path: Path) -> None:
    log(tmp_path, lines({**HEADER, "name": "x"}, run(1, 100)), "a\x1b[31m\nb/autoresearch.jsonl")
    assert cli.ledger(tmp_path, "sync", ".").code == 0
    made = environment(tmp_path, _LEDGER_COMPLETE="zsh_complete", LEDGER_LINE="ledger best --session x")
    done = subprocess.run(COMMAND, cwd=tmp_path, env=made, capture_output=True, timeout=60, check=True)
    value, _, beside = done.stdout.decode().rstrip("\n").partition("\t")
    assert value == "x" and beside.endswith("/autoresearch.jsonl") and beside.isprintable()


def locked(path: Path) -> None:
    """Leave a mirror that somebody holds, as SQLite's rollback journal does it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE session (x)")
    connection.execute("BEGIN EXCLUSIVE")
    HELD.append(connection)


HELD: list[sqlite3.Connection] = []


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE things (x)")


def hostile(path: Path) -> None:
    """Leave a database whose tables are views that fail, or call what they may not."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW session AS SELECT load_extension('x') AS key, 1 AS path, 1 AS id")
        connection.execute("CREATE VIEW segment AS SELECT 1 AS session, x'ff' AS name")


@pytest.mark.parametrize("make", [lambda path: None, locked, foreign, hostile, os.mkfifo, Path.mkdir,
                                  lambda path: path.write_bytes(b"garbage" * 999)])  # fmt: skip
def test_a_mirror_that_cannot_be_read_offers_nothing(make, tmp_path: Path) -> None:
    make(tmp_path / "mirror.db")
    for line in (
        "ledger best --session ",
        "ledger report --session=",
        "ledger runs --metric ",
        "ledger best --status ",
    ):
        assert answer(tmp_path, line) == []
    assert answer(tmp_path, "ledger best --session ", LEDGER_DB="postgresql://nobody@nowhere/x") == []
    while HELD:
        HELD.pop().close()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "line",
    [
        "ledger 'check", 'ledger "', "ledger \\", "ledger check no/such/", "ledger check ~nobody/", "ledger db nope ",
        "ledger -- ", "ledger best --session x --session", "ledger check --format= x", "ledger é", "x" * 9999,
    ],
)  # fmt: skip
def test_no_line_is_answered_with_a_failure(shell: str, line: str, tmp_path: Path) -> None:
    answer(tmp_path, line, shell)


def test_what_is_not_asked_for_is_not_loaded(folder: Path) -> None:
    code = (
        "import sys, ledger.cli\ntry: ledger.cli.main()\nexcept SystemExit: pass\n"
        "asked = {'sqlalchemy', 'ledger.cli.commands.views', 'ledger.rules'} & set(sys.modules)\n"
        "print(sorted(asked), file=sys.stderr)"
    )
    for line, loaded in (
        ("ledger ", "[]\n"),
        ("ledger explain ", "['ledger.rules']\n"),
        ("ledger review accept x ", "['ledger.rules']\n"),
        ("ledger check --select ", "['ledger.rules']\n"),
    ):
        made = environment(folder, _LEDGER_COMPLETE="bash_complete", LEDGER_LINE=line)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=made, capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stderr == loaded and done.stdout


@every_shell
def test_the_script_is_sound_and_can_be_written_to_a_file(name: str, tmp_path: Path) -> None:
    done = cli.ledger(tmp_path, "completion", name)
    assert (done.code, done.err) == (0, "") and "ledger" in done.out
    (tmp_path / "script").write_text(done.out)
    subprocess.run([name, "-n", "script"], cwd=tmp_path, check=True, timeout=60)


texts = st.text(st.characters(exclude_categories=["C"], include_characters="~=:'\"\\ $`!*?[{(;&|<>#^%@"), max_size=12)


@every_shell
@given(values=st.lists(texts, min_size=1, max_size=30))
@examples(12)
def test_what_is_written_is_read_by_the_shell_as_the_value(name: str, values: list[str]) -> None:
    if name == "fish":  # it quotes by itself
        return
    parts = []
    for value in values:
        parts += [f"printf '%s\\0' '{written(value, chr(39))}'", f"printf '%s\\0' \"{written(value, chr(34))}\""]
        parts += [f"printf '%s\\0' x{written(value, '')}"]
    done = subprocess.run([name, "-c", "\n".join(parts)], capture_output=True, check=True, timeout=60)
    found = done.stdout.decode().split("\0")[:-1]
    assert found == [text for value in values for text in (value, value, f"x{value}")]
    assert all(read_line(f"x {written(value, '')} ").words[1:] == ([value] if value else []) for value in values)
    assert all(read_line(f"x '{written(value, chr(39))}' ").words[1:] == [value] for value in values)
    assert all(read_line(f'x "{written(value, chr(34))}" ').words[1:] == [value] for value in values)


def test_every_entry_is_of_use() -> None:
    used = {id(give) for command in walk(ledger) for one in command.params if (give := candidates_of(command, one))}
    assert {key for key, give in CANDIDATES.items() if id(give) not in used} == set()
    assert FishComplete.name in SHELLS


def walk(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from walk(below)
