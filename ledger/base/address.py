"""The address of a mirror on a server, as it may be shown to others: without its password."""

import re
from collections.abc import Mapping

_PASSWORD = re.compile(r"^(?P<before>[^:/?#]+://[^:/?#]*):.*@", re.DOTALL)
_SECRET_PARAMETER = re.compile(r"(?<=[?&])(?:ssl)?password=[^&]*&?", re.IGNORECASE)


def without_password(address: str) -> str:
    """Take the password out of an address as it was typed; a path, and an address without one, stay as they are."""
    if "://" not in address:
        return address
    bare = _SECRET_PARAMETER.sub("", _PASSWORD.sub(r"\g<before>@", address))
    return bare if bare == address else bare.rstrip("?&")


def for_others(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the environment for programs that are not ours: what they measure or print must not hold the password."""
    mirror = environment.get("LEDGER_DB")
    return dict(environment) if mirror is None else {**environment, "LEDGER_DB": without_password(mirror)}
