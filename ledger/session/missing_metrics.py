"""The secondary metrics that a run lacks."""

from collections.abc import Sequence

from ledger.dialects.writing import RunOutcome
from ledger.log.jsontext import dump, mentions


def missing_metrics(names: Sequence[str], outcome: RunOutcome) -> list[str]:
    """List the secondary metrics among `names` that this run lacks without a word about them in its `asi`."""
    if outcome.status == "crash":
        return []
    said = dump(dict(outcome.asi))
    return [name for name in names if name not in outcome.metrics and not mentions(said, name)]
