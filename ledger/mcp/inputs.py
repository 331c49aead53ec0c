"""What a tool takes: an input's JSON schema, and what becomes of its value on the command line."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ledger.log.jsontext import dump

Words = Callable[[str, Any], list[str]]
"""Make a command's words of the name of an option, and of a value that fits the schema."""

MOST_CHARACTERS = 20_000
"""Of one text; the system bounds the bytes of an argument at about six times that."""


def text(about: str, *choices: str) -> dict[str, Any]:
    """Describe a text, or one of several words."""
    bounds = {"enum": list(choices)} if choices else {"minLength": 1, "maxLength": MOST_CHARACTERS}
    return {"type": "string", **bounds, "description": about}


def whole(about: str, least: int = 0, most: int = 2**31) -> dict[str, Any]:
    """Describe a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most, "description": about}


def number(about: str, **more: Any) -> dict[str, Any]:
    """Describe a number."""
    return {"type": "number", "description": about, **more}


def truth(about: str) -> dict[str, Any]:
    """Describe a switch, which is off unless it is given."""
    return {"type": "boolean", "default": False, "description": about}


def several(about: str, of: dict[str, Any]) -> dict[str, Any]:
    """Describe a list of at least one."""
    return {"type": "array", "items": of, "minItems": 1, "maxItems": 1000, "description": about}


def named(about: str, **more: Any) -> dict[str, Any]:
    """Describe an object, such as of numbers by name."""
    return {"type": "object", "description": about, **more}


def option(name: str, value: Any) -> list[str]:
    """Give a value to an option, in one word, so that no value is ever taken for an option."""
    return [f"{name}={_written(value)}"]


def switch(name: str, value: bool) -> list[str]:
    """Give the option if the value is true."""
    return [name] if value else []


def repeated(name: str, values: list[Any]) -> list[str]:
    """Give the option once for each value."""
    return [f"{name}={_written(value)}" for value in values]


def pairs(name: str, members: dict[str, Any]) -> list[str]:
    """Give the option once for each member of an object, as NAME=VALUE."""
    return [f"{name}={key}={_written(value)}" for key, value in members.items()]


def joined(name: str, values: list[Any]) -> list[str]:
    """Give all values to one option, with commas between."""
    return [f"{name}={','.join(map(_written, values))}"]


def positional(name: str, value: Any) -> list[str]:
    """Give a value as it is; it stands behind `--`."""
    return [_written(value)]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else dump(value)


class Input(NamedTuple):
    """Name an argument of a tool, which goes to the option of that name; `needed` ones must be given."""

    name: str
    schema: dict[str, Any]
    make: Words = option
    needed: bool = False

    def words(self, value: Any) -> list[str]:
        """Make the words of the command for a value."""
        return self.make(f"--{self.name.replace('_', '-')}", value)
