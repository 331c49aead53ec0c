"""A real server in a process of its own, and what it answers."""

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.cli import COMMAND, environment


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Server:
    """Hold a server that is ready."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        assert process.stdout is not None
        self.url = process.stdout.readline().decode().strip()
        self.port = int(self.url.rstrip("/").rpartition(":")[2] or 0)

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask as the path stands, with nothing of it made shorter; a header's `_` is a hyphen."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read())
        finally:
            connection.close()

    def sessions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("/index.json").data["sessions"]
        return found

    def id_of(self, name: str) -> str:
        (one,) = [session["id"] for session in self.sessions() if session["cells"]["session"]["text"] == name]
        return str(one)

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err.decode()


@contextmanager
def served(folder: Path, *arguments: object, **variables: str) -> Iterator[Server]:
    """Serve on a free port; that nothing was logged is asserted at the end."""
    process = subprocess.Popen(
        [*COMMAND, "serve", *map(str, arguments), "--port", "0"], cwd=folder, env=environment(folder, **variables),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        server = Server(process)
        assert server.port, process.communicate(timeout=20)
        yield server
        if process.poll() is None:
            ended = server.end()
            assert ended == (130, "\nledger: interrupted\n"), ended
    finally:
        process.kill()
        process.communicate()
