"""The rules of the `autoresearch` protocol: how its records are spelt (protocols.md 2)."""

import re

from ledger.base.numbers import is_number
from ledger.base.times import parse_iso
from ledger.dialects.autoresearch.records import SPELLINGS
from ledger.dialects.base import FORBIDDEN_NAMES, Record, typed
from ledger.log.diagnostics import Finding, Severity, article, show
from ledger.log.rule import Findings, rule

OWN = "autoresearch"
"""The subject of the rules about a record or the end of the log."""


@rule("R206", "advised-key-missing", Severity.WARNING, "record", OWN)
def advised_key_missing(record: Record) -> Findings:
    """Report a key that every writer should give, and that a reader can do without.

    Why: a run without time, commit or description cannot be placed or understood later.
    Example: a run without `timestamp`.
    Fix: none by machine; add the key if its value is known.
    """
    for field in record.kind.fields:
        if field.presence == "advised" and field.key not in record.values:
            yield Finding(f"{article(record.kind.name)} should have the key {field.key!r}")


@rule("R209", "time-as-text", Severity.WARNING, "record", OWN)
def time_as_text(record: Record) -> Findings:
    """Report an ISO-8601 text where the protocol has a number. It is read.

    Why: readers that expect a number fail on it.
    Example: `"timestamp":"2026-05-06T12:00:00Z"`.
    Fix: none needed; have the writer count milliseconds.
    """
    for field, value, name in typed(record):
        if field.type == "epoch" and isinstance(value, str) and parse_iso(value) is not None:
            yield Finding(f"{name!r} is ISO-8601 text; the protocol has a number", field.key)


@rule("R211", "forbidden-metric-name", Severity.ERROR, "record", OWN)
def forbidden_metric_name(record: Record) -> Findings:
    """Report a secondary metric that is nameless or named like a JavaScript prototype key.

    Why: other readers of these logs are JavaScript programs, which such a name breaks or fools.
    Example: `"metrics":{"__proto__":1}`.
    Fix: none by machine; rename the metric in the benchmark.
    """
    metrics = record.values.get("metrics")
    if record.kind.name == "run" and isinstance(metrics, dict):
        for name in metrics:
            if name in FORBIDDEN_NAMES:
                yield Finding(f"a secondary metric must not be named {name!r}", "metrics")


@rule("R212", "secondary-not-a-number", Severity.WARNING, "record", OWN)
def secondary_not_a_number(record: Record) -> Findings:
    """Report a secondary metric whose value is no number. It is kept with the run, not among the metrics.

    Why: it cannot be compared or drawn.
    Example: `"metrics":{"report":"out/1.txt"}`.
    Fix: none needed; such facts belong into `asi`.
    """
    metrics = record.values.get("metrics")
    if record.kind.name == "run" and isinstance(metrics, dict):
        for name, value in metrics.items():
            if not is_number(value):
                yield Finding(f"the secondary metric {name!r} is no number: {show(value)}", "metrics")


@rule("R213", "foreign-spelling", Severity.WARNING, "record", OWN)
def foreign_spelling(record: Record) -> Findings:
    """Report a header key in another tool's spelling. It is read as the protocol's.

    Why: readers that know only `metricName` see a header without a metric.
    Example: `"metric_name":"total_ms"`.
    Fix: unsafe; the key is respelt, unless the header has that key too.
    """
    if record.kind.name == "config":
        for key in record.raw:
            if key in SPELLINGS:
                yield Finding(f"{key!r} is spelt {SPELLINGS[key]!r} in this protocol", key)


@rule("R214", "run-with-type", Severity.WARNING, "record", OWN)
def run_with_type(record: Record) -> Findings:
    """Report a run that carries a `type`. It counts as a run.

    Why: runs have no `type` in this protocol, and readers that go by it skip the record.
    Example: `{"type":"result","run":4,…}`.
    Fix: none needed; have the writer drop the key.
    """
    if record.kind.name == "run" and "type" in record.values:
        yield Finding(f"a run has no 'type' in this protocol, this one says {show(record.values['type'])}", "type")


_COMMIT = re.compile(r"[0-9a-f]{7}")


@rule("R215", "irregular-commit", Severity.WARNING, "record", OWN)
def irregular_commit(record: Record) -> Findings:
    """Report a commit that is not 7 hex digits; a run that was not kept may have an empty one.

    Why: a kept run is found again by its commit.
    Example: `"commit":"none"`, or an empty commit on a keep.
    Fix: none by machine; write the short hash.
    """
    if record.kind.name != "run" or "commit" not in record.values:
        return
    commit, status = record.values["commit"], record.values.get("status")
    if commit == "" and status == "keep":
        yield Finding("'commit' is empty on a kept run", "commit")
    elif commit != "" and not (isinstance(commit, str) and _COMMIT.fullmatch(commit)):
        yield Finding(f"'commit' should be 7 hex digits, not {show(commit)}", "commit")


@rule("R217", "backstop-ack-not-running", Severity.ERROR, "record", OWN)
def backstop_ack_not_running(record: Record) -> Findings:
    """Report a `backstop_ack` on a marker other than `running`.

    Why: it acknowledges a check-in of a session that goes on; on a concluded one it contradicts the state.
    Example: `{"type":"status","state":"done","backstop_ack":200}`.
    Fix: none by machine; write two markers.
    """
    if record.kind.name == "status" and "backstop_ack" in record.values and record.values.get("state") != "running":
        yield Finding("'backstop_ack' may stand only on a running marker", "backstop_ack")


@rule("R218", "unknown-record-type", Severity.WARNING, "record", OWN)
def unknown_record_type(record: Record) -> Findings:
    """Report a record of a type that the protocol does not know. It is kept and never counted.

    Why: another tool wrote it, or a misspelt run is missing from every count.
    Example: `{"type":"finalize",…}`.
    Fix: none needed.
    """
    if record.kind.name == "unknown" and isinstance(record.values.get("type"), str):
        yield Finding(f"the type {show(record.values['type'])} is unknown; the record is kept and not counted", "type")
