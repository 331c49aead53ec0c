"""Findings and rules as people, programs and GitHub read them."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import orjson

from ledger.base.paths import canonical, show_path
from ledger.base.text import counted, near, plain
from ledger.log.diagnostics import Applicability, Diagnostic, Severity
from ledger.log.source import STDIN
from ledger.reading.whole_log import Log
from ledger.rules import Rule

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def diagnostics_text(logs: Sequence[Log], stream: TextIO) -> None:
    """Write `path:line:column: CODE message` for each finding, and a line that sums up; one more if some have fixes."""
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    for log in logs:
        stream.writelines(f"{line}\n" for line in lines_of(_path(log), log.diagnostics, coloured=coloured))
    stream.write(summary(logs) + "\n")
    if fixes := [found.fix for _, found in _findings(logs) if found.fix is not None]:
        safe_ones = sum(fix.applicability is Applicability.SAFE for fix in fixes)
        stream.write(f"{counted(len(fixes), 'finding')} can be repaired, {safe_ones} safely; ledger repair shows how\n")


def lines_of(path: Path | None, found: Sequence[Diagnostic], *, coloured: bool = False) -> Iterator[str]:
    """Give each finding of one log as a line of text, the reason for which it is accepted behind it."""
    place = Path(STDIN) if path is None else path
    for one in found:
        where = place.with_name(one.source) if one.source else place
        code = _coloured(one) if coloured else one.code
        said = one.message if one.accepted is None else f"{one.message} (accepted: {one.accepted})"
        yield f"{near(show_path(where))}:{one.line}:{one.column}: {code} {plain(said)}"


def diagnostics_json(logs: Sequence[Log], stream: TextIO) -> None:
    """Write the findings as one JSON object, in the shape that the command line promises."""
    shape = {"logs": [_log_object(log) for log in logs]}
    stream.write(orjson.dumps(shape, option=orjson.OPT_INDENT_2).decode() + "\n")


def diagnostics_github(logs: Sequence[Log], stream: TextIO) -> None:
    """Write the findings as GitHub workflow commands, which turn into annotations of a pull request."""
    for path, found in _findings(logs):
        place = {"file": near(safe(path))}
        if found.line:
            place |= {"line": str(found.line), "col": str(found.column)}
        place["title"] = f"{found.code} {found.name}"
        escaped = ((key, _data(value).replace(":", "%3A").replace(",", "%2C")) for key, value in place.items())
        properties = ",".join(f"{key}={value}" for key, value in escaped)
        if found.accepted is not None:
            level, message = "notice", f"{found.message} (accepted: {found.accepted})"
        else:
            level, message = _GITHUB[found.severity], found.message
        if found.fix is not None:
            message += f" ({found.fix.applicability.value} fix: {found.fix.description})"
        stream.write(f"::{level} {properties}::{_data(message)}\n")


def summary(logs: Sequence[Log]) -> str:
    """Sum up: `3 logs, 2 sound; 4 errors, 12 warnings, 1 info`; what is accepted is counted apart."""
    sound = sum(log.ok for log in logs)
    counts = Counter(found.severity if found.accepted is None else None for _, found in _findings(logs))
    accepted = f", {counts[None]} accepted" if counts[None] else ""
    errors, warnings = (counted(counts[level], level.value) for level in (Severity.ERROR, Severity.WARNING))
    return f"{counted(len(logs), 'log')}, {sound} sound; {errors}, {warnings}, {counts[Severity.INFO]} info{accepted}"


def explain(rule: Rule) -> str:
    """Give a rule's documentation: what it is called, how grave it is, what it does and why."""
    return f"{rule.code} {rule.name} ({rule.severity.value})\n\n{rule.doc}\n"


def safe(path: Path | str) -> str:
    """Give a path as text that any encoder takes: what is no UTF-8 in it is replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _findings(logs: Sequence[Log]) -> Iterator[tuple[Path, Diagnostic]]:
    """Yield each finding with the file at fault: the log, or the file beside it that the finding is about."""
    for log in logs:
        path = _path(log)
        for found in log.diagnostics:
            yield path.with_name(found.source) if found.source else path, found


def _path(log: Log) -> Path:
    return Path(STDIN) if log.path is None else canonical(log.path)


def _log_object(log: Log) -> dict[str, Any]:
    return {
        "path": safe(_path(log)),
        "dialect": log.dialect,
        "lines": log.lines,
        "records": log.records,
        "ok": log.ok,
        "diagnostics": [_object(path, found) for path, found in _findings([log])],
    }


def _object(path: Path, found: Diagnostic) -> dict[str, Any]:
    fix = found.fix
    return {
        "path": safe(path),
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "line": found.line,
        "column": found.column,
        "message": _encodable(found.message),
        "accepted": found.accepted is not None,
        "fix": fix and {"applicability": fix.applicability.value, "description": _encodable(fix.description)},
    }


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _coloured(found: Diagnostic) -> str:
    from click import style

    return style(found.code, fg=_COLOURS[found.severity])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
