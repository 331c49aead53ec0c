"""Where the files of a session are: in `.auto`, flat beside its log, or as a protocol has it."""

from pathlib import PurePath
from typing import NamedTuple


class FileLayout(NamedTuple):
    """Say how the files of a session are called, and where they are.

    `log` is the log's usual place in the project's folder, `hooks` the folder that hooks are installed in; `prompt`,
    `measure`, `checks` and `ideas` are beside the log. `owner` names the only protocol whose logs are laid out so,
    empty where any log may be. Where it is `configured`, a run.json beside the log is a part of it and has the commands
    that measure, in place of scripts; then all that is in the folder is the session's.
    """

    name: str
    log: str
    hooks: str
    prompt: str = "prompt.md"
    measure: str = "measure.sh"
    checks: str = "checks.sh"
    ideas: str = "ideas.md"
    owner: str = ""
    configured: bool = False

    @property
    def folder(self) -> str:
        """The log's folder, empty where that is the project's own."""
        return PurePath(self.log).parent.name


AUTO = FileLayout("auto", ".auto/log.jsonl", ".auto/hooks")
FLAT = FileLayout(
    "flat", "autoresearch.jsonl", "autoresearch.hooks", "autoresearch.md", "autoresearch.sh",
    "autoresearch.checks.sh", "autoresearch.ideas.md",
)  # fmt: skip
