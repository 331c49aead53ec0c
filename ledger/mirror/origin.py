"""What a log is called across machines: its git remote and path within the repository, or its machine and path."""

import hashlib
import os
import re
import socket
import subprocess
from functools import cache
from pathlib import Path

from ledger.base.paths import show_path

_SCHEME = re.compile(r"^(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/?#]*@)?(?P<host>\[[^]]*]|[^/?#:]*)(?::(?P<port>\d*))?"
                     r"(?P<path>/[^?#]*)?", re.IGNORECASE)  # fmt: skip
_SCP = re.compile(r"^(?:[^@/:]*@)?(?P<host>\[[^]]*]|[^/:]{2,}):(?P<path>[^?#]*)$")
_USUAL_PORTS = frozenset((None, "", "22", "80", "443", "9418"))
_FETCHED = re.compile(r"^([^\t\n]+)\t(.*) \(fetch\)(?: \[[^]\n]*])?$", re.MULTILINE)
"""A remote and its address, as git lists them; what a partial clone leaves out stands behind."""
_GIT_SECONDS = 10
_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR")
"""What would have git look at another repository than the log's."""


@cache
def this_host() -> str:
    """Name this machine."""
    return socket.gethostname() or "localhost"


def origin_of(log: Path) -> str | None:
    """Name a log by its repository's remote and its path in there; None where there is no remote."""
    top = next((folder for folder in log.parents if (folder / ".git").exists()), None)
    remote = None if top is None else _remote(top)
    if top is None or remote is None:
        return None
    return show_path(f"{remote}:{log.relative_to(top).as_posix()}")


@cache
def _remote(top: Path) -> str | None:
    """Find a repository's remote, `origin` before any other."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHERS)} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", top, "remote", "-v"], env=env, capture_output=True, timeout=_GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    remotes = dict(_FETCHED.findall(os.fsdecode(done.stdout)))
    if not remotes:
        return None
    return normal(remotes.get("origin") or min(remotes.items())[1], top)


def normal(remote: str, top: Path) -> str:
    """Write a remote's address in one way, whatever protocol it is reached by, and without who reaches it.

    One that is a folder of this machine is named with the machine.
    """
    found = _SCHEME.match(remote) or _SCP.match(remote)
    if found is None or (found.groupdict().get("scheme") or "").lower() == "file":
        folder = Path(remote if found is None else found["path"] or "/")
        return f"{this_host()}:{os.path.realpath(top / folder)}"
    port = found.groupdict().get("port")
    path = re.sub(r"/+", "/", found["path"] or "").strip("/").removesuffix(".git").rstrip("/")
    return f"{found['host'].lower()}{'' if port in _USUAL_PORTS else f':{port}'}/{path}"


def lock_key(name: str) -> int:
    """Give the key of the advisory lock on a name: 64 bits of its hash, signed."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
