"""A real project under a loop: a git repository whose one number is measured, and what must hold of it afterwards."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.cli import COMMAND, Result, environment, ledger

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
NUMBER = "src/number.txt"
LOGS = {
    "autoresearch": ".auto/log.jsonl",
    "state-protocol": ".auto/log.jsonl",
    "codex": "autoresearch-results/events.jsonl",
}

MEASURE = 'number=$(cat src/number.txt)\nif [ "$number" = hang ]; then sleep 60 & sleep 60; fi\n'
METRIC_LINES = 'echo "METRIC total_ms=$number"\necho "METRIC mem=5"\n'
LAST_LINE = '[ "$number" != oops ] || exit 3\necho "$number"\n'
GUARD = "test $(cat src/number.txt) != 66"


class Project:
    """Hold a project's folder and say what can be done there."""

    def __init__(self, folder: Path, dialect: str = "autoresearch") -> None:
        self.folder = folder
        self.dialect = dialect
        self.log = folder / LOGS[dialect]
        self.home = folder.parent / "home"
        self.home.mkdir(exist_ok=True)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**environment(self.home), **IDENTITY},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def ledger(self, *arguments: object, stdin: bytes = b"", **variables: str) -> Result:
        """Run a command in the project, its home and mirror being outside of it."""
        mirror = str(self.home / "mirror.db")
        return ledger(
            self.folder,
            *arguments,
            stdin=stdin,
            **{"HOME": str(self.home), "LEDGER_DB": mirror, **IDENTITY, **variables},
        )

    def start(self, *arguments: object, **options: Any) -> "subprocess.Popen[bytes]":
        """Start a command in the project and do not wait for it."""
        env = {**environment(self.home), **IDENTITY}
        return subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=self.folder, env=env, **options)

    def write(self, number: object) -> None:
        (self.folder / NUMBER).write_text(f"{number}\n")

    def number(self) -> str:
        return (self.folder / NUMBER).read_text().strip()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]

    def runs(self) -> list[dict[str, Any]]:
        """List the records of runs, in whatever protocol."""
        kinds = {"autoresearch": "status", "state-protocol": "value", "codex": "iteration"}
        key = kinds[self.dialect]
        return [one for one in self.records() if key in one and one.get("type", "result") == "result"]

    def changed(self) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all")


def project(folder: Path, dialect: str = "autoresearch", *more: str, layout: str = "auto") -> Project:
    """Make a project with a session on it; `more` are options of init."""
    made = bare(folder, dialect)
    if dialect == "codex":
        options: tuple[str, ...] = ("--command", "bash bench.sh", "--target", "10")
    else:
        options = ("--command", "bash bench.sh", "--layout", layout)
    done = made.ledger(
        "init", "speed", "--metric", "total_ms", "--direction", "lower", "--dialect", dialect, "--scope", "src",
        "--guard", GUARD, "--git", *options, *more,
    )  # fmt: skip
    assert done.code == 0, done.err
    if layout == "flat":
        made.log = folder / "autoresearch.jsonl"
    return made


def bare(folder: Path, dialect: str = "autoresearch") -> Project:
    """Make a repository with a number and the script that measures it, and no session."""
    folder.mkdir(exist_ok=True)
    made = Project(folder.resolve(), dialect)
    made.git("init", "--quiet", "-b", "main")
    (folder / "src").mkdir()
    made.write(100)
    (folder / "bench.sh").write_text(MEASURE + (LAST_LINE if dialect == "codex" else METRIC_LINES))
    (folder / ".claude").mkdir()
    (folder / ".claude" / "autoresearch-ai-plugin.local.md").write_text("---\nbenchmark_timeout: 2\n---\n")
    (folder / ".gitignore").write_text(".claude/*.local.md\n")
    made.git("add", "-A")
    made.git("commit", "--quiet", "-m", "first")
    return made


def check_sound(one: Project) -> None:
    """Assert what must hold after any iteration: a clean check, a mirror that verifies, the best kept run's tree."""
    done = one.ledger("check", one.log)
    assert (done.code, done.out) == (0, "1 log, 1 sound; 0 errors, 0 warnings, 0 info\n"), done.out + done.err
    assert one.changed() == ""
    assert not (one.log.with_name(f"{one.log.stem}.iteration.json")).exists()
    assert one.ledger("sync", one.log).code == 0
    assert one.ledger("verify", one.log).code == 0


def best_commit(one: Project) -> str:
    """Give the full hash of the best kept run's commit, as the mirror tells it."""
    assert one.ledger("sync", one.log).code == 0
    rows = json.loads(one.ledger("best", "--format", "json").out)
    return one.git("rev-parse", rows[0]["commit"])
