"""The page about the house names rooms, floors and files that are there."""

import re

from tests.house.test_layers import FLOORS
from tests.support.cli import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
MOST_WORDS = 30


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Give the cells of a table's rows, its head left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_picture_shows_every_room_on_its_floor():
    picture = section("Floors").partition("```\n")[2].partition("```")[0]
    drawn: dict[str, int] = {}
    for line in picture.splitlines():
        number, rest = line.split(maxsplit=1)
        rooms = {f"ledger.{word}" for word in re.findall(r"(?:^|\s{2,})([a-z]+)", rest)}
        drawn |= dict.fromkeys(rooms & set(FLOORS), int(number))
    inside = {name: floor for name, floor in FLOORS.items() if name not in ("ledger", "ledger.__main__")}
    assert drawn == inside
    assert [f"ledger.{room.strip('`')}" for room, *_ in rows(section("Floors"))] == list(inside)


def test_what_to_begin_with_is_there():
    for room, _, first in rows(section("Floors")):
        assert (ROOT / "ledger" / room.strip("`") / first.strip("`")).is_file(), first


def test_every_path_is_there():
    named = set(re.findall(r"`([a-z_/]+(?:\.py|/))`", PAGE)) - {"ledger/"}
    assert len(named) > 20
    for name in named:
        assert (ROOT / name).exists() or list((ROOT / "ledger").rglob(name.rstrip("/"))), name


def test_the_glossary_stays_short():
    words = [word for word, _ in rows(section("Words"))]
    assert len(words) == len(set(words)) <= MOST_WORDS
