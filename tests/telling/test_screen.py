"""Colours and the trend on a real terminal, and nothing of either where there is none."""

import errno
import io
import os
import re
import subprocess
from pathlib import Path

import pytest

from ledger.base.text import columns, cut
from ledger.cli.support.output import paint, screen_of
from ledger.exports import Value, table
from ledger.telling.screen import ASCII, BLOCKS
from tests.support.cli import COMMAND, HEADER, environment, ledger, lines, log, run

SGR = re.compile(r"\x1b\[[0-9;]*m")
HOSTILE = "\x1b[31mred\x1b[0m\x1b]0;title\x07\u202e"
STATUSES = ("keep", "discard", "crash", "checks_failed")
RECORDS = [run(number, 10 - number, name, confidence=number / 2) for number, name in enumerate(STATUSES, 1)]
ONE = lines(HEADER, *RECORDS, run(5, 4, "keep", description=f"日本 {HOSTILE}", confidence=2.5))
TWO = ONE + lines({**HEADER, "bestDirection": "higher", "metricUnit": HOSTILE}, run(6, 1), run(7, 2))
MARKS = set(BLOCKS.levels)

terminal = pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")


def on_terminal(folder: Path, *arguments: str, width: int = 100, **variables: str) -> str:
    """Run a command with its output on a terminal, by default one with colours, and give what it wrote there."""
    import pty

    ours, theirs = pty.openpty()
    settings = {"NO_COLOR": "", "TERM": "xterm", "COLUMNS": str(width), **variables}
    with os.fdopen(ours, "rb", buffering=0) as screen, subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment(folder, **settings), stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        try:
            while part := screen.read(65536):
                written += part
        except OSError as error:
            if error.errno != errno.EIO:  # this is how Linux says that the other end is closed
                raise
        assert process.wait(timeout=60) == 0
    return written.decode().replace("\r\n", "\n")


def mirrored(folder: Path, data: bytes) -> None:
    log(folder, data)
    assert ledger(folder, "sync").code == 0


@terminal
def test_status_has_colours_on_a_terminal_alone(tmp_path: Path):
    log(tmp_path, ONE)
    coloured, plainly = on_terminal(tmp_path, "status"), ledger(tmp_path, "status", NO_COLOR="").out
    assert SGR.sub("", coloured) == plainly and "\x1b" not in plainly
    shown = {"green": "\x1b[32m", "dim": "\x1b[2m", "red": "\x1b[31m", "yellow": "\x1b[33m"}
    for word, colour in zip(STATUSES, shown.values(), strict=True):
        assert f": {colour}{word}\x1b[0m | total_ms" in coloured
    assert f"trend       █▇{shown['red']}×\x1b[0m▄▁  4 to 9 ms, down is better" in coloured
    assert on_terminal(tmp_path, "status", NO_COLOR="1") == plainly
    assert on_terminal(tmp_path, "status", TERM="dumb") == plainly


@terminal
@pytest.mark.parametrize("width", [50, 80, 200])
def test_colours_take_no_width(width: int, tmp_path: Path):
    mirrored(tmp_path, TWO)
    coloured = on_terminal(tmp_path, "runs", width=width)
    assert SGR.search(coloured)
    assert SGR.sub("", coloured) == on_terminal(tmp_path, "runs", width=width, NO_COLOR="1")
    assert all(columns(line) <= width for line in SGR.sub("", coloured).splitlines())
    assert set(SGR.findall(coloured)) <= {"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"}
    assert all(char.isprintable() or char == "\n" for char in SGR.sub("", coloured))


@terminal
def test_runs_of_one_segment_are_drawn_above_their_table(tmp_path: Path):
    mirrored(tmp_path, ONE)
    drawn = "█▇×▄▁  4 to 9 ms, down is better"
    assert on_terminal(tmp_path, "runs", NO_COLOR="1").splitlines()[:2] == [drawn, ""]
    for order in ("metric", "status,-line"):  # whatever the order of the table
        assert on_terminal(tmp_path, "runs", "--sort", order, NO_COLOR="1").splitlines()[0] == drawn
    kept = on_terminal(tmp_path, "runs", "--status", "keep", "--wide", NO_COLOR="1")
    assert kept.splitlines()[0] == "█▁  4 to 9 ms, down is better"
    assert on_terminal(tmp_path, "runs", "--limit", "1", NO_COLOR="1").splitlines()[0] == "▄  9 ms, down is better"


@terminal
def test_nothing_is_drawn_for_several_segments_or_other_views_and_formats(tmp_path: Path):
    mirrored(tmp_path, TWO)
    assert not MARKS & set(on_terminal(tmp_path, "runs"))
    of_second = on_terminal(tmp_path, "runs", "--since", "2023-11-14T22:13:26Z", NO_COLOR="1")
    assert of_second.splitlines()[0] == "▁█  1 to 2 red, up is better"
    assert ledger(tmp_path, "forget", "--yes", "autoresearch.jsonl").code == 0
    mirrored(tmp_path, ONE)
    for name in ("json", "csv", "markdown"):
        written = on_terminal(tmp_path, "runs", "--limit", "5", "--format", name)
        assert not MARKS & set(written) and not SGR.search(written)
    for view in ("segments", "events"):
        assert not MARKS & set(on_terminal(tmp_path, view))
    assert on_terminal(tmp_path, "runs", "--status", "nothing").startswith("path  line")


def test_nothing_is_drawn_where_there_is_no_terminal(tmp_path: Path):
    mirrored(tmp_path, ONE)
    code, out, _ = ledger(tmp_path, "runs", NO_COLOR="", COLUMNS="100")
    assert code == 0 and out.startswith("path ") and not MARKS & set(out) and "\x1b" not in out


def test_status_draws_what_the_encoding_can_say(tmp_path: Path):
    log(tmp_path, ONE)
    code, out, _ = ledger(tmp_path, "status", PYTHONIOENCODING="ascii")
    assert code == 0 and "\ntrend       @#x=.  4 to 9 ms, down is better\n" in out


def test_status_keeps_to_the_stated_width(tmp_path: Path):
    log(tmp_path, lines(HEADER, *(run(number, number) for number in range(1, 200))))
    widths = {}
    for width in ("", "30", "60", "90"):
        out = ledger(tmp_path, "status", COLUMNS=width).out
        (widths[width],) = (len(line) for line in out.splitlines() if line.startswith("trend "))
    assert widths[""] > 90 >= widths["90"] > 60 >= widths["60"] > 30 >= widths["30"]


def test_a_table_is_aligned_whatever_is_painted():
    heads = ["run", "status", "metric", "confidence"]
    rows: list[list[Value]] = [[1, "keep", 1.5, 2.25], [22, "checks_failed", 10.0, None], [3, "measured", None, 0.5]]
    bare, painted = io.StringIO(), io.StringIO()
    table.write(heads, rows, bare)
    table.write(heads, rows, painted, paint)
    assert SGR.sub("", painted.getvalue()) == bare.getvalue()
    assert painted.getvalue().count("\x1b[0m") == 4


def test_what_a_stream_can_show():
    assert screen_of(io.TextIOWrapper(io.BytesIO(), "utf-8")).ramp is BLOCKS
    assert screen_of(io.TextIOWrapper(io.BytesIO(), "iso8859-1")).ramp is ASCII
    assert screen_of(io.StringIO()).ramp is ASCII  # nothing says how it is going to be encoded
    assert paint("", "red") == "" and paint("a", None) == "a"


def test_characters_take_the_columns_that_a_terminal_gives_them():
    texts = "é ≤ █ …", "한글", "e\u0301", "👨\u200d👩\u200d👧", "✌\ufe0f"
    assert [columns(text) for text in texts] == [7, 4, 1, 2, 2]
    assert columns(cut("✌\ufe0f" * 9, 6)) == 6 and cut("한글 한글", 6) == "한글…"
