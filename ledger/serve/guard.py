"""Who is answered: pages of this server in a browser of this machine, and no other site's."""

from collections.abc import Mapping
from typing import Any

HOST = "127.0.0.1"
METHODS = ("GET", "HEAD")

ALWAYS = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)
"""The headers of every answer."""
NOTHING_RUNS = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
"""The policy of what is no page."""


def hosts(port: int) -> frozenset[str]:
    """Name what a browser may call this server; any other name was made to point here (DNS rebinding)."""
    names = (HOST, "localhost")
    return frozenset((*(f"{name}:{port}" for name in names), *(names if port == 80 else ())))


def refusal(environ: Mapping[str, Any], port: int) -> tuple[str, str] | None:
    """Say with which status and sentence a request is refused; None if it is not."""
    known = hosts(port)
    if environ.get("HTTP_HOST", "").lower() not in known:
        return "403 Forbidden", f"ledger serve answers at http://{HOST}:{port}/ only"
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin.lower().removeprefix("http://") not in known:
        return "403 Forbidden", "ledger serve answers no other site's pages"
    if environ.get("HTTP_SEC_FETCH_SITE", "none") not in ("none", "same-origin"):
        return "403 Forbidden", "ledger serve answers no other site's pages; type its address to open it"
    if environ["REQUEST_METHOD"] not in METHODS:
        return "405 Method Not Allowed", "ledger serve only shows: GET and HEAD are all it knows"
    return None
