"""Rules about one record's keys and values, driven by what its dialect declares (protocols.md 2-4)."""

from ledger.base.numbers import is_number
from ledger.base.times import parse_iso
from ledger.dialects.base import TYPES, Record, objects, present, typed
from ledger.log.diagnostics import Finding, Severity, article, show
from ledger.log.rule import Findings, rule

_TIMES = {"time": "an ISO-8601 time", "epoch": "a time in seconds or milliseconds since the epoch"}


@rule("R201", "missing-key", Severity.ERROR, "record", "any")
def missing_key(record: Record) -> Findings:
    """Report a required key that a record lacks.

    Why: nothing may be made up for it; a default would be a measurement that nobody made.
    Example: a run without `metric`.
    Fix: none by machine; add the key if its value is known, else remove the record after review.
    """
    for prefix, fields, values in objects(record):
        for field in fields:
            if field.presence == "required" and field.key not in values:
                noun = "record" if record.kind.name == "unknown" else record.kind.name
                yield Finding(f"{article(noun)} needs the key {prefix + field.key!r}")
    either = record.kind.one_of
    if either and record.values.keys().isdisjoint(either):
        yield Finding(f"{article(record.kind.name)} needs the key {' or '.join(map(repr, either))}")


@rule("R202", "wrong-type", Severity.ERROR, "record", "any")
def wrong_type(record: Record) -> Findings:
    """Report a value of the wrong type. Booleans are no numbers; null only where the protocol allows it.

    Why: comparing a text or null as a number gives an answer that nobody measured.
    Example: `"metric":"12"`.
    Fix: none by machine; write the value in its type.
    """
    for field, value, name in present(record):
        if not TYPES[field.type](value):
            due = _TIMES.get(field.type) or article(field.type)
            yield Finding(f"{name!r} must be {due}{' or null' if field.null else ''}, not {show(value)}", field.key)


@rule("R203", "value-not-in-list", Severity.ERROR, "record", "any")
def value_not_in_list(record: Record) -> Findings:
    """Report a value that its protocol does not list.

    Why: another word is never read as one of these; what a `success` was, keep or not, nobody can tell.
    Example: `"status":"kept"`.
    Fix: unsafe where the meaning is plain (`kept` is `keep`): the word is respelt; else none by machine: find out what
    was meant.
    """
    for field, value, name in typed(record):
        if field.choices and (value not in field.choices or isinstance(value, bool)):
            due = ("one of " if len(field.choices) > 1 else "") + ", ".join(map(str, field.choices))
            yield Finding(f"{name!r} must be {due}, not {show(value)}", field.key)


@rule("R204", "value-too-small", Severity.ERROR, "record", "any")
def value_too_small(record: Record) -> Findings:
    """Report a number below what its key allows.

    Why: counts and sizes start at 0 or 1; a smaller one was computed wrongly.
    Example: `"run":-1`.
    Fix: none by machine; write the right number.
    """
    for field, value, name in typed(record):
        if field.least is not None and is_number(value) and value < field.least:
            yield Finding(f"{name!r} must be at least {field.least}, not {show(value)}", field.key)


@rule("R205", "empty-value", Severity.ERROR, "record", "any")
def empty_value(record: Record) -> Findings:
    """Report a required text or list that is empty.

    Why: an empty metric name or reason says nothing, and a later reader cannot tell what was meant.
    Example: `"metricName":""`.
    Fix: none by machine; write the value.
    """
    for field, value, name in typed(record):
        if field.filled and isinstance(value, str | list) and not value:
            yield Finding(f"{name!r} must not be empty", field.key)


@rule("R208", "unreadable-time", Severity.ERROR, "record", "any")
def unreadable_time(record: Record) -> Findings:
    """Report a time that is text but not ISO-8601.

    Why: it cannot be ordered, so budgets and merges would go wrong.
    Example: `"timestamp":"yesterday"`.
    Fix: none by machine; write the time.
    """
    for field, value, name in typed(record):
        if field.type in ("time", "epoch") and isinstance(value, str) and parse_iso(value) is None:
            yield Finding(f"{name!r} must be an ISO-8601 time, not {show(value)}", field.key)


@rule("R210", "time-without-offset", Severity.WARNING, "record", "any")
def time_without_offset(record: Record) -> Findings:
    """Report an ISO-8601 time that states no offset. It is read as UTC.

    Why: if it was local time, durations across a change of clocks are wrong.
    Example: `"2026-05-06T12:00:00"`.
    Fix: none by machine; have the writer add `Z`.
    """
    for field, value, name in typed(record):
        if field.type in ("time", "epoch") and isinstance(value, str):
            read = parse_iso(value)
            if read is not None and not read[1]:
                yield Finding(f"{name!r} states no offset and is read as UTC", field.key)


@rule("R219", "foreign-record-type", Severity.ERROR, "record", "closed")
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
