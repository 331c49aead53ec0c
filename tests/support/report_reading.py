"""What a written page holds: its data, its parts, read by a parser of HTML that knows nothing of ours."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.support.cli import ledger

VOID = {"meta", "link", "input", "br", "img"}


class Markup(HTMLParser):
    """Collect the elements of a page and the text that each script and style holds; unclosed ones are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.words: list[str] = []
        self.declared: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_decl(self, decl: str) -> None:
        self.declared.append(decl)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.raw:
            self.raw[tag].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.raw:
            self.raw[self._open[-1]][-1] += data
        else:
            self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def written(folder: Path, *arguments: object, code: int = 0, name: str = "page.html") -> Path:
    """Write a page and give its path."""
    done = ledger(folder, "report", *arguments, "-o", name)
    assert (done.code, done.out) == (code, ""), done.err
    return folder / name


def data_of(page: Path) -> Any:
    """Read the data within a page."""
    return json.loads(Markup(page.read_text("utf-8")).raw["script"][0])
