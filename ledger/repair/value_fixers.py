"""Fixers of one record's keys and values."""

from collections.abc import Iterator
from itertools import pairwise

from ledger.dialects import by_name
from ledger.log.diagnostics import Diagnostic, Edit
from ledger.log.events import Runs
from ledger.log.json_places import Member, members, own_members
from ledger.log.jsontext import decode, dump
from ledger.repair.edits import apply_edits
from ledger.repair.fixer import UNSAFE, Options, Proposal, by_line, fixer, proposed
from ledger.repair.log_text import Text, record_of

_CONSTANTS = (b"NaN", b"Infinity", b"-Infinity")
_WORDS = {
    "kept": "keep", "discarded": "discard", "crashed": "crash", "check_failed": "checks_failed",
    "failed_checks": "checks_failed", "checks_fail": "checks_failed", "canceled": "cancelled", "stopped": "stop",
}  # fmt: skip
"""Other forms of the protocols' words. A word that judges in its own way (`success`, `fail`) is no form of any."""


@fixer("L106")
def zero_crashed_metric(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Write 0, the placeholder, for the metric of a crash, which measured nothing."""
    if text.dialect is None:
        return
    for line, here in by_line(found):
        data, start = text.line(line), text.start(line)
        record = decode(data).value
        if not isinstance(record, dict) or record.get("status") != "crash":
            continue
        own = own_members(data)
        spots = [own[name] for name in by_name(text.dialect).placeholders if name in own]
        edits = [Edit(spot.value, spot.end, b"0") for spot in spots if data[spot.value : spot.end] in _CONSTANTS]
        if edits and all(note.kind != "constant" for note in decode(apply_edits(data, sorted(edits))).notes):
            words = "write 0 for the metric of the crash, which measured nothing"
            yield proposed(tuple(here), UNSAFE, words, *sorted(_moved(edits, start)))


@fixer("L108")
def drop_earlier_duplicates(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Drop all but the last of equal keys, which most readers took."""
    for line, here in by_line(found):
        data, start = text.line(line), text.start(line)
        edits = list(_moved(_earlier(members(data)), start))
        if edits:
            count = len(edits)
            words = "drop the earlier of the equal keys" if count == 1 else f"drop {count} earlier ones of equal keys"
            yield proposed(tuple(here), UNSAFE, f"{words}; the last one wins", *edits)


def _earlier(found: list[Member]) -> list[Edit]:
    """Cut out each member that a later one of its object repeats, up to where the next member begins."""
    last: dict[tuple[int, str], int] = {(member.scope, member.name): member.start for member in found}
    objects: dict[int, list[Member]] = {}
    for member in found:
        objects.setdefault(member.scope, []).append(member)
    cuts = sorted(
        (member.start, following.start)
        for inside in objects.values()
        for member, following in pairwise(inside)
        if last[member.scope, member.name] != member.start
    )
    edits: list[Edit] = []
    for start, end in cuts:
        if not edits or start >= edits[-1].end:  # else it goes with the member around it
            edits.append(Edit(start, end, b""))
    return edits


def _moved(edits: list[Edit], by: int) -> Iterator[Edit]:
    return (Edit(edit.start + by, edit.end + by, edit.data) for edit in edits)


@fixer("R203")
def respell_value(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Write a listed word where another form of it stands: another ending, capitals, hyphens."""
    if text.dialect is None:
        return
    for one in found:
        line, start = text.line(one.line), text.start(one.line)
        record = record_of(line)
        member = next((member for member in own_members(line).values() if member.start == one.column - 1), None)
        if record is None or member is None:
            continue
        fields = by_name(text.dialect).kind_of(record).fields
        choices = next((field.choices for field in fields if field.key == member.name), ())
        word = record.get(member.name)
        form = word.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(word, str) else ""
        meant = next((meant for meant in (form, _WORDS.get(form)) if meant in choices), None)
        if meant is not None:
            edit = Edit(start + member.value, start + member.end, dump(meant).encode())
            yield proposed(one, UNSAFE, f"write {meant!r} for {str(word)[:60]!r}", edit)


@fixer("R213")
def respell_key(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """Write a header's key as the protocol spells it, if no other key would be spelt so."""
    spellings = by_name(text.dialect).spellings
    for one in found:
        start, own = text.start(one.line), own_members(text.line(one.line))
        proper = [spellings.get(name, name) for name in own]
        member = next((member for member in own.values() if member.start == one.column - 1), None)
        if member is not None and member.name in spellings and proper.count(spellings[member.name]) == 1:
            spelt = spellings[member.name]
            edit = Edit(start + member.start, start + member.key_end, dump(spelt).encode())
            yield proposed(one, UNSAFE, f"spell {member.name!r} as {spelt!r}", edit)


@fixer("S407")
def state_region(text: Text, found: list[Diagnostic], options: Options) -> Iterator[Proposal]:
    """State the segment that the run stands in."""
    by_number = {one.line: one for one in found}
    for event, region in text.events:
        if not isinstance(event, Runs) or region is None:
            continue
        for number in by_number.keys() & set(event.line):
            member = own_members(text.line(number)).get("segment")
            if member is not None:
                start = text.start(number)
                edit = Edit(start + member.value, start + member.end, b"%d" % region)
                yield proposed(by_number[number], UNSAFE, f"state segment {region}, in which the run stands", edit)
