"""Logs that went apart, merged in process, for the tests of merging."""

from pathlib import Path
from typing import Any

from ledger.merge.side import read_side
from ledger.merge.union import Merged, merge
from ledger.reading.whole_log import read_log
from tests.support.cli import run

STATE = {
    "type": "config", "schema_version": 1, "name": "speed", "metric": "ms", "direction": "lower",
    "created_at": "2026-05-06T12:00:00Z",
}  # fmt: skip


def at(number: int, second: int, metric: float = 100, status: str = "keep", **more: Any) -> dict[str, Any]:
    """Make a run of the autoresearch protocol at a second."""
    return {**run(number, metric, status), "timestamp": 1_700_000_000_000 + 1000 * second, **more}


def clock(second: int) -> str:
    return f"2026-05-06T12:{second // 60:02d}:{second % 60:02d}Z"


def result(number: int, second: int, value: float = 10, **more: Any) -> dict[str, Any]:
    """Make a result of the state protocol at a second."""
    return {"type": "result", "run": number, "metric": "ms", "value": value, "timestamp": clock(second), **more}


def decision(number: int, second: int, action: str = "keep", **more: Any) -> dict[str, Any]:
    return {"type": "decision", "run": number, "action": action, "reason": "r", "timestamp": clock(second), **more}


def union(folder: Path, ours: bytes, theirs: bytes, base: bytes | None = None) -> Merged | str:
    """Merge two logs as written to files; both have to be without errors."""
    sides = []
    for name, data in (("ours", ours), ("theirs", theirs)):
        path = folder / f"{name}.jsonl"
        path.write_bytes(data)
        sides.append(read_side(path, name))
        assert not sides[-1].errors, sides[-1].errors
    return merge(sides[0], sides[1], None if base is None else base.removesuffix(b"\n").split(b"\n") if base else [])


def merged(folder: Path, ours: bytes, theirs: bytes, base: bytes | None = None) -> Merged:
    done = union(folder, ours, theirs, base)
    assert isinstance(done, Merged), done
    return done


def findings(folder: Path, data: bytes) -> list[str]:
    """Give the codes that are found in a log."""
    path = folder / "found.jsonl"
    path.write_bytes(data)
    return [one.code for one in read_log(path).diagnostics]
