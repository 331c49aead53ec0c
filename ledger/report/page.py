"""A page's data as one HTML file that needs nothing else: no network, no other file, no script but its own.

All that a page runs or paints with is in `templates/`; its one script and one style are named to the browser by their
hashes, so that nothing in a log could run even if it were not escaped, as it is.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ledger.log.jsontext import dump

TEMPLATES = Path(__file__).with_name("templates")
STYLES = ("page.css", "parts.css")
SCRIPTS = {
    "report": ("dom.js", "load.js", "scale.js", "marks.js", "tip.js", "plot.js", "trajectory.js", "multiples.js",
               "unfold.js", "runs.js", "theme.js", "report.js"),
    "compare": ("dom.js", "load.js", "scale.js", "tip.js", "lines.js", "strip.js", "theme.js", "compare.js"),
}  # fmt: skip
"""The files of which each kind of page has its script, in this order."""

_HOLE = "<!--data-->"
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF, *range(0x7F, 0xA0))
_ESCAPED = {code: f"\\u{code:04x}" for code in (*map(ord, "<>&"), *_TURNING)}
"""What could end a script element, or would not show as itself to who reads the file."""


def render(data: Mapping[str, Any], scripts: Sequence[str] = (), live: str | None = None) -> Iterator[bytes]:
    """Yield the page of `data`, whose `kind` names its template: UTF-8, piece by piece.

    A page that follows its log has further `scripts`, and in `live` the address that it may ask for its data again.
    """
    kind = data["kind"]
    script, style = joined((*SCRIPTS.get(kind, ()), *scripts)), read_styles()
    text = environment().get_template(f"{kind}.html").render(
        data=data, script=Markup(script), style=Markup(style), hole=Markup(_HOLE),  # noqa: S704 - files of our own
        policy=policy(script, style, live=live is not None), live=live,
    )  # fmt: skip
    before, found, after = text.partition(_HOLE)
    yield before.encode("utf-8", "replace")
    if found:
        yield from json_pieces(data)
    yield after.encode("utf-8", "replace")


def json_pieces(data: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the JSON text of a page's data, a key at a time; it can stand within a script element."""
    lead = "{"
    for key, value in data.items():
        yield f"{lead}{dump(key)}:{dump(value)}".translate(_ESCAPED).encode("utf-8", "replace")
        lead = ",\n"
    yield b"}"


def policy(script: str, style: str, *, live: bool = False) -> str:
    """Write the page's Content-Security-Policy: its own script and style, and the server it came from if it is live."""
    origin = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        f" connect-src {origin}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def joined(names: tuple[str, ...]) -> str:
    """Join scripts into one, which leaves no name of theirs to the page."""
    parts = [(TEMPLATES / name).read_text("utf-8") for name in names]
    return "\n(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"


@cache
def read_styles() -> str:
    """Join the styles into one."""
    return "\n" + "\n".join((TEMPLATES / name).read_text("utf-8") for name in STYLES)


@cache
def environment() -> Environment:
    """Give the environment of every page: what it is given is escaped, what it misses is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters["pick"] = pick
    return made


def pick(data: Any, path: str) -> Any:
    """Find a part of a page's data by its keys, joined with dots, as the page's script does."""
    for key in path.split("."):
        data = data[int(key) if isinstance(data, list) else key]
    return data
