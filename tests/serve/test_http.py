"""Whom the server answers, and what: asked over HTTP, without a browser."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.serve.conftest import HOSTILE
from tests.support.cli import BAD, HEADER, SOUND, ledger, lines, log, run
from tests.support.report_reading import Markup
from tests.support.serving import Server, served


def test_the_index(server: Server):
    made = {one["cells"]["session"]["text"]: one for one in server.sessions()}
    assert len(made) == 5
    good, bad, codex = (
        {key: cell["text"] for key, cell in made[name]["cells"].items()}
        for name in ("speed", "bad", "Read every table of the suite")
    )
    assert good == {
        "session": "speed", "best": "90 ms", "better": "10.0%", "confidence": "2.2×", "kept": "2 of 3", "failed": "0",
        "state": "open", "last": "2023-11-14 22:13", "log": "good/autoresearch.jsonl",
    }  # fmt: skip
    assert (bad["state"], made["bad"]["mark"]) == ("1 error", "x")
    assert (codex["best"], codex["state"], codex["kept"]) == ("0", "complete", "8 of 14")
    assert made["speed"]["course"] == [[0.0, 0.0], [100.0, 100.0]]
    assert made["empty/autoresearch.jsonl"]["course"] == []


def test_every_page_is_sound(server: Server):
    for path in ("/", "/compare", *(f"/log/{one['id']}" for one in server.sessions())):
        answer = server.ask(path)
        assert answer.status == 200 and answer.headers["content-type"] == "text/html; charset=utf-8", path
        markup = Markup(answer.body.decode())
        assert len(markup.raw["script"]) == 2 and "<" not in markup.raw["script"][0], path
        (meta,) = [one for one in markup.named("meta") if one.get("http-equiv") == "Content-Security-Policy"]
        assert answer.headers["content-security-policy"] == f"{meta['content']}; frame-ancestors 'none'"
        assert "connect-src 'self'" in answer.headers["content-security-policy"]
        assert "\u202e" not in answer.body.decode() and "\x1b" not in answer.body.decode()


def test_headers_of_every_answer(server: Server):
    for path, method in (("/", "GET"), ("/index.json", "GET"), ("/nothing", "GET"), ("/", "POST"), ("/", "HEAD")):
        headers = server.ask(path, method).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store" and headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"], (path, method)
        assert "access-control-allow-origin" not in headers and "server" not in headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1:{port}.evil.example", "0.0.0.0:{port}", "", "[::1]:{port}"],
)
def test_other_hosts_are_refused(server: Server, host: str):
    answer = server.ask("/", Host=host.format(port=server.port))
    assert answer.status in (400, 403) and b"speed" not in answer.body


def test_hosts_that_are_this_server(server: Server):
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"LOCALHOST:{server.port}"):
        assert server.ask("/", Host=host).status == 200, host


def test_other_sites_are_refused(server: Server):
    assert server.ask("/index.json", Origin=server.url.rstrip("/"), Sec_Fetch_Site="same-origin").status == 200
    assert server.ask("/", Sec_Fetch_Site="none").status == 200
    for origin in ("http://evil.example", "null", "https://127.0.0.1", f"http://127.0.0.1:{server.port}.evil.example"):
        assert server.ask("/index.json", Origin=origin).status == 403, origin
    for site in ("cross-site", "same-site", "anything"):
        assert server.ask("/", Sec_Fetch_Site=site).status == 403, site


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_but_reading(server: Server, method: str):
    answer = server.ask("/", method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head(server: Server):
    for path in ("/", "/index.json", f"/log/{server.id_of('Read every table of the suite')}", "/nothing"):
        whole, head = server.ask(path), server.ask(path, "HEAD")
        assert head.status == whole.status and head.body == b""
        assert head.headers["content-length"] == whole.headers["content-length"] == str(len(whole.body))
        assert head.headers.get("etag") == whole.headers.get("etag")


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/log/../../etc/passwd",
        "/log/..%2f..%2fetc%2fpasswd", "/log//etc/passwd", "/log/%2fetc%2fpasswd", "/log/", "/log", "/log/.json",
        "/log/0123456789abcdef", "/log/0123456789abcdef.json", "/log/0123456789abcdef%00", "/log/0123456789ABCDEF",
        "/good/autoresearch.jsonl", "/index", "/index.json/", "/compare/", "/.json", "/%0a",
        "/%ff%fe", "/log/%0d%0aX:1",
        "/" + "a" * 5000,
    ],
)  # fmt: skip
def test_addresses_that_lead_nowhere(server: Server, path: str):
    answer = server.ask(path)
    assert answer.status == 404 and b"root:" not in answer.body and b"Traceback" not in answer.body


def test_a_request_that_is_none(server: Server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01 what\r\n\r\n")
        assert b"400" in raw.recv(1000)
    assert server.ask("/").status == 200


def test_what_has_not_changed_is_not_sent(server: Server):
    log_page = f"/log/{server.id_of('speed')}"
    for path in ("/", "/index.json", "/compare", "/compare.json", log_page, f"{log_page}.json"):
        first = server.ask(path)
        again = server.ask(path, If_None_Match=f'"other", W/{first.headers["etag"]}')
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"]), path
        assert server.ask(path, If_None_Match='"other"').body == first.body


def test_a_log_that_grows_tears_vanishes_and_returns(tmp_path: Path):
    path = log(tmp_path)
    with served(tmp_path, ".") as server:
        name = server.id_of("speed")
        first = server.ask(f"/log/{name}.json")
        assert first.data["runs"]["count"] == 3

        def grown(data: bytes) -> dict[str, object]:
            with path.open("ab") as file:
                file.write(data)
            answer = server.ask(f"/log/{name}.json", If_None_Match=first.headers["etag"])
            assert answer.status == 200
            made: dict[str, object] = answer.data
            return made

        torn = lines(run(4, 80))
        assert grown(torn[:20])["log"] == first.data["log"], "its writer may be at it"
        assert server.sessions()[0]["cells"]["best"]["text"] == "90 ms"
        os.utime(path, (time.time() - 60,) * 2)
        assert grown(b"")["log"] == first.data["log"] | {"lines": 5, "ok": False}
        whole = grown(torn[20:])
        assert whole["log"] == first.data["log"] | {"lines": 5, "records": 5}
        assert server.sessions()[0]["cells"]["best"]["text"] == "80 ms"
        path.write_bytes(lines(HEADER | {"name": "other"}, run(1, 7)))
        assert server.ask(f"/log/{name}.json").data["summary"]["best"]["value"] == "7"
        assert server.sessions()[0]["cells"]["session"]["text"] == "other"
        path.unlink()
        for address in (f"/log/{name}", f"/log/{name}.json"):
            answer = server.ask(address)
            assert answer.status == 410 and b"autoresearch.jsonl is gone" in answer.body
        answer = server.ask(f"/log/{name}.json", If_None_Match=first.headers["etag"], X_Ledger_Follow="yes")
        assert answer.status == 200 and "autoresearch.jsonl is gone" in answer.data["error"]
        assert server.ask(f"/log/{name}", X_Ledger_Follow="yes").status == 410
        (gone,) = server.sessions()
        assert gone["cells"]["state"]["text"] == "log gone" and gone["cells"]["session"]["text"] == "other"
        assert server.ask("/compare.json").data["groups"] == []
        path.write_bytes(SOUND)
        assert server.ask(f"/log/{name}.json").data["runs"]["count"] == 3


def test_logs_that_appear_in_a_folder(tmp_path: Path):
    with served(tmp_path, ".") as server:
        made = server.ask("/index.json").data
        assert made["sessions"] == [] and "no log in" in made["notes"][0]
        log(tmp_path / "new")
        deadline = time.monotonic() + 10
        while not server.sessions():
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert server.ask(f"/log/{server.id_of('speed')}").status == 200
        (group,) = server.ask("/compare.json").data["groups"]
        assert group["heading"] == "total_ms in ms, lower is better"


def test_links_do_not_lead_out_of_the_folder(tmp_path: Path):
    outside = log(tmp_path / "outside", lines(HEADER | {"name": "secret"}, run(1, 1)))
    top = tmp_path / "top"
    inside = log(top / "inside")
    (top / "link").mkdir()
    (top / "link" / "autoresearch.jsonl").symlink_to(outside)
    (top / "folder").symlink_to(outside.parent)
    with served(tmp_path, "top") as server:
        made = server.ask("/index.json").data
        assert [one["cells"]["session"]["text"] for one in made["sessions"]] == ["speed"]
        assert made["notes"] == ["1 link to a log outside the folder: name such a log itself to see it"]
        name = server.id_of("speed")
        inside.unlink()
        inside.symlink_to(outside)
        answer = server.ask(f"/log/{name}.json")
        assert answer.status == 503 and "is a link to somewhere else" in answer.data["error"]
        index = server.ask("/index.json")
        assert b"secret" not in index.body and index.data["sessions"][0]["cells"]["state"]["text"] == "not read"
        assert b"secret" not in server.ask("/compare.json").body
    with served(tmp_path, "top/link/autoresearch.jsonl") as server:
        assert server.id_of("secret")


def test_the_mirror_without_arguments(tmp_path: Path):
    path, lost = log(tmp_path / "a"), log(tmp_path / "b", lines(HEADER | {"name": "lost"}, run(1, 3)))
    with served(tmp_path) as server:
        assert "There is no mirror" in server.ask("/index.json").data["notes"][0]
        assert ledger(tmp_path, "sync", ".").code == 0
        assert len(server.sessions()) == 2
        lost.unlink()
        made = server.ask(f"/log/{server.id_of('lost')}.json").data
        assert made["summary"]["best"]["value"] == "3" and "gone; this is what the mirror has" in made["log"]["name"]
        before = (tmp_path / "mirror.db").read_bytes()
        with path.open("ab") as file:
            file.write(lines(run(4, 80)))
        shown = {one["cells"]["session"]["text"]: one["cells"] for one in server.sessions()}
        assert shown["speed"]["best"]["text"] == "80 ms" and shown["lost"]["state"]["text"] == "log gone"
        assert server.ask(f"/log/{server.id_of('speed')}.json").data["runs"]["count"] == 4
        assert len(server.ask("/compare.json").data["groups"][0]["sessions"]) == 2
        assert (tmp_path / "mirror.db").read_bytes() == before


def test_a_decision_is_seen_before_and_after_it_is_mirrored(tmp_path: Path):
    log(tmp_path, BAD)
    assert ledger(tmp_path, "sync", "--quarantine", "autoresearch.jsonl").code == 0
    with served(tmp_path) as server:
        assert server.sessions()[0]["cells"]["state"]["text"] == "1 error"
        call = ("review", "accept", "autoresearch.jsonl", "L106", "--reason", "lost")
        assert ledger(tmp_path, *call).code == 0
        assert server.sessions()[0]["cells"]["state"]["text"] == "open"
        assert ledger(tmp_path, "sync").code == 0
        assert server.sessions()[0]["cells"]["state"]["text"] == "open"


def test_a_limit_of_minutes_is_judged_by_the_clock(tmp_path: Path):
    config = {"type": "config", "schema_version": 1, "name": "s", "metric": "ms", "direction": "lower",
              "created_at": "2026-05-01T10:00:00Z", "max_minutes": 5}  # fmt: skip
    log(tmp_path, lines(config))
    with served(tmp_path, "autoresearch.jsonl") as server:
        made = server.ask(f"/log/{server.id_of('s')}.json").data
        assert made["summary"]["verdict"]["word"] == "max_minutes"


def test_nothing_is_written_beside_the_logs(server: Server, logs: Path):
    before = sorted((path, path.stat().st_mtime_ns) for path in logs.rglob("*"))
    for one in server.sessions():
        server.ask(f"/log/{one['id']}")
    server.ask("/compare")
    assert sorted((path, path.stat().st_mtime_ns) for path in logs.rglob("*")) == before


def test_a_slow_reader_and_a_large_log_hold_nobody_up(tmp_path: Path):
    many = [run(n, 1000 - n % 700, "keep" if n % 3 else "discard", asi={"why": "x" * 40}) for n in range(1, 40_001)]
    log(tmp_path / "large", lines(HEADER | {"name": "large"}, *many))
    log(tmp_path / "small", lines(HEADER | {"name": "small"}, run(1, 5)))
    with served(tmp_path, ".") as server:
        large, small = server.id_of("large"), server.id_of("small")
        stuck = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(12)]
        for one in stuck:  # they ask for much and read nothing, or never end their request
            one.sendall(f"GET /log/{large}.json HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        stuck.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        stuck[-1].sendall(b"GET / HTTP/1.1\r\nHo")
        counts: list[int] = []
        readers = [
            threading.Thread(target=lambda: counts.append(server.ask(f"/log/{large}.json").data["runs"]["count"]))
            for _ in range(4)
        ]
        for reader in readers:
            reader.start()
        begun = time.monotonic()
        assert server.ask(f"/log/{small}.json").data["runs"]["count"] == 1
        assert time.monotonic() - begun < 20
        for reader in readers:
            reader.join(60)
        assert counts == [40_000] * 4
        begun = time.monotonic()
        for _ in range(20):
            assert server.ask(f"/log/{small}").status == 200
        assert time.monotonic() - begun < 5
        for one in stuck:
            one.close()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_log_that_may_not_be_read(tmp_path: Path):
    path = log(tmp_path)
    with served(tmp_path, ".") as server:
        name = server.id_of("speed")
        path.chmod(0)
        assert server.ask(f"/log/{name}").status == 503
        path.chmod(0o600)
        assert server.ask(f"/log/{name}").status == 200


def test_hostile_names_arrive_as_text(server: Server):
    (one,) = [one for one in server.sessions() if "alert" in one["cells"]["session"]["text"]]
    assert one["cells"]["session"]["text"] == HOSTILE.replace("\u202e", "").replace("\x1b[31m", "")
    assert b"<script>alert" not in server.ask("/").body + server.ask(f"/log/{one['id']}").body
