"""From a request to an answer: addresses are few and fixed, and no part of one is ever a path on the disk.

Answered are pages of this server in a browser of this machine, and no other site's.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ledger.base.errors import LedgerError
from ledger.log.jsontext import dump
from ledger.serve.pages import Page, Pages, make, policy_of
from ledger.serve.site import GoneError, Shown, Site

HOST = "127.0.0.1"
_METHODS = ("GET", "HEAD")

_ALWAYS = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)
"""The headers of every answer."""
_NOTHING_RUNS = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
"""The policy of what is no page."""

_LOG = re.compile(r"log/([0-9a-f]{16})")

_FOLLOWS = "HTTP_X_LEDGER_FOLLOW"
"""A page's script asks with this header: to it trouble is an answer, lest the browser note a failure every time."""

_HTML = ("Content-Type", "text/html; charset=utf-8")
_JSON = ("Content-Type", "application/json")
_TEXT = ("Content-Type", "text/plain; charset=utf-8")


class Response(NamedTuple):
    """Hold an answer; its length is stated, so that a request for the head alone gets it too."""

    status: str
    headers: Sequence[tuple[str, str]]
    pieces: Sequence[bytes]


class App:
    """Answer requests as WSGI has them; any number of threads may."""

    def __init__(self, site: Site, port: int) -> None:
        self._site = site
        self._port = port
        self._pages = Pages()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        answer = self._answer(environ)
        length = [] if answer.status.startswith("304") else [("Content-Length", str(sum(map(len, answer.pieces))))]
        start_response(answer.status, [*answer.headers, *_ALWAYS, *length])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else answer.pieces

    def _answer(self, environ: dict[str, Any]) -> Response:
        if (refused := _refusal(environ, self._port)) is not None:
            status, reason = refused
            allow = [("Allow", ", ".join(_METHODS))] if status.startswith("405") else []
            return Response(status, [_TEXT, _NOTHING_RUNS, *allow], [f"{reason}\n".encode()])
        path = environ["PATH_INFO"]
        data = path.endswith(".json")
        # A page and its data have one name; the index is at `/` alone.
        name = "index" if path == "/" else path[1:].removesuffix(".json") if path != "/index" else ""
        following = data and _FOLLOWS in environ
        try:
            shown = self._shown(name)
            if shown is None:
                return _told("404 Not Found", "There is nothing of that name here.", data=data)
            known = environ.get("HTTP_IF_NONE_MATCH", "").split(",")
            if f'"{shown.tag}"' in (one.strip().removeprefix("W/") for one in known):
                return Response("304 Not Modified", [_etag(shown.tag)], [])
            page = self._pages.get(name, shown.tag, lambda: make(shown.data(), shown.tag, f"/{name}.json"))
            if data:
                return Response("200 OK", [_JSON, _NOTHING_RUNS, _etag(page.tag)], [page.data])
            return _page("200 OK", page, _etag(page.tag))
        except GoneError as error:
            return _told("200 OK" if following else "410 Gone", f"{error}.", data=data)
        except (LedgerError, OSError) as error:
            reason = str(error).replace("run the command again", "load the page again")
            return _told("200 OK" if following else "503 Service Unavailable", f"{reason}.", data=data)

    def _shown(self, name: str) -> Shown | None:
        if name == "index":
            return self._site.index()
        if name == "compare":
            return self._site.compare()
        found = _LOG.fullmatch(name)
        return self._site.log(found[1]) if found else None


def _refusal(environ: Mapping[str, Any], port: int) -> tuple[str, str] | None:
    """Say with which status and sentence a request is refused; None if it is not."""
    names = (HOST, "localhost")  # any other name was made to point here (DNS rebinding)
    known = (*(f"{name}:{port}" for name in names), *(names if port == 80 else ()))
    if environ.get("HTTP_HOST", "").lower() not in known:
        return "403 Forbidden", f"ledger serve answers at http://{HOST}:{port}/ only"
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin.lower().removeprefix("http://") not in known:
        return "403 Forbidden", "ledger serve answers no other site's pages"
    if environ.get("HTTP_SEC_FETCH_SITE", "none") not in ("none", "same-origin"):
        return "403 Forbidden", "ledger serve answers no other site's pages; type its address to open it"
    if environ["REQUEST_METHOD"] not in _METHODS:
        return "405 Method Not Allowed", "ledger serve only shows: GET and HEAD are all it knows"
    return None


def _page(status: str, page: Page, *more: tuple[str, str]) -> Response:
    headers = [_HTML, ("Content-Security-Policy", policy_of(page.kind)), *more]
    return Response(status, headers, [page.before, page.data, page.after])


def _told(status: str, reason: str, *, data: bool) -> Response:
    """Answer with a sentence, as a page or for the script of one."""
    if data:
        return Response(status, [_JSON, _NOTHING_RUNS], [dump({"error": reason}).encode("utf-8", "replace")])
    return _page(status, make({"kind": "told", "title": status[4:], "text": reason}, "", None))


def _etag(tag: str) -> tuple[str, str]:
    return "ETag", f'"{tag}"'
