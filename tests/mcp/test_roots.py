"""Nothing outside of the named folders: neither by a path, nor by a link, nor by what a session's settings say."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client

from ledger.base.errors import LedgerError
from ledger.mcp.roots import roots_of
from tests.support.cli import HEADER, SOUND, ledger, lines, log, run
from tests.support.mcp_client import call, each, refused, talk, text
from tests.support.mirroring import examples

OUTSIDE = "is outside the folders that ledger mcp may use"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """Give a folder with a sound log, beside one that holds a secret."""
    log(tmp_path / "outside", lines({**HEADER, "name": "secret"}, run(1, 1, description="secret")))
    log(tmp_path / "inside")
    return (tmp_path / "inside").resolve()


def test_paths_that_lead_outside_are_refused_by_every_tool_that_takes_one(inside: Path):
    (inside / "link.jsonl").symlink_to(inside.parent / "outside" / "autoresearch.jsonl")
    (inside / "folder").symlink_to(inside.parent / "outside")
    paths = [
        "../outside/autoresearch.jsonl", str(inside.parent / "outside"), "link.jsonl", "folder/autoresearch.jsonl",
        "../inside/../outside", "..", "/", "/etc/passwd", "../nowhere", "folder",
    ]  # fmt: skip
    needed: dict[str, dict[str, Any]] = {
        "log": {"description": "x", "metric": 1, "status": "discard"},
        "decide": {"run": 1, "action": "keep", "reason": "x"},
        "run": {"baseline": True},
    }

    async def ask(client: Client) -> list[str]:
        tools = ("status", "verdict", "check", "brief", "log", "decide", "measure", "run")
        asked = [(tool, {**needed.get(tool, {}), "log": path}) for tool in tools for path in paths]
        return list(map(refused, await each(client, *asked)))

    said = talk(ask, inside)
    assert len(said) == 8 * len(paths) and all(OUTSIDE in one and "secret" not in one for one in said)


def test_whether_something_is_there_is_not_told(inside: Path):
    (there,), (not_there,) = (
        {refused(call(inside, "status", {"log": path})).partition(" ")[2]} for path in ("../outside", "../nowhere")
    )
    assert there == not_there


@pytest.mark.parametrize("name", ["md", "ideas.md", "sh", "checks.sh"])
def test_a_file_of_the_session_that_is_a_link_outside_is_not_followed(inside: Path, name: str):
    secret = inside.parent / "outside" / "secret.txt"
    secret.write_text("secret words")
    (inside / f"autoresearch.{name}").symlink_to(secret)
    assert OUTSIDE in refused(call(inside, "brief", {}))


def test_settings_that_work_elsewhere_are_refused(inside: Path):
    (inside / ".auto").mkdir()
    (inside / ".auto" / "config.json").write_text(json.dumps({"workingDir": "../outside"}))

    async def ask(client: Client) -> list[str]:
        asked: list[tuple[str, dict[str, Any]]] = [("measure", {}), ("status", {}), ("run", {"baseline": True})]
        asked += [(name, {**given, "log": "autoresearch.jsonl"}) for name, given in asked]
        return list(map(refused, await each(client, *asked)))

    assert all(OUTSIDE in said for said in talk(ask, inside))
    assert not (inside.parent / "outside" / "run.log").exists()


def test_questions_are_about_the_named_folders_alone(inside: Path):
    assert ledger(inside, "sync", inside.parent / "outside").code == 0  # the user's own mirror knows the secret
    (inside / "sub").mkdir()
    (inside / "sub" / "autoresearch.jsonl").symlink_to(inside.parent / "outside" / "autoresearch.jsonl")

    async def ask(client: Client) -> list[Any]:
        return await each(client, ("query", {"sql": "SELECT name FROM sessions"}), ("best", {}), ("compare", {}))

    names, best, compare = talk(ask, inside)
    assert names.structured_content["rows"] == [{"name": "speed"}]
    assert "secret" not in text(best) + text(compare)


def test_more_folders_can_be_named(inside: Path):
    other = inside.parent / "outside"

    async def ask(client: Client) -> list[Any]:
        names = {"sql": "SELECT name FROM sessions"}
        return await each(client, ("status", {"log": str(other)}), ("status", {}), ("query", names))

    named, default, names = talk(ask, inside.parent, "--root", inside, "--root", "outside")
    assert "secret" in text(named) and "speed" in text(default)
    assert {row["name"] for row in names.structured_content["rows"]} == {"secret", "speed"}


def test_a_link_to_a_named_folder_names_what_it_leads_to(inside: Path):
    (inside.parent / "link").symlink_to(inside)
    assert "speed" in text(call(inside.parent, "status", {}, "--root", "link"))


PARTS = st.sampled_from(["..", ".", "sub", "away", "loop", "autoresearch.jsonl", "", "~", "-", "--help", "\n", "é"])


@examples(200)
@given(st.lists(PARTS, max_size=7), st.booleans())
def test_what_is_admitted_is_inside(folder: Path, parts: list[str], absolute: bool):
    top = folder / "top"
    if not top.exists():
        log(top / "sub", SOUND)
        log(folder / "beside", SOUND)
        (top / "away").symlink_to(folder / "beside")
        (top / "loop").symlink_to("loop")
    path = "/".join(([str(top)] if absolute else []) + parts)
    try:
        admitted = roots_of((str(top),)).admit(path)
    except (LedgerError, OSError):
        return
    assert admitted is not None and Path(admitted).is_absolute()
    assert Path(admitted).resolve().is_relative_to(top)
