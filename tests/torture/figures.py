"""What an ordeal comes to: a line of the table that scripts/torture prints."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Say what was done to the program, how often, and what came of it. Whatever breaks a promise raises instead."""

    what: str
    tried: int
    outcome: str
