"""The log that a table becomes: a header that says where it came from, and a run a row (protocols.md 2)."""

from decimal import Decimal
from typing import Any

from ledger.base.errors import LedgerError
from ledger.importing.table_file import ImportOptions, TableFile
from ledger.log.jsontext import dump


def header(source: TableFile, asked: ImportOptions, metric: str | None, notes: list[str]) -> dict[str, Any]:
    """Make the config header. Raises LedgerError for what is said neither by an option nor by the table."""
    said = (source.said("metric_direction") or "").removesuffix("_is_better")
    told = said if said in ("lower", "higher") else None
    direction = asked.direction or told
    if direction is None:
        raise LedgerError(
            f"{source.name} does not say which metric is better: say so with --direction lower or --direction higher"
        )
    if told is not None and told != direction:
        notes.append(f"{source.name} says that {told} is better; --direction {direction} counts")
    name = asked.metric or source.said("metric_name") or metric
    if not name:
        raise LedgerError(f"{source.name} does not name its metric: say so with --metric NAME")
    unit = asked.unit if asked.unit is not None else source.said("metric_unit")
    origin: dict[str, Any] = {"file": source.name, "sha256": source.sha256}
    if source.comments:
        origin["comments"] = source.comments
    return {
        "type": "config",
        "name": asked.name or source.name,
        "metricName": name,
        **({} if unit is None else {"metricUnit": unit}),
        "bestDirection": direction,
        "importedFrom": origin,
    }


def log(header: dict[str, Any], runs: list[dict[str, Any]]) -> bytes:
    """Write a header and runs as the lines of a log; a Decimal keeps its digits."""
    return b"".join(dump(record).encode() + b"\n" for record in (header, *runs))


def run(
    number: int, commit: str, metric: Decimal, metrics: dict[str, Decimal], status: str, description: str | None,
    timestamp: int | Decimal | None,
) -> dict[str, Any]:  # fmt: skip
    """Make a run's record; what is None is left out."""
    made: dict[str, Any] = {"run": number, "commit": commit, "metric": metric, "metrics": metrics, "status": status}
    if description is not None:
        made["description"] = description
    if timestamp is not None:
        made["timestamp"] = timestamp
    return made
