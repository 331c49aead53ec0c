"""Each tool over the protocol: it answers as its command does, and refuses with the command's own sentence."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from ledger.cli import ledger as command_line
from ledger.mcp.inputs import positional
from ledger.mcp.tools import BY_NAME, LIMIT, LOG, TOOLS
from ledger.rules import RULES
from tests.support.cli import BAD, HEADER, SOUND, ledger, lines, log, run
from tests.support.mcp_client import call, each, refused, talk, text
from tests.support.project import check_sound, project

NAMES = ["status", "verdict", "check", "brief", "best", "compare", "query", "log", "decide", "measure", "run"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a sound log, and its mirror."""
    folder = tmp_path_factory.mktemp("sound").resolve()
    log(folder)
    assert ledger(folder, "sync", folder).code == 0
    return folder


def test_the_tools_are_these_and_refuse_unknown_arguments(sound: Path):
    listed = talk(lambda client: client.list_tools(), sound).tools
    assert [tool.name for tool in listed] == NAMES == list(BY_NAME)
    for tool in listed:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False and tool.description
        assert all(about["description"] for about in tool.input_schema["properties"].values())
    assert {tool.name for tool in listed if not tool.annotations.read_only_hint} == {"log", "decide", "measure", "run"}


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_fields_are_the_options_of_the_command(tool: Any):
    """No field is made up: each is an option, with the choices that the command has, or stands behind `--`."""
    command = command_line.get_command(click.Context(command_line), tool.command[0])
    assert command is not None
    options = {name: one for one in command.params if isinstance(one, click.Option) for name in one.opts}
    samples = {"string": "a", "integer": 1, "number": 1, "boolean": True, "array": ["b"], "object": {"c": 1}}
    behind = 0
    for field in tool.inputs:
        if field.make is positional or (field is LOG and tool.positional_log):
            behind += 1
        elif field is not LIMIT:
            words = field.words(field.schema.get("enum", [samples[field.schema["type"]]])[0])
            known = options[words[0].partition("=")[0]]
            assert (field.schema["type"] == "boolean") == known.is_flag
            if isinstance(known.type, click.Choice):
                assert field.schema["enum"] == list(known.type.choices)
    assert behind == len([one for one in command.params if isinstance(one, click.Argument)]) - (tool.name == "measure")


def test_reading_tools_answer_as_their_commands_do(sound: Path):
    async def ask(client: Client) -> list[Any]:
        return await each(
            client, ("status", {}), ("verdict", {"max_iterations": 3}), ("check", {"log": "."}), ("brief", {})
        )

    status, verdict, check, brief = talk(ask, sound)
    assert text(status) == ledger(sound, "status").out
    assert verdict.structured_content == json.loads(
        ledger(sound, "verdict", "--format", "json", "--max-iterations", 3).out
    )
    assert verdict.structured_content["verdict"] == "max_iterations"
    assert check.structured_content == json.loads(ledger(sound, "check", "--format", "json").out)
    assert json.loads(text(check)) == check.structured_content
    assert text(brief).splitlines()[0] == ledger(sound, "brief").out.splitlines()[0] == "# Brief: speed"
    assert not any(result.is_error for result in (status, verdict, check, brief))


def test_questions_answer_as_their_commands_do_without_any_sync(sound: Path):
    log(sound / "other", lines(HEADER, run(1, 50), run(2, 40)))

    async def ask(client: Client) -> list[Any]:
        first = await client.call_tool("query", {"sql": "SELECT count(*) AS runs FROM runs"})
        with (sound / "other" / "autoresearch.jsonl").open("ab") as file:
            file.write(lines(run(3, 30)))
        asked = (("best", {"sort": "metric"}), ("compare", {"session": ["speed"], "limit": 1}))
        return [first, *await each(client, *asked)]

    runs, best, compare = talk(ask, sound)
    assert runs.structured_content == {"rows": [{"runs": 5}], "more": False}
    assert ledger(sound, "sync", sound).code == 0
    rows = json.loads(ledger(sound, "best", "--sort", "metric", "--format", "json").out)
    assert best.structured_content == {"rows": rows, "more": False}
    assert json.loads(text(best)) == rows and [row["metric"] for row in rows] == [30, 90]
    assert compare.structured_content["rows"] == json.loads(ledger(sound, "compare", "--format", "json").out)[:1]
    assert compare.structured_content["more"] and "there are more rows than these 1" in text(compare)


def test_logs_that_are_gone_or_broken_by_now_are_left_out(tmp_path: Path):
    broken, gone, moved = (log(tmp_path / name) for name in ("broken", "gone", "moved"))
    log(tmp_path / "sound")
    sql = {"sql": "SELECT path FROM sessions ORDER BY path"}

    async def ask(client: Client) -> list[Any]:
        answers = [await client.call_tool("query", sql)]
        gone.unlink()
        answers.append(await client.call_tool("query", sql))
        whole = broken.read_bytes()
        broken.write_bytes(BAD)
        answers += await each(client, ("query", sql), ("query", sql))
        broken.write_bytes(whole)
        moved.rename(tmp_path / "autoresearch.jsonl")
        return [*answers, await client.call_tool("query", sql)]

    answers = talk(ask, tmp_path)
    found = [[Path(row["path"]).parent.name for row in one.structured_content["rows"]] for one in answers]
    assert found[:2] == [["broken", "gone", "moved", "sound"], ["broken", "moved", "sound"]]
    assert found[2:4] == [["moved", "sound"]] * 2 and found[4] == [tmp_path.name, "broken", "sound"]
    assert ["refused: broken" in text(one) for one in answers] == [False, False, True, True, False]


def test_a_whole_number_may_be_written_with_a_point(sound: Path):
    rows, verdict = talk(
        lambda client: each(client, ("best", {"limit": 1.0}), ("verdict", {"max_iterations": 1.0})), sound
    )
    assert not rows.is_error and len(rows.structured_content["rows"]) == 1
    assert verdict.structured_content["verdict"] == "max_iterations"


def test_a_mirror_that_was_named_is_asked_as_it_is(tmp_path: Path):
    place, elsewhere = tmp_path / "empty", tmp_path / "elsewhere"
    place.mkdir()
    assert ledger(tmp_path, "sync", log(elsewhere), "--db", tmp_path / "named.db").code == 0
    asked = {"sql": "SELECT count(*) AS n FROM runs"}
    assert call(place, "query", asked, "--db", "../named.db", "--root", place).structured_content["rows"] == [{"n": 3}]
    nothing = call(place, "query", asked)
    assert nothing.structured_content == {"rows": [], "more": False} and "no log in the named folders" in text(nothing)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("status", {"colour": True}, "'colour' was unexpected"),
    ("status", {"log": 7}, "log: 7 is not of type 'string'"),
    ("status", {"log": ""}, "log: "),
    ("status", {"dialect": "klingon"}, "dialect: 'klingon' is not one of"),
    ("verdict", {"max_iterations": -1}, "max_iterations: -1 is less than the minimum of 0"),
    ("verdict", {"max_iterations": True}, "max_iterations: True is not of type 'integer'"),
    ("verdict", {"max_iterations": 10**30}, "is greater than the maximum"),
    ("check", {"select": "L1"}, "select: 'L1' is not of type 'array'"),
    ("check", {"select": ["Q9"]}, "no rule has a code like Q9"),
    ("brief", {"log": "a\0b"}, "NUL"),
    ("brief", {"log": "long/" * 2000}, "file name too long: /"),
    ("brief", {"dialect": "codex"}, "'dialect' was unexpected"),
    ("best", {"limit": 0}, "limit: 0 is less than the minimum of 1"),
    ("best", {"db": "/etc/passwd"}, "'db' was unexpected"),
    ("best", {"sort": "nothing"}, "ledger best has no column 'nothing'"),
    ("best", {"session": ["--db=/tmp/x"]}, "no session '--db=/tmp/x' in the mirror"),
    ("compare", {"since": "yesterday"}, "'yesterday' is no ISO-8601 time"),
    ("query", {}, "'sql' is a required property"),
    ("query", {"sql": "DELETE FROM run"}, "the database refused the statement"),
    ("query", {"sql": "ATTACH '/tmp/x.db' AS x"}, "the database refused the statement"),
    ("query", {"sql": "SELECT load_extension('x')"}, "the database refused the statement"),
    ("query", {"sql": "SELECT 1", "timeout": 0}, "timeout: 0 is less than or equal to the minimum of 0"),
    ("query", {"sql": "x" * 20_001}, "is too long"),
    ("log", {"metric": 1}, "'description' is a required property"),
    ("log", {"description": "x", "metric": "1"}, "metric: '1' is not of type 'number'"),
    ("log", {"description": "x", "metric": 1, "status": "kept"}, "status: 'kept' is not one of"),
    ("log", {"description": "x", "metric": 1, "metrics": {"mem": "5"}}, "metrics.mem: '5' is not of type 'number'"),
    ("log", {"description": "x", "metric": 1, "status": "discard"}, "the segment also measures mem"),
    ("log", {"description": "x", "metric": 1, "commit": "zzz"}, "--commit takes at least 7 hex digits"),
    ("log", {"description": "x", "metric": 1, "asi": {"note": "y" * 100_001}}, "an argument is longer than"),
    ("decide", {"run": 1, "action": "keep"}, "'reason' is a required property"),
    ("decide", {"run": 1, "action": "--help", "reason": "x"}, "action: '--help' is not one of"),
    ("decide", {"run": 1, "action": "keep", "reason": "x"}, "only a state-protocol log has decisions"),
    ("measure", {"command": "rm -rf ."}, "'command' was unexpected"),
    ("measure", {"timeout": -3}, "timeout: -3 is less than or equal to the minimum of 0"),
    ("run", {}, "say what was tried with --description"),
    ("run", {"baseline": True, "description": "x"}, "--baseline measures the unchanged tree"),
    ("run", {"baseline": True}, "git"),
    ("run", {"description": "x", "max_regress": {"mem": "much"}}, "max_regress.mem: 'much' is not of type"),
]  # fmt: skip


def test_refusals_name_what_is_wrong(tmp_path: Path):
    """In a folder with a sound log, which is no repository; the log stays as it was."""
    path = log(tmp_path)

    async def ask(client: Client) -> list[str]:
        return [refused(result) for result in await each(client, *((tool, given) for tool, given, _ in REFUSED))]

    for (tool, given, said), sentence in zip(REFUSED, talk(ask, tmp_path), strict=True):
        assert said in sentence, (tool, given)
        assert sentence.count("\n") < 2 and len(sentence) < 1000
    assert path.read_bytes() == SOUND


def test_what_is_not_there_is_said_as_the_command_says_it(tmp_path: Path):
    async def ask(client: Client) -> list[str]:
        no_log, no_folder = ("status", {"log": "no.jsonl"}), ("check", {"log": "."})
        return list(map(refused, await each(client, ("status", {}), no_log, no_folder, ("run", {"baseline": True}))))

    session, file, folder, run = talk(ask, tmp_path)
    assert session == run == ledger(tmp_path, "status").err.removeprefix("ledger: ").strip()
    assert file == f"cannot read {tmp_path}/no.jsonl: no such file or folder"
    assert folder.startswith(f"no log in {tmp_path}")


def test_a_broken_log_is_an_answer_with_findings(tmp_path: Path):
    log(tmp_path, BAD)

    async def ask(client: Client) -> list[Any]:
        asked = {"sql": "SELECT 1 AS one"}
        return await each(client, ("verdict", {}), ("check", {}), ("brief", {}), ("query", asked), ("best", {}))

    verdict, check, brief, query, best = talk(ask, tmp_path)
    assert verdict.structured_content["verdict"] == "continue" and "L106" in text(verdict)
    assert "the loop must stop until they are repaired" in text(verdict) and "errors" in text(brief)
    (found,) = check.structured_content["logs"]
    assert not found["ok"] and [one["code"] for one in found["diagnostics"]] == ["L106"]
    for asked in (query, best):
        assert "refused" in text(asked) and "L106" in text(asked)
    assert not any(result.is_error for result in (verdict, check, brief, query, best))
    appended = call(tmp_path, "log", {"description": "x", "metric": 1, "status": "discard"})
    assert "L106" in refused(appended) and (tmp_path / "autoresearch.jsonl").read_bytes() == BAD


def test_an_agent_goes_through_a_session(tmp_path: Path):
    one = project(tmp_path / "work")

    async def work(client: Client) -> list[Any]:
        said = [await client.call_tool("run", {"baseline": True})]
        one.write(90)
        better = {"description": "--fewer", "asi": {"hypothesis": "ünï $(x)"}, "max_regress": {"mem": 50}, "repeat": 2}
        said.append(await client.call_tool("run", better))
        one.write(95)
        said.append(await client.call_tool("run", {"description": "worse"}))
        one.write(66)
        said.append(await client.call_tool("run", {"description": "the guard minds"}))
        said.append(await client.call_tool("measure", {"repeat": 3, "checks": True}))
        by_hand = {"description": "by hand", "metric": 1.25e3, "status": "discard", "metrics": {"mem": 5}}
        said.append(await client.call_tool("log", {**by_hand, "dry_run": True}))
        said.append(await client.call_tool("log", by_hand))
        said.append(await client.call_tool("best", {}))
        return said

    first, better, worse, failed, measured, dry, hand, best = talk(work, one.folder, home=one.home)
    for result, begin in (
        (first, "Run #1: keep"), (better, "Run #2: keep"), (worse, "Run #3: discard"),
        (failed, "Run #4: checks_failed"),
        (dry, '{"run":5,"commit":""'), (hand, "Run #5: discard"),
    ):  # fmt: skip
        assert text(result).startswith(begin) and not result.is_error
    assert measured.structured_content["samples"] == [90, 90, 90] and measured.structured_content["checks"] == "pass"
    assert [row["metric"] for row in best.structured_content["rows"]] == [90]
    logged = one.runs()
    assert [record["run"] for record in logged] == [1, 2, 3, 4, 5] and logged[4]["metric"] == 1250
    assert logged[1]["description"] == "--fewer" and logged[1]["asi"]["hypothesis"] == "ünï $(x)"
    check_sound(one)


def test_a_failed_measurement_is_an_answer(tmp_path: Path):
    one = project(tmp_path / "work")
    one.write("oops")
    result = call(one.folder, "measure", {}, home=one.home)
    assert not result.is_error and result.structured_content["failure"] and result.structured_content["metric"] is None


def test_decisions_are_appended(tmp_path: Path):
    one = project(tmp_path / "work", "state-protocol")

    async def work(client: Client) -> list[Any]:
        await client.call_tool("log", {"description": "as it is", "samples": [100, 101.5, 102], "metrics": {"mem": 5}})
        decision = {"run": 1, "action": "baseline", "reason": "the start"}
        return [await client.call_tool("decide", {**decision, "dry_run": dry}) for dry in (True, False)]

    dry, done = talk(work, one.folder, home=one.home)
    assert not dry.is_error and not done.is_error
    assert [record["type"] for record in one.records()] == ["config", "result", "decision"]
    assert one.records()[1]["samples"] == [100, 101.5, 102] and one.records()[1]["median"] == 101.5


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources(sound: Path, mode: str):
    async def ask(client: Client) -> list[Any]:
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        uris = ["ledger://brief", "ledger://rules", "ledger://rules/l106"]
        texts = [(await client.read_resource(uri)).contents[0].text for uri in uris]  # type: ignore[union-attr]
        return [listed, templates, *texts]

    listed, templates, brief, rules, rule = talk(ask, sound, mode=mode)
    assert [str(one.uri) for one in listed.resources] == ["ledger://brief", "ledger://rules"]
    assert [one.uri_template for one in templates.resource_templates] == ["ledger://rules/{code}"]
    assert brief.startswith("# Brief: speed")
    assert rules == ledger(sound, "explain").out and rules.count("\n") == len(RULES)
    assert rule == ledger(sound, "explain", "L106").out


def test_unknown_tools_and_resources_are_errors_of_the_protocol(tmp_path: Path):
    async def ask(client: Client) -> list[str]:
        said = []
        for asked in (
            client.call_tool("sync", {}), client.read_resource("ledger://rules/L999"), client.read_resource("ledger://x"),
            client.read_resource("file:///etc/passwd"), client.read_resource("ledger://brief"),
        ):  # fmt: skip
            with pytest.raises(MCPError) as raised:
                await asked
            said.append(raised.value.message)
        return said

    tool, rule, other, file, brief = talk(ask, tmp_path)
    assert tool == "there is no tool 'sync'"
    assert all(f"no resource {name};" in said for name, said in (("ledger://rules/L999", rule), ("ledger://x", other)))
    assert "no resource file:///etc/passwd;" in file and brief.startswith("No active session")


def test_both_eras_of_the_protocol_are_spoken(sound: Path):
    for mode in ("auto", "legacy"):
        result = talk(lambda client: client.call_tool("verdict", {}), sound, mode=mode)
        assert result.structured_content["verdict"] == "continue"


def test_without_its_library_the_extra_is_named(tmp_path: Path):
    hidden = "import sys; sys.modules['mcp'] = None; from ledger.cli import main; sys.argv[1:] = ['mcp']; main()"
    done = subprocess.run([sys.executable, "-c", hidden], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ledger: ledger mcp needs its extra: pip install 'autoresearch-ledger[mcp]'\n"


def test_what_cannot_be_served_is_told_at_once(tmp_path: Path):
    done = ledger(tmp_path, "mcp", "--root", "nowhere")
    assert (done.code, done.out) == (
        2,
        "",
    ) and done.err == f"ledger: {tmp_path}/nowhere is no folder; ledger mcp takes folders\n"


def test_a_project_is_a_whole_project(tmp_path: Path):
    """A file of the project that is named like a library does not stand in for it."""
    one = project(tmp_path / "work")
    for name in ("click", "orjson", "ledger"):
        (one.folder / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    assert not call(one.home, "status", {}, "--root", one.folder).is_error
