"""Rules about a physical line's text (protocols.md 1). Each reads one note that decoding the line made."""

from ledger.log.diagnostics import Finding, Severity
from ledger.log.jsontext import MAX_DEPTH, Note
from ledger.log.rule import Findings, rule
from ledger.log.source import MAX_LINE_BYTES


@rule("L101", "not-utf-8", Severity.ERROR, "note", "encoding")
def not_utf_8(note: Note) -> Findings:
    """Report a line that is not UTF-8.

    Why: JSON is UTF-8, and a guess at another encoding would change the text on re-export.
    Example: a line with the byte 0xff.
    Fix: none by machine; find out which encoding wrote the line and convert it, or drop it after review.
    """
    yield Finding(f"not UTF-8: {note.detail} starts no character")


@rule("L102", "byte-order-mark", Severity.ERROR, "note", "bom")
def byte_order_mark(note: Note) -> Findings:
    """Report a line that begins with a byte order mark. The record behind it is read.

    Why: JSON forbids it and most readers refuse the line, often the header.
    Example: the bytes EF BB BF before `{"type":"config",…}`.
    Fix: safe; the three bytes are removed, and the line with them if nothing else stands on it.
    """
    yield Finding("a byte order mark (EF BB BF) stands before the record")


@rule("L103", "not-json", Severity.ERROR, "note", "syntax")
def not_json(note: Note) -> Findings:
    """Report a line that is not JSON.

    Why: a record that cannot be read must not be skipped in silence; the run it held would be missing.
    Example: `{"run":4,"metric":}`.
    Fix: unsafe where raw newlines broke one record over several lines, which are joined, or where whole records stand
    behind a torn one, which is cut off; else none by machine: see what the line was meant to say, in the agent's
    transcript or in git.
    """
    yield Finding(f"not JSON: {note.detail}")


@rule("L104", "not-an-object", Severity.ERROR, "note", "shape")
def not_an_object(note: Note) -> Findings:
    """Report a line that is JSON but no object.

    Why: a record is an object; a bare number or list says nothing that could be kept.
    Example: `[1,2]`.
    Fix: none by machine; remove the line after review.
    """
    yield Finding(f"JSON, but {note.detail} instead of an object")


@rule("L105", "trailing-text", Severity.ERROR, "note", "trailing")
def trailing_text(note: Note) -> Findings:
    """Report text after the line's object.

    Why: two writers without a lock leave two records on one line, and readers lose one or both.
    Example: `{"run":4,…}{"run":5,…}`.
    Fix: unsafe where nothing but records stands on the line: each gets a line of its own; else none by machine: take
    the other text out after review.
    """
    yield Finding(f"text after the object: {note.detail!r}")


@rule("L106", "nan-or-infinity", Severity.ERROR, "note", "constant")
def nan_or_infinity(note: Note) -> Findings:
    """Report a `NaN` or `Infinity` token.

    Why: it is no JSON, readers differ on it, and a database stores it as null.
    Example: `"metric":NaN`.
    Fix: unsafe where it is the metric of a crash, which becomes 0; else none by machine: find out what was measured.
    """
    yield Finding(f"{note.detail} is no JSON number")


@rule("L107", "number-overflow", Severity.ERROR, "note", "overflow")
def number_overflow(note: Note) -> Findings:
    """Report a number beyond every double.

    Why: readers turn it into infinity, which no comparison survives.
    Example: `"metric":1e999`.
    Fix: none by machine; write the value that was measured.
    """
    yield Finding(f"{note.detail[:40]} overflows a double")


@rule("L108", "duplicate-key", Severity.ERROR, "note", "duplicate")
def duplicate_key(note: Note) -> Findings:
    """Report a key that an object has twice, at any depth, compared after unescaping.

    Why: readers disagree on which one counts.
    Example: `{"run":4,"metric":1,"metric":2,…}`.
    Fix: unsafe; the earlier ones are dropped, since the last one won for most readers.
    """
    yield Finding(f"the key {note.detail!r} stands twice in one object")


@rule("L109", "nesting-too-deep", Severity.ERROR, "note", "depth")
def nesting_too_deep(note: Note) -> Findings:
    """Report a value nested past 256 levels.

    Why: parsers give up at different depths, so such a record reads here and not there.
    Example: 257 opening brackets.
    Fix: none by machine; flatten the value.
    """
    yield Finding(f"nested past {MAX_DEPTH} levels")


@rule("L110", "line-too-long", Severity.ERROR, "note", "length")
def line_too_long(note: Note) -> Findings:
    """Report a line past 16 MiB.

    Why: no experiment needs it; it is a dump that went into the log by mistake, and it stalls every reader.
    Example: a line with a whole benchmark output in `asi`.
    Fix: none by machine; move the output to a file and name it in the record.
    """
    yield Finding(f"the line has {note.detail} bytes, more than {MAX_LINE_BYTES:,}")


@rule("L111", "lone-surrogate", Severity.ERROR, "note", "surrogate")
def lone_surrogate(note: Note) -> Findings:
    r"""Report an escaped half of a surrogate pair.

    Why: it is no character; it cannot be written as UTF-8, and strict parsers refuse the line.
    Example: `"description":"\ud83d"`.
    Fix: none by machine; write the character that was meant.
    """
    yield Finding("a lone surrogate escape stands for no character")


@rule("L112", "escaped-nul", Severity.WARNING, "note", "nul")
def escaped_nul(note: Note) -> Findings:
    r"""Report an escaped NUL character.

    Why: it is legal and kept, but many tools cut text there.
    Example: `"description":"a\u0000b"`.
    Fix: none needed; have the writer drop it.
    """
    yield Finding("the text has an escaped NUL character; it is kept")


@rule("L113", "blank-line", Severity.WARNING, "note", "blank")
def blank_line(note: Note) -> Findings:
    """Report a line with nothing but white space.

    Why: it is harmless to this reader, but others stop at it.
    Example: an empty line between two runs.
    Fix: safe; the line is removed.
    """
    yield Finding("the line is blank")


@rule("L114", "blank-line-in-history", Severity.ERROR, "note", "blank-strict")
def blank_line_in_history(note: Note) -> Findings:
    """Report a blank line in a codex history.

    Why: `seq` is the record's position, and the tool that owns these histories refuses them.
    Example: an empty line between two events.
    Fix: safe; the line is removed.
    """
    yield Finding("the line is blank, which a codex history must not have")


@rule("L115", "torn-tail", Severity.ERROR, "note", "torn")
def torn_tail(note: Note) -> Findings:
    """Report a last line that has no newline and does not parse (in a codex history: one without newline).

    Why: a crash leaves it, or a writer is still writing it; readers hold it back and never skip past it.
    Example: `{"run":4` at the end of the file.
    Fix: unsafe; wait if the loop is alive, else the tail is cut off, but for whole records that it begins or ends with,
    which get their newline. Where it is only white space, cutting it off is safe.
    """
    yield Finding(f"the last line is unfinished: {note.detail}")


@rule("L116", "missing-final-newline", Severity.WARNING, "note", "unterminated")
def missing_final_newline(note: Note) -> Findings:
    """Report a last record that is whole but lacks its newline.

    Why: the next append would end up on the same line.
    Example: a file that ends with `}`.
    Fix: safe; the newline is added.
    """
    yield Finding("the last line has no newline")


@rule("L117", "integer-beyond-64-bits", Severity.INFO, "note", "bigint")
def integer_beyond_64_bits(note: Note) -> Findings:
    """Report an integer outside signed 64 bits.

    Why: it is legal and its text is kept, but it is ordered by the nearest double and other tools round it.
    Example: `"metric":9223372036854776000`.
    Fix: none needed.
    """
    yield Finding(f"{note.detail[:40]} is outside 64 bits; its text is kept")


@rule("L118", "raw-control-character", Severity.ERROR, "note", "control")
def raw_control_character(note: Note) -> Findings:
    r"""Report a control character that stands unescaped in a text.

    Why: JSON forbids it, and strict parsers refuse the line.
    Example: a tab typed into a description.
    Fix: unsafe where the line is a record then: the characters are written as escapes; else none by machine; mend
    the line by hand, or accept that it is unread.
    """
    yield Finding(f"an unescaped control character {note.detail} stands in a text".replace("  ", " "))


@rule("L119", "conflict-marker", Severity.ERROR, "note", "conflict")
def conflict_marker(note: Note) -> Findings:
    """Report a git conflict marker.

    Why: a merge was committed half-done; the records around it belong to two histories.
    Example: `<<<<<<< HEAD`.
    Fix: unsafe where the markers of the conflict are whole: both sides are kept in time order, or one of them
    (`--ours`, `--theirs`); else none by machine: look up the merge in git.
    """
    yield Finding(f"a git conflict marker ({note.detail}) stands in the log")
