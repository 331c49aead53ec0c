"""Failures of the program, as opposed to findings about data."""


class LedgerError(Exception):
    """Say in one sentence why the program could not do its job, and what to do about it."""
