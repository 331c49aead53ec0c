"""Failures of the program, as opposed to findings about data."""


class LedgerError(Exception):
    """Say in one sentence why the program could not do its job, and what to do about it."""


def reason_of(error: OSError) -> str:
    """Give the system's reason as it stands within a sentence."""
    return (error.strerror or str(error)).lower()
