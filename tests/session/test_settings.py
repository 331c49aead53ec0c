"""A project's settings: two files, key by key, and what does not fit named in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.base.errors import LedgerError
from ledger.session.files import project_folder
from ledger.session.settings import CONFIG, PLUGIN, Settings, find

MATTER = """---
enabled: false
max_iterations: 50
working_dir: "sub dir"
benchmark_timeout: 1.5
checks_timeout: 30
model: large
---

Prefer small changes.

--- and leave the tests alone ---
"""


def put(folder: Path, name: Path, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(folder: Path) -> str:
    with pytest.raises(LedgerError) as caught:
        find(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_defaults(tmp_path: Path):
    assert find(tmp_path) == Settings(None, None, True, 600, 300, "")
    assert find(tmp_path / "missing") == Settings()


def test_config_file(tmp_path: Path):
    put(tmp_path, CONFIG, '{"maxIterations": 30, "workingDir": "lib", "theirs": []}')
    assert find(tmp_path) == Settings(30, "lib")


def test_plugin_file(tmp_path: Path):
    put(tmp_path, PLUGIN, MATTER)
    notes = "Prefer small changes.\n\n--- and leave the tests alone ---"
    assert find(tmp_path) == Settings(50, "sub dir", False, 1.5, 30, notes)


def test_config_file_wins_key_by_key(tmp_path: Path):
    put(tmp_path, PLUGIN, MATTER)
    put(tmp_path, CONFIG, '{"maxIterations": 0, "workingDir": null}')
    found = find(tmp_path)
    assert (found.max_iterations, found.working_dir, found.enabled) == (0, "sub dir", False)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("", ""),
        ("---\n---\n", ""),
        ("---\n# nothing set\nmax_iterations:\n---\ntext", "text"),
        ("Only text.\n", "Only text."),
        ("\ufeff---\r\nenabled: true\r\n---\r\none\r\ntwo\r\n", "one\ntwo"),
    ],
)
def test_little_or_no_front_matter(text: str, notes: str, tmp_path: Path):
    put(tmp_path, PLUGIN, text)
    assert find(tmp_path) == Settings(notes=notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is no JSON (Expecting property name"),
        ("", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("[]", "it must hold keys and values"),
        ('{"maxIterations": "30"}', "maxIterations must be a whole number, 0 for no limit"),
        ('{"maxIterations": true}', "maxIterations must be a whole number"),
        ('{"maxIterations": -1}', "maxIterations must be a whole number"),
        ('{"maxIterations": 1.5}', "maxIterations must be a whole number"),
        ('{"workingDir": ""}', "workingDir must be a text"),
    ],
)
def test_config_file_that_does_not_fit(text: str | bytes, says: str, tmp_path: Path):
    path = put(tmp_path, CONFIG, text)
    message = refusal(tmp_path)
    assert message.startswith(f"cannot use {path}: ")
    assert says in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\nenabled: true\n", "its front matter does not end with a line ---"),
        ("---\na: [\n---\n", "its front matter is no YAML"),
        ("---\na: 2026-13-45\n---\n", "its front matter is no YAML"),
        ("---\n- a\n---\n", "it must hold keys and values"),
        ("---\n!!python/object/apply:os.getcwd []\n---\n", "its front matter is no YAML"),
        (b"---\n\xff\n---\n", "it is no UTF-8 text"),
        ("---\nenabled: 1\n---\n", "enabled must be true or false"),
        ("---\nmax_iterations: many\n---\n", "max_iterations must be a whole number"),
        ("---\nworking_dir: 3\n---\n", "working_dir must be a text"),
        ("---\nbenchmark_timeout: 0\n---\n", "benchmark_timeout must be a positive number of seconds"),
        ("---\nchecks_timeout: .inf\n---\n", "checks_timeout must be a positive number of seconds"),
    ],
)
def test_plugin_file_that_does_not_fit(text: str | bytes, says: str, tmp_path: Path):
    path = put(tmp_path, PLUGIN, text)
    message = refusal(tmp_path)
    assert message.startswith(f"cannot use {path}: ")
    assert says in message


def test_a_folder_in_the_files_place(tmp_path: Path):
    (tmp_path / CONFIG).mkdir(parents=True)
    assert "it is a folder" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("log", "folder"),
    [
        ("/p/autoresearch.jsonl", "/p"),
        ("/p/.auto/log.jsonl", "/p"),
        ("/p/autoresearch-results/events.jsonl", "/p"),
        ("/p/logs/events.jsonl", "/p/logs"),
    ],
)
def test_project_folder(log: str, folder: str):
    assert project_folder(Path(log)) == Path(folder)


def test_project_folder_of_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".auto").mkdir()
    monkeypatch.chdir(tmp_path / ".auto")
    assert project_folder(Path("log.jsonl")) == Path.cwd().parent


def test_yaml_is_loaded_only_for_its_file(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from ledger.session.settings import find; find(Path());"
        " print(*sys.modules)"
    )
    put(tmp_path, CONFIG, "{}")
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, check=True)
    assert not {b"yaml", b"sqlalchemy", b"click", b"orjson"} & set(run.stdout.split())
