"""A page open in a browser, with all that it complained of and asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Opened:
    """Hold a browser's page, `tab`, and what it said on its console and asked the world for."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.said: list[str] = []
        self.asked: list[str] = []
        tab.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: self.said.append(str(error)))
        tab.on("dialog", self._note_dialog)
        tab.on("request", lambda request: self.asked.append(request.url))

    def _note_dialog(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, file: Path) -> "Opened":
        """Open a file and wait until its script has drawn it."""
        self.tab.goto(file.as_uri())
        self.tab.wait_for_function("document.documentElement.dataset.drawn === 'yes'", timeout=20_000)
        return self

    def quiet(self) -> bool:
        """Tell whether nothing but files from disk, and the data within them, was asked for, and nothing said."""
        away = [url for url in self.asked if not url.startswith(("file:", "data:"))]
        assert (self.said, away) == ([], [])
        return True

    def texts(self, selector: str) -> list[str]:
        """Give the text of each element."""
        found: list[str] = self.tab.locator(selector).all_text_contents()
        return [" ".join(one.split()) for one in found]

    def text(self, selector: str) -> str:
        """Give the text of the one element."""
        (one,) = self.texts(selector)
        return one

    def column(self, key: str) -> list[str]:
        """Give the cells of a column of the table of runs."""
        heads = self.tab.locator(".runs thead th").evaluate_all("all => all.map((one) => one.dataset.key)")
        return self.texts(f".runs tbody tr[id^='line-'] > :nth-child({heads.index(key) + 1})")

    def value(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        return self.tab.evaluate(script)


@contextmanager
def opened(browser: Any, **options: Any) -> Iterator[Opened]:
    """Open a fresh page, with storage of its own."""
    context = browser.new_context(**options)
    try:
        yield Opened(context.new_page())
    finally:
        context.close()
