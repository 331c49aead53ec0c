"""Calls at work: side by side, told of, cancelled, and over when the client is; and nothing else on standard output."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.client.client import Client

from tests.loop.measuring.test_interrupt import check_undone
from tests.support.cli import COMMAND, environment, ledger, log
from tests.support.mcp_client import connected, refused, talk, text
from tests.support.project import IDENTITY, Project
from tests.support.waiting import begun, gated, hear_hang_ups, ignore_hang_ups, is_dead, twin, until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and process groups are POSIX")

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return gated(tmp_path_factory.mktemp("template") / "work")


@pytest.fixture
def one(template: Project, tmp_path: Path) -> Project:
    """Give a project whose next benchmark waits, with a child, until it may go on."""
    made = twin(template, tmp_path / "work")
    made.write(90)
    return made


def test_a_long_run_tells_of_itself_and_holds_up_nobody(one: Project):
    told: list[tuple[float, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def work(client: Client) -> list[Any]:
        results: list[Any] = []

        async def run() -> None:
            results.append(await client.call_tool("run", {"description": "long"}, progress_callback=tell))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.to_thread.run_sync(begun, one)
            meanwhile = [await client.call_tool(name, {}) for name in ("status", "verdict", "best")]
            second = await client.call_tool("run", {"description": "at the same time"})
            assert not results, "the run has ended already"
            with anyio.fail_after(20):
                while len(told) < 2:
                    await anyio.sleep(0.05)
            (one.home / "go").touch()
        return [*results, *meanwhile, second]

    ran, status, verdict, best, second = talk(work, one.folder, home=one.home)
    assert text(ran).startswith("Run #2: keep")
    assert "at work" in text(status) and not (status.is_error or verdict.is_error or best.is_error)
    assert refused(second)
    assert [seconds for seconds, _ in told] == sorted({seconds for seconds, _ in told}) and all(
        said for _, said in told
    )
    assert len(one.runs()) == 2


def test_a_cancelled_run_ends_its_benchmark_and_is_undone(one: Project):
    async def work(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"description": "cancelled"})
            await anyio.to_thread.run_sync(begun, one)
            group.cancel_scope.cancel()
        with anyio.fail_after(20):
            while not is_dead(one.home / "child") or one.log.with_name("log.iteration.json").exists():
                await anyio.sleep(0.05)
        assert not (await client.call_tool("status", {})).is_error  # the server goes on

    talk(work, one.folder, home=one.home)
    check_undone(one)


def test_a_cancelled_measurement_ends_its_benchmark(one: Project):
    async def work(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "measure", {"log": ".auto/log.jsonl"})
            await anyio.to_thread.run_sync(begun, one)
            group.cancel_scope.cancel()
        await anyio.to_thread.run_sync(until, lambda: is_dead(one.home / "child"), "the end of the child")

    talk(work, one.folder, home=one.home)


def test_with_its_client_a_run_ends(one: Project):
    async def leave() -> None:
        async with connected(one.folder, home=one.home) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"description": "left alone"})
            await anyio.to_thread.run_sync(begun, one)
            group.cancel_scope.cancel()

    anyio.run(leave)
    check_undone(one)


def spoken(*messages: dict[str, Any]) -> bytes:
    """Write messages as the protocol does, ahead of them the greeting."""
    me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    greeting: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": me},
        {"method": "notifications/initialized"},
    ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in (*greeting, *messages))


def server(one: Project, **options: Any) -> "subprocess.Popen[bytes]":
    env = {**environment(one.home), **IDENTITY, "TMPDIR": str(one.home)}
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, "mcp"], cwd=one.folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, **options)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_and_what_it_runs(one: Project, number: int):
    call = {"id": 1, "method": "tools/call", "params": {"name": "run", "arguments": {"description": "x"}}}
    with server(one, preexec_fn=hear_hang_ups) as at_work:
        assert at_work.stdin is not None
        at_work.stdin.write(spoken(call))
        at_work.stdin.flush()
        begun(one)
        at_work.send_signal(number)
        assert at_work.wait(20) == 130
    assert not list(one.home.glob("ledger-*")), "the mirror of its own is left behind"
    check_undone(one)


def test_a_hang_up_that_is_ignored_leaves_the_server_at_work(one: Project):
    with server(one, preexec_fn=ignore_hang_ups) as at_work:
        assert at_work.stdin is not None and at_work.stdout is not None
        at_work.stdin.write(spoken())
        at_work.stdin.flush()
        assert json.loads(at_work.stdout.readline())["id"] == 0
        at_work.send_signal(signal.SIGHUP)
        at_work.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
        at_work.stdin.flush()
        assert json.loads(at_work.stdout.readline())["id"] == 1
        at_work.stdin.close()
        assert at_work.wait(20) == 0


def test_standard_output_is_the_protocol_alone(one: Project):
    (one.folder / "bench.sh").write_text("echo noise; echo more >&2; echo METRIC total_ms=1; echo METRIC mem=5\n")
    one.git("commit", "--quiet", "-am", "noise")
    with server(one) as at_work:
        assert at_work.stdin is not None and at_work.stdout is not None
        at_work.stdin.write(spoken())
        at_work.stdin.write(b"no json\n")
        calls: list[tuple[str, dict[str, Any]]] = [
            ("measure", {}),
            ("status", {"log": "\x1b[3m"}),
            ("best", {}),
            ("x", {}),
        ]
        for number, (name, arguments) in enumerate(calls, 1):
            call = {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            at_work.stdin.write(json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n")
        at_work.stdin.flush()
        answers: dict[int, Any] = {}
        while len(answers) < 1 + len(calls):
            answer = json.loads(at_work.stdout.readline())
            assert answer["jsonrpc"] == "2.0"
            if answer.get("id") is not None:
                answers[answer["id"]] = answer
        at_work.stdin.close()
        assert at_work.stdout.read() == b"" and at_work.wait(20) == 0
    assert set(answers) == set(range(5)) and "noise" not in str(answers)
    assert not list(one.home.glob("ledger-*"))


def test_questions_are_bounded_in_rows_and_in_time(tmp_path: Path):
    log(tmp_path)

    async def ask(client: Client) -> list[Any]:
        many = await client.call_tool("query", {"sql": f"{ENDLESS} i FROM n"})
        more = await client.call_tool("query", {"sql": f"{ENDLESS} i FROM n", "limit": 1000})
        long = await client.call_tool("query", {"sql": f"{ENDLESS} max(i) FROM n", "timeout": 0.5})
        wide = await client.call_tool("query", {"sql": f"{ENDLESS} hex(zeroblob(1000000)) AS x FROM n LIMIT 20"})
        return [many, more, long, wide]

    many, more, long, wide = talk(ask, tmp_path)
    assert many.structured_content == {"rows": [{"i": i} for i in range(1, 101)], "more": True}
    assert len(more.structured_content["rows"]) == 1000 and more.structured_content["more"]
    assert "took too long" in refused(long)
    assert len(text(wide)) < 110_000 and "shortened to fit" in text(wide) and wide.structured_content["rows"]
    assert ledger(tmp_path, "check").code == 0
