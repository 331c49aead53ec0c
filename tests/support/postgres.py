"""A real PostgreSQL server for the tests, in a temporary folder, run by a user without privileges."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger.mirror.engine import open_writer
from ledger.mirror.location import mirror_location
from tests.support.programs import lack

USER = "keeper"
"""The role that owns the tests' databases. It needs no password; the role `guarded` does."""

_SETTINGS = (
    "autovacuum=off",
    "listen_addresses=",
    "max_connections=60",
    "shared_buffers=32MB",
    "unix_socket_permissions=0777",
)
_PLACES = ("usr/lib/postgresql/*/bin", "opt/homebrew/opt/postgresql@*/bin", "usr/local/opt/postgresql@*/bin")
"""Where Debian and Homebrew keep the servers' programs, one folder a version."""

_CARELESS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")


def programs() -> Path | None:
    """Find the folder of the server's programs; None if there is none."""
    found = shutil.which("pg_ctl")
    places = [path for pattern in _PLACES for path in Path("/").glob(pattern)]
    places.sort(key=lambda path: int(path.parent.name.rpartition("@")[2]), reverse=True)
    folders = [*([Path(found).resolve().parent] if found else []), *places]
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


def why_not() -> str | None:
    """Say why no server can be had here; None if one can."""
    if os.name == "nt":
        return "unix sockets are needed"
    if programs() is None:
        return "PostgreSQL is not installed; scripts/system installs it"
    if os.geteuid() == 0 and _owner() is None:
        return "PostgreSQL does not run as root, and there is no user postgres or nobody"
    return None


def need() -> None:
    """Skip the test that is running where no server can be had."""
    if programs() is None:
        lack("pg_ctl")
    if (reason := why_not()) is not None:
        pytest.skip(reason)


def _owner() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    return None


class Postgres:
    """A server that is running, and its databases."""

    def __init__(self, folder: Path, *, careless: bool = True) -> None:
        self.folder = folder
        self._count = 0
        self._filled = False
        self._settings = (*_SETTINGS, *(_CARELESS if careless else ()))
        self._process: subprocess.Popen[bytes] | None = None

    def command(self, program: str, *arguments: object) -> list[str]:
        folder = programs()
        assert folder is not None
        return [str(folder / program), *map(str, arguments)]

    def _ours(self) -> dict[str, int]:
        """Give the options that make a process another user's, where we are root."""
        owner = _owner() if os.geteuid() == 0 else None
        return {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid}

    def make(self) -> None:
        """Make the cluster, whose databases sort text as people do, and start it."""
        if ours := self._ours():
            os.chown(self.folder, ours["user"], ours["group"])
        self.folder.chmod(0o755)
        initdb = self.command(
            "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"
        )
        version = int(subprocess.check_output(self.command("postgres", "--version")).split()[2].split(b".")[0])
        people = ("--locale-provider=icu", "--icu-locale=en-US") if version >= 15 else ()
        subprocess.run([*initdb, "--locale=C.UTF-8", *people], check=True, capture_output=True, cwd="/", **self._ours())  # type: ignore[call-overload]
        rules = self.folder / "data" / "pg_hba.conf"
        rules.write_text("local all guarded scram-sha-256\nlocal all all trust\n")
        self.start()

    def start(self) -> None:
        options = [word for setting in self._settings for word in ("-c", setting)]
        words = self.command("postgres", "-D", self.folder / "data", "-k", self.folder, *options)
        with (self.folder / "server.log").open("ab") as told:
            self._process = subprocess.Popen(words, cwd="/", stdout=told, stderr=told, **self._ours())  # type: ignore[call-overload]
        until = time.monotonic() + 30
        while self.sql("SELECT 1", check=False) != "1":
            assert self._process.poll() is None and time.monotonic() < until, (self.folder / "server.log").read_text()
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server; SIGQUIT ends it at once, as a crash does."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def sql(self, statement: str, database: str = "postgres", *, check: bool = True) -> str:
        """Run a statement as anyone would, with nothing of ours, and give what it says."""
        done = subprocess.run(
            self.command("psql", "-h", self.folder, "-U", USER, "-d", database, "-XAtq", "-c", statement),
            capture_output=True,
            check=check,
            text=True,
        )
        return done.stdout.strip()

    def url(self, database: str, user: str = USER) -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self, *, filled: bool = True) -> str:
        """Make a database and give its address; `filled` with the schema already, which saves time."""
        self._count += 1
        name = f"test{self._count}"
        if filled and not self._filled:
            self._filled = True
            self.sql("CREATE DATABASE filled TEMPLATE template0")
            with open_writer(mirror_location(self.url("filled"))):
                pass
        template = "filled" if filled else "template0"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)


def database_of(url: str) -> str:
    """Give the database's name in an address that `database` made."""
    return url.split("/")[3].split("?", maxsplit=1)[0]


@contextmanager
def running(*, careless: bool = True) -> Iterator[Postgres]:
    """Run a server as long as it is needed."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-postgres-"))
    server = Postgres(folder, careless=careless)
    try:
        server.make()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
