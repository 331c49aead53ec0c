"""Libraries that only an extra of the package installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from ledger.base.errors import LedgerError


@contextmanager
def needed(extra: str, by: str, *libraries: str) -> Iterator[None]:
    """Import in this context what needs an extra. Raises LedgerError, which says how to get it, if that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in libraries:
            raise
        raise LedgerError(f"{by} needs its extra: pip install 'autoresearch-ledger[{extra}]'") from None
