"""Pages made once for each state of what they show, kept while they are new, made by one reader for all who wait."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ledger.report import page
from ledger.report.page import joined, policy, read_styles, render

ROOM = 64 * 1024 * 1024
"""Bytes of pages that are kept; the one asked for last always is."""

MORE = {
    "report": ("live.js",),
    "compare": ("compared.js", "live.js"),
    "index": ("dom.js", "load.js", "marks.js", "theme.js", "index.js", "live.js"),
    "told": ("dom.js", "theme.js", "told.js"),
}
"""The scripts that a served page of each kind has beyond those of a written one."""


class Page(NamedTuple):
    """Hold a page's HTML around its data, and the data; `tag` is that of the state they show."""

    kind: str
    tag: str
    before: bytes
    data: bytes
    after: bytes


def make(data: Mapping[str, Any], tag: str, live: str | None) -> Page:
    """Make the page of `data`; `live` is the address of its data."""
    kind = data["kind"]
    before, *pieces, after = render(data, MORE[kind], live and f"{live}#{tag}")
    return Page(kind, tag, before, b"".join(pieces), after)


def policy_of(kind: str) -> str:
    """Write the Content-Security-Policy that is sent with a page: the one it states, and that nothing frames it."""
    script = joined((*page.SCRIPTS.get(kind, ()), *MORE[kind]))
    return f"{policy(script, read_styles(), live=kind != 'told')}; frame-ancestors 'none'"


class Pages:
    """Keep pages by name. While somebody makes a newer one, others get the one before it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Page] = OrderedDict()
        self._making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def get(self, name: str, tag: str, maker: Callable[[], Page]) -> Page:
        """Give the page of this name and tag, or an older one that is about to be replaced."""
        kept, making = self._look(name)
        if kept is not None and kept.tag == tag:
            return kept
        if not making.acquire(blocking=kept is None):
            assert kept is not None
            return kept
        try:
            kept, _ = self._look(name)
            if kept is None or kept.tag != tag:
                kept = maker()
                self._keep(name, kept)
            return kept
        finally:
            making.release()

    def _look(self, name: str) -> tuple[Page | None, threading.Lock]:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name), self._making[name]

    def _keep(self, name: str, made: Page) -> None:
        with self._lock:
            self._kept[name] = made
            self._kept.move_to_end(name)
            kept = self._kept.values()
            while len(kept) > 1 and sum(len(one.before) + len(one.data) + len(one.after) for one in kept) > ROOM:
                self._kept.popitem(last=False)
