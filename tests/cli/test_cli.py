"""The command line as a whole: help and its examples, unknown words, closed pipes, interrupts, locales, terminals."""

import ast
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest

from ledger import __version__
from ledger.cli import COMMANDS, HEADINGS
from ledger.cli import ledger as group
from tests.support.cli import BAD, COMMAND, HEADER, ROOT, SOUND, environment, fresh, ledger, lines, log, run

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes and signals are other ones there")
LONGEST_BODY = 15


Words = tuple[str, ...]


def tree(command: click.Command, path: Words = ("ledger",)) -> Iterator[tuple[Words, click.Command]]:
    """Walk through all commands, each with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            sub = command.get_command(click.Context(command), name)
            assert sub is not None
            yield from tree(sub, (*path, name))


TREE = dict(tree(group))


@pytest.fixture(params=TREE, ids=" ".join)
def words(request: pytest.FixtureRequest) -> Words:
    return tuple(request.param)


def examples(command: click.Command) -> list[str]:
    """Give the lines under a command's `Example:`; a call inside `$(…)` stands for its line."""
    _, _, below = inspect.cleandoc(command.help or "").partition("\n\b\nExample:\n")
    shown = [line.strip() for line in below.splitlines() if line.strip()]
    return [inner[1] if (inner := re.search(r"\$\((ledger [^)]*)\)", line)) else line for line in shown]


def parsed(arguments: list[str]) -> Words:
    """Parse a call down to its command without running it, and give the command's words."""
    path, command = ("ledger",), group
    context = group.make_context("ledger", list(arguments))
    while isinstance(command, click.Group):
        name, sub, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert sub is not None and name is not None
        path, command = (*path, name), sub  # type: ignore[assignment]
        context = sub.make_context(name, rest, parent=context)
    return path


def test_the_tree_is_whole():
    assert [path[1] for path in TREE if len(path) == 2] == list(COMMANDS)
    assert {path[2] for path in TREE if len(path) == 3} == {
        "path", "info", "upgrade", "rebuild", "backup", "metadata", "before", "after", "examples", "accept", "list",
        "drop",
    }  # fmt: skip


def test_every_command_has_examples_of_itself(words: Words):
    shown = examples(TREE[words])
    assert shown
    for line in shown:
        program, *arguments = shlex.split(line)
        assert program == "ledger"
        assert parsed(arguments)[: len(words)] == words


def test_every_option_says_what_it_does(words: Words):
    command = TREE[words]
    assert command.get_short_help_str(limit=200).endswith(".")
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert all((one.help or "").endswith((".", "]")) for one in options)
    formats = [one for one in options if "--format" in one.opts]
    assert len(formats) <= 1 and all(isinstance(one.type, click.Choice) for one in formats)


def test_commands_declare_and_hand_over():
    for path in (ROOT / "ledger" / "cli" / "commands").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            decorators = map(ast.unparse, getattr(node, "decorator_list", ()))
            if isinstance(node, ast.FunctionDef) and any("command" in one for one in decorators):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert length <= LONGEST_BODY, f"{path.name}: {node.name}"


def test_help(tmp_path: Path):
    code, out, err = ledger(tmp_path, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: ledger [OPTIONS] COMMAND [ARGS]...\n")
    for arguments in (("check", "--help"), ("db", "info", "-h")):
        code, out, err = ledger(tmp_path, *arguments)
        assert (code, err) == (0, "")
        assert (
            out.startswith(f"Usage: ledger {' '.join(arguments[:-1])} [OPTIONS]") and "\n  Example:\n    ledger " in out
        )


def test_help_lists_every_verb_once_under_its_heading(tmp_path: Path):
    _, _, below = ledger(tmp_path, "--help").out.partition("\n  -h, --help  Show this message and exit.\n\n")
    listed = [part.splitlines() for part in below.split("\n\n")]
    assert [head for head, *_ in listed] == [f"{heading}:" for heading in HEADINGS]
    shown = [re.fullmatch(r"  (\S+)( +)\S.+", line) for _, *lines in listed for line in lines]
    assert (
        [one and one[1] for one in shown] == list(COMMANDS) == [verb for verbs in HEADINGS.values() for verb in verbs]
    )
    assert len({len(one[1] + one[2]) for one in shown if one}) == 1, "the sentences begin in one column"


def test_version(tmp_path: Path):
    assert ledger(tmp_path, "--version") == (0, f"ledger, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("frobnicate",), "Error: No such command 'frobnicate'.\n"),
        (("db", "frobnicate"), "Error: No such command 'frobnicate'.\n"),
        (("--frobnicate",), "--frobnicate"),
        (("check", "--frobnicate"), "--frobnicate"),
        (("forget",), "Error: Missing argument 'LOG'.\n"),
        ((), ""),
        (("db",), ""),
    ],
)
def test_usage(arguments: tuple[str, ...], reason: str, tmp_path: Path):
    code, out, err = ledger(tmp_path, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ledger ") and reason in err


def test_the_installed_command_is_the_same(tmp_path: Path):
    script = Path(sys.executable).with_name("ledger")
    if not script.exists():
        pytest.skip("ledger is not installed in this environment")
    done = subprocess.run([script, "--version"], capture_output=True, env=environment(tmp_path), check=True)
    assert done.stdout.decode() == f"ledger, version {__version__}\n"


def piped(folder: Path, *arguments: object, reads: int) -> tuple[int, bytes, str]:
    """Run a command whose reader takes so many lines and leaves."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, env=environment(folder), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        taken = b"".join(process.stdout.readline() for _ in range(reads))
        process.stdout.close()
        err = process.stderr.read().decode()
        process.wait(30)
    return process.returncode, taken, err


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a mirrored log that fills more than a pipe, and a bad one."""
    folder = tmp_path_factory.mktemp("many")
    log(folder, lines(HEADER, *(run(number, number) for number in range(1, 3001))))
    assert ledger(folder, "sync").code == 0
    log(folder, BAD + lines(*(run(number, 1, "kept") for number in range(1, 3001))), "bad/autoresearch.jsonl")
    return folder


@POSIX
@pytest.mark.parametrize(
    "arguments", [("runs", "--format", "csv"), ("runs",), ("runs", "--format", "json"), ("export",)]
)
def test_a_closed_pipe_ends_a_command_quietly(arguments: tuple[str, ...], many: Path):
    code, taken, err = piped(many, *arguments, reads=1)
    assert (code, taken[-1:]) == (0, b"\n")
    assert "Traceback" not in err and "Error" not in err


@POSIX
@pytest.mark.parametrize("arguments", [("check", "bad"), ("check", "bad", "--format", "json"), ("verdict", "bad")])
def test_a_closed_pipe_changes_no_judgement(arguments: tuple[str, ...], many: Path):
    code, _, err = piped(many, *arguments, reads=0)
    assert code == 1
    assert "Traceback" not in err


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("check", "autoresearch.jsonl"), ("runs",), ("explain", "L106"), ("export",)])
def test_a_full_disk_is_said(arguments: tuple[str, ...], many: Path):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=many, env=environment(many), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (2, "ledger: No space left on device")


@POSIX
@pytest.mark.parametrize(
    ("redirection", "code"),
    [(">&-", 1), ("2>&-", 1), (">&- 2>&-", 1), ("<&-", 1), ("- <&-", 1), (">&- -- no.jsonl", 2)],
)
def test_closed_streams(redirection: str, code: int, tmp_path: Path):
    log(tmp_path, BAD)
    shell = f"{shlex.join(COMMAND)} check autoresearch.jsonl {redirection}"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


@POSIX
def test_ctrl_c(tmp_path: Path):
    with subprocess.Popen(
        [*COMMAND, "check", "-"], cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b"\n" * (1 << 20))  # once all this is taken, the command is reading
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().strip() == "ledger: interrupted"


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX"])
def test_any_locale(locale: str, tmp_path: Path):
    log(tmp_path, lines({**HEADER, "metricUnit": "µs"}, run(1, 1, "kept×")), "µ.jsonl")
    there = partial(ledger, tmp_path, LC_ALL=locale, LANG=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    data = (tmp_path / "µ.jsonl").read_bytes()
    code, out, err = there("check", "-", stdin=data)
    assert (code, err) == (1, "")
    assert "'kept×'" in out
    code, out, err = there("status", "-", stdin=data)
    assert (code, err) == (0, "")
    assert "total_ms in µs" in out and "—" in out


def test_colour_never_reaches_a_pipe(tmp_path: Path):
    log(tmp_path, BAD)
    assert "\x1b" not in ledger(tmp_path, "check", NO_COLOR="", TERM="xterm-256color").out


@POSIX
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_no_color(no_color: str, coloured: bool, tmp_path: Path):
    import pty

    log(tmp_path, BAD)
    terminal, end = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        subprocess.run(
            [*COMMAND, "check"], cwd=tmp_path, env=environment(tmp_path, NO_COLOR=no_color), stdout=end, check=False
        )
        os.close(end)
        shown = screen.read(65536)
    assert b"L106" in shown and (b"\x1b[" in shown) is coloured


@POSIX
def test_only_the_session_of_the_current_folder_is_looked_for(tmp_path: Path):
    log(tmp_path, SOUND)
    (tmp_path / "below").mkdir()
    code, out, err = ledger(tmp_path / "below", "check")
    assert (code, out, err[:26]) == (2, "", "ledger: No active session ")


def test_ctrl_c_while_the_command_line_loads_is_quiet(tmp_path: Path):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    assert fresh(tmp_path, "--version") == (130, "", "ledger: interrupted\n")
