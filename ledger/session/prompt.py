"""The lists in a session's prompt file, which is Markdown: the files in scope, and those off limits."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_SCOPE, _OFF_LIMITS = "files in scope", "off limits"

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])[ \t]+(.*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_END = re.compile(r" [-–—] | \(|: ")
_BOLD = re.compile(r"\*\*([^*/][^*]*)\*\*")
_PLACEHOLDER = re.compile(r"\*[^*\s][^*]*\s[^*]*\*|_[^_\s].*\s.*_|<[^<>]*>")


class Lists(NamedTuple):
    """Hold the paths that a prompt lists, as they are written there."""

    scope: tuple[str, ...] = ()
    off_limits: tuple[str, ...] = ()


def lists(text: str) -> Lists:
    """Read the bullets under the headings `Files in scope` and `Off limits`, of any level and in any case.

    A section ends with the next heading of its level or above. A bullet's path is what stands in backticks, else what
    stands before a dash, a colon or a parenthesis. Comments, code blocks, and what is all in italics, say nothing.
    """
    found: dict[str, dict[str, None]] = {_SCOPE: {}, _OFF_LIMITS: {}}
    section, depth = None, 0
    for line in _lines(text):
        if heading := _HEADING.fullmatch(line):
            level = len(heading[1])
            named = _named(heading[2])
            if named is not None or level <= depth:
                section, depth = named, level
        elif section is not None and (bullet := _BULLET.fullmatch(line)):
            found[section].update(dict.fromkeys(_paths(bullet[1].strip())))
    return Lists(tuple(found[_SCOPE]), tuple(found[_OFF_LIMITS]))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither comment nor code block."""
    fence = ""
    for line in _COMMENT.sub("", text).replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~\t"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield line


def _named(title: str) -> str | None:
    """Tell which section a heading opens; words may follow its name."""
    words = " ".join(re.sub(r"[^\w]+", " ", title).casefold().split())
    return next((name for name in (_SCOPE, _OFF_LIMITS) if f"{words} ".startswith(f"{name} ")), None)


def _paths(bullet: str) -> Iterator[str]:
    if not bullet or _PLACEHOLDER.fullmatch(bullet):
        return
    # What is said about a path is cut off; code is passed over.
    end = _END.search(_CODE.sub(lambda span: "x" * len(span[0]), bullet))
    head = (bullet[: end.start()] if end else bullet.rstrip(":")).strip()
    if spans := [span[2].strip() for span in _CODE.finditer(head)]:
        yield from filter(None, spans)
    elif span := _CODE.search(bullet):
        yield span[2].strip()
    else:
        yield (bold[1] if (bold := _BOLD.fullmatch(head)) else head)
