"""The working tree at one moment, as one `git status` shows it."""

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

COMMAND = (
    "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all", "--no-renames",
    "--ignore-submodules=none",
)  # fmt: skip

_COLUMNS = {b"1": 8, b"u": 10}
"""Columns ahead of the path in an entry of a kind; `?` has one."""


class Snapshot(NamedTuple):
    """Hold what `git status` tells. Paths are relative to the repository's top.

    `head` is the full hash, None where nothing is committed, `branch` None where none is checked out. `changed` lists
    the files that differ from HEAD, new ones too, in git's order; `untracked` are those that git does not know.
    `staged` tells whether the index differs from HEAD.
    """

    head: str | None
    branch: str | None
    changed: list[str]
    untracked: frozenset[str]
    staged: bool

    @classmethod
    def of(cls, listed: bytes) -> "Snapshot":
        """Read what the command printed."""
        told, changed, untracked, staged = {}, [], [], False
        for entry in listed.split(b"\0"):
            kind, _, rest = entry.partition(b" ")
            if kind == b"#":
                name, _, value = os.fsdecode(rest).partition(" ")
                told[name] = value
            elif kind == b"?":
                changed.append(os.fsdecode(rest))
                untracked.append(changed[-1])
            elif kind in _COLUMNS:
                changed.append(os.fsdecode(entry.split(b" ", _COLUMNS[kind])[-1]))
                staged = staged or rest[:1] != b"."
        head, branch = told.get("branch.oid"), told.get("branch.head")
        return cls(
            None if head == "(initial)" else head,
            None if branch == "(detached)" else branch,
            changed,
            frozenset(untracked),
            staged,
        )

    def without(self, paths: Iterable[str]) -> "Snapshot":
        """Give the moment after these files became what HEAD has."""
        gone = set(paths)
        return self._replace(
            changed=[path for path in self.changed if path not in gone], untracked=self.untracked - gone
        )


class Patterns:
    """Tell which files patterns name, `*` in them matching any text; one without names a folder's files as well."""

    def __init__(self, patterns: Iterable[str], below: str) -> None:
        """Take patterns for paths below a folder, itself written from the top with a `/` behind it, or empty."""
        parts = [
            ".*".join(map(re.escape, pattern.split("*"))) + ("" if "*" in pattern else "(?:/.*)?")
            for pattern in patterns
        ]
        self._names = re.compile(f"{re.escape(below)}(?:{'|'.join(parts)})", re.DOTALL) if parts else None

    def name(self, path: str) -> bool:
        """Tell whether a pattern names a file."""
        return self._names is not None and self._names.fullmatch(path) is not None
