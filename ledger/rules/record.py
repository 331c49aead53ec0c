"""Rules about one record's keys and values, driven by what its dialect declares (protocols.md 2-4)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ledger.base.numbers import is_number
from ledger.base.times import parse_iso
from ledger.dialects.base import TYPES, Field, Kind
from ledger.log.diagnostics import Finding, Severity
from ledger.rules import rule

Findings = Iterator[Finding]
_ALL = ("autoresearch", "state-protocol", "codex")


class Record(NamedTuple):
    """Hold an object with its kind: `raw` as it was written, `values` in canonical spelling."""

    kind: Kind
    raw: Mapping[str, Any]
    values: Mapping[str, Any]


def _present(record: Record) -> Iterator[tuple[Field, Any, str]]:
    """Walk the declared fields that are there and not a permitted null: (field, value, name for messages)."""
    for field in record.kind.fields:
        if field.key in record.values:
            value = record.values[field.key]
            if value is None and field.null:
                continue
            yield field, value, field.key
            if field.fields and isinstance(value, dict):
                for inner in field.fields:
                    if inner.key in value and not (value[inner.key] is None and inner.null):
                        yield inner, value[inner.key], f"{field.key}.{inner.key}"


def _typed(record: Record) -> Iterator[tuple[Field, Any, str]]:
    return ((field, value, name) for field, value, name in _present(record) if TYPES[field.type](value))


def _objects(record: Record) -> Iterator[tuple[str, tuple[Field, ...], Mapping[str, Any]]]:
    yield "", record.kind.fields, record.values
    for field in record.kind.fields:
        if field.fields and isinstance(value := record.values.get(field.key), dict):
            yield f"{field.key}.", field.fields, value


_WORDS = {None: "null", True: "true", False: "false"}


def show(value: Any) -> str:
    """Write a value for a message, shortened."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = repr(value) if isinstance(value, str) else _WORDS[value] if isinstance(value, bool | None) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


@rule("R201", "missing-key", Severity.ERROR, "record", *_ALL)
def missing_key(record: Record) -> Findings:
    """Report a required key that a record lacks.

    Why: nothing may be made up for it; a default would be a measurement that nobody made.
    Example: a run without `metric`.
    Fix: none by machine; add the key if its value is known, else remove the record after review.
    """
    for prefix, fields, values in _objects(record):
        for field in fields:
            if field.presence == "required" and field.key not in values:
                noun = "record" if record.kind.name == "unknown" else record.kind.name
                yield Finding(f"{article(noun)} needs the key {prefix + field.key!r}")
    measured = any(field.key == "median" for field in record.kind.fields)
    if measured and record.values.keys().isdisjoint(("value", "median")):
        yield Finding("a result needs the key 'value' or 'median'")


def article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


@rule("R202", "wrong-type", Severity.ERROR, "record", *_ALL)
def wrong_type(record: Record) -> Findings:
    """Report a value of the wrong type. Booleans are no numbers; null only where the protocol allows it.

    Why: comparing a text or null as a number gives an answer that nobody measured.
    Example: `"metric":"12"`.
    Fix: none by machine; write the value in its type.
    """
    for field, value, name in _present(record):
        if not TYPES[field.type](value):
            yield Finding(f"{name!r} must be {_a_type(field)}, not {show(value)}", field.key)


def _a_type(field: Field) -> str:
    kind = {"time": "an ISO-8601 time", "epoch": "a time in seconds or milliseconds since the epoch"}.get(field.type)
    return (kind or article(field.type)) + (" or null" if field.null else "")


@rule("R203", "value-not-in-list", Severity.ERROR, "record", *_ALL)
def value_not_in_list(record: Record) -> Findings:
    """Report a value that its protocol does not list.

    Why: another word is never read as one of these; what a `success` was, keep or not, nobody can tell.
    Example: `"status":"kept"`.
    Fix: unsafe where the meaning is plain (`kept` is `keep`): the word is respelt; else none by machine: find out what
    was meant.
    """
    for field, value, name in _typed(record):
        if field.choices and (value not in field.choices or isinstance(value, bool)):
            yield Finding(f"{name!r} must be {_one_of(field.choices)}, not {show(value)}", field.key)


def _one_of(choices: tuple[Any, ...]) -> str:
    words = [str(choice) for choice in choices]
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


@rule("R204", "value-too-small", Severity.ERROR, "record", *_ALL)
def value_too_small(record: Record) -> Findings:
    """Report a number below what its key allows.

    Why: counts and sizes start at 0 or 1; a smaller one was computed wrongly.
    Example: `"run":-1`.
    Fix: none by machine; write the right number.
    """
    for field, value, name in _typed(record):
        if field.least is not None and is_number(value) and value < field.least:
            yield Finding(f"{name!r} must be at least {field.least}, not {show(value)}", field.key)


@rule("R205", "empty-value", Severity.ERROR, "record", *_ALL)
def empty_value(record: Record) -> Findings:
    """Report a required text or list that is empty.

    Why: an empty metric name or reason says nothing, and a later reader cannot tell what was meant.
    Example: `"metricName":""`.
    Fix: none by machine; write the value.
    """
    for field, value, name in _typed(record):
        if field.filled and isinstance(value, str | list) and not value:
            yield Finding(f"{name!r} must not be empty", field.key)


@rule("R207", "unknown-key", Severity.ERROR, "record", "codex")
def unknown_key(record: Record) -> Findings:
    """Report a key that a codex record must not have.

    Why: run.json and its events have an exact set of keys; the tool that owns them refuses any other.
    Example: `"notes"` in an iteration.
    Fix: none by machine; move the information to the description.
    """
    for prefix, fields, values in _objects(record) if record.kind.exact else ():
        known = {field.key for field in fields}
        for key in values:
            if key not in known:
                yield Finding(f"{article(record.kind.name)} has no key {prefix + key!r}", key)


@rule("R208", "unreadable-time", Severity.ERROR, "record", *_ALL)
def unreadable_time(record: Record) -> Findings:
    """Report a time that is text but not ISO-8601.

    Why: it cannot be ordered, so budgets and merges would go wrong.
    Example: `"timestamp":"yesterday"`.
    Fix: none by machine; write the time.
    """
    for field, value, name in _typed(record):
        if field.type in ("time", "epoch") and isinstance(value, str) and parse_iso(value) is None:
            yield Finding(f"{name!r} must be an ISO-8601 time, not {show(value)}", field.key)


@rule("R209", "time-as-text", Severity.WARNING, "record", "autoresearch")
def time_as_text(record: Record) -> Findings:
    """Report an ISO-8601 text where the protocol has a number. It is read.

    Why: readers that expect a number fail on it.
    Example: `"timestamp":"2026-05-06T12:00:00Z"`.
    Fix: none needed; have the writer count milliseconds.
    """
    for field, value, name in _typed(record):
        if field.type == "epoch" and isinstance(value, str) and parse_iso(value) is not None:
            yield Finding(f"{name!r} is ISO-8601 text; the protocol has a number", field.key)


@rule("R210", "time-without-offset", Severity.WARNING, "record", *_ALL)
def time_without_offset(record: Record) -> Findings:
    """Report an ISO-8601 time that states no offset. It is read as UTC.

    Why: if it was local time, durations across a change of clocks are wrong.
    Example: `"2026-05-06T12:00:00"`.
    Fix: none by machine; have the writer add `Z`.
    """
    for field, value, name in _typed(record):
        if field.type in ("time", "epoch") and isinstance(value, str):
            read = parse_iso(value)
            if read is not None and not read[1]:
                yield Finding(f"{name!r} states no offset and is read as UTC", field.key)


@rule("R219", "foreign-record-type", Severity.ERROR, "record", "state-protocol", "codex")
def foreign_record_type(record: Record) -> Findings:
    """Report a record of a type or event that a strict protocol does not have.

    Why: these protocols list their records; an unlisted one may change what the others mean.
    Example: `{"type":"note",…}` in a state-protocol log.
    Fix: none by machine; move the information into a listed record.
    """
    key = record.kind.fields[0].key
    if record.kind.name != "unknown":
        return
    if isinstance(record.values.get(key), str):
        yield Finding(f"the {key} {show(record.values[key])} is unknown in this protocol", key)
    elif key == "type" and key not in record.values:
        yield Finding("the record has no 'type'")


@rule("R220", "irregular-scope", Severity.ERROR, "record", "codex")
def irregular_scope(record: Record) -> Findings:
    """Report a scope entry that is no plain path inside the repository.

    Why: the scope says what an experiment may change; a glob, `..` or an absolute path says more than was confirmed.
    Example: `"scope":["src/*.py"]`.
    Fix: none by machine; list the paths.
    """
    scope = record.values.get("scope")
    if record.kind.name == "run.json" and isinstance(scope, list):
        for path in scope:
            if isinstance(path, str) and (
                not path or re.search(r"[*?\[\]]|^[/\\~]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)", path)
            ):
                yield Finding(
                    f"'scope' must list repository-relative paths without globs or '..', not {show(path)}", "scope"
                )
