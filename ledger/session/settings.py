"""A project's settings for its loop: `.auto/config.json`, then the front matter of the plugin's file."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.base.paths import show_path
from ledger.log.source import read_small

CONFIG = Path(".auto", "config.json")
PLUGIN = Path(".claude", "autoresearch-ai-plugin.local.md")

_FENCE = "---"


class Settings(NamedTuple):
    """Hold a loop's settings: `max_iterations` None where nobody set it, timeouts in seconds, `notes` for the brief."""

    max_iterations: int | None = None
    working_dir: str | None = None
    enabled: bool = True
    benchmark_timeout: float = 600.0
    checks_timeout: float = 300.0
    notes: str = ""


def find(folder: Path) -> Settings:
    """Read the settings of a project, key by key: what config.json leaves open, the plugin's file may say.

    Raises LedgerError for a file that cannot be read or a value that does not fit.
    """
    matter, notes = _plugin_file(folder / PLUGIN)
    return Settings(**{**matter, **_config_file(folder / CONFIG)}, notes=notes)


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value > 0


_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "max_iterations": (lambda value: type(value) is int and value >= 0, "a whole number, 0 for no limit"),
    "working_dir": (lambda value: isinstance(value, str) and bool(value), "a text"),
    "enabled": (lambda value: isinstance(value, bool), "true or false"),
    "benchmark_timeout": (_is_seconds, "a positive number of seconds"),
    "checks_timeout": (_is_seconds, "a positive number of seconds"),
}
"""Whether a value fits, and what it must be."""
_CONFIG_KEYS = {"maxIterations": "max_iterations", "workingDir": "working_dir"}


def _take(path: Path, stated: object, names: Mapping[str, str]) -> dict[str, Any]:
    """Take the settings that a file states under these names; null is unset, other keys are somebody else's."""
    if not isinstance(stated, dict):
        raise LedgerError(f"cannot use {show_path(path)}: it must hold keys and values")
    taken = {}
    for name, field in names.items():
        value, (fits, what) = stated.get(name), _KEYS[field]
        if value is None:
            continue
        if not fits(value):
            raise LedgerError(f"cannot use {show_path(path)}: {name} must be {what}")
        taken[field] = value
    return taken


def _config_file(path: Path) -> dict[str, Any]:
    data = read_small(path)
    if data is None:
        return {}
    try:
        stated = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LedgerError(f"cannot use {show_path(path)}: it is no JSON ({error})") from None
    return _take(path, stated, _CONFIG_KEYS)


def _plugin_file(path: Path) -> tuple[dict[str, Any], str]:
    """Split the plugin's file into its settings and its text."""
    data = read_small(path)
    if data is None:
        return {}, ""
    try:
        first, *lines = data.decode("utf-8-sig").splitlines() or [""]
    except UnicodeDecodeError:
        raise LedgerError(f"cannot use {show_path(path)}: it is no UTF-8 text") from None
    if first.rstrip() != _FENCE:
        return {}, "\n".join((first, *lines)).strip()
    end = next((place for place, line in enumerate(lines) if line.rstrip() == _FENCE), None)
    if end is None:
        raise LedgerError(f"cannot use {show_path(path)}: its front matter does not end with a line {_FENCE}")
    import yaml

    try:
        stated = yaml.safe_load("\n".join(lines[:end]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise LedgerError(f"cannot use {show_path(path)}: its front matter is no YAML ({problem})") from None
    return _take(path, {} if stated is None else stated, {name: name for name in _KEYS}), "\n".join(
        lines[end + 1 :]
    ).strip()
