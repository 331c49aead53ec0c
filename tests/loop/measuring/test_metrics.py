"""METRIC lines in a program's output, however it comes."""

import random
import time
import tracemalloc
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.base.numbers import number
from ledger.loop.measuring.metric_lines import LINE_BYTES, NAMES, WARNINGS, Metrics


def parsed(*chunks: bytes) -> Metrics:
    read = Metrics()
    for chunk in chunks:
        read.feed(chunk)
    read.close()
    return read


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        (b"METRIC total_ms=4230", "total_ms", 4230),
        (b"METRIC total_ms=4230\r", "total_ms", 4230),
        (b"METRIC total_ms=4230 \t", "total_ms", 4230),
        (b"METRIC  \t total_ms=4230", "total_ms", 4230),
        (b"METRIC loss=1.042", "loss", 1.042),
        (b"METRIC loss=4.5e3", "loss", 4500.0),
        (b"METRIC loss=-2E-3", "loss", -0.002),
        (b"METRIC loss=+7", "loss", 7),
        (b"METRIC loss=.5", "loss", 0.5),
        (b"METRIC loss=5.", "loss", 5.0),
        (b"METRIC loss=007", "loss", 7),
        (b"METRIC loss=0", "loss", 0),
        (b"METRIC big=9223372036854776000", "big", Decimal(9223372036854776000)),
        (b"METRIC fine=0.1000000000000000000001", "fine", Decimal("0.1000000000000000000001")),
        ("METRIC total_µs=3".encode(), "total_µs", 3),
        ("METRIC total_\u03bcs=3".encode(), "total_\u03bcs", 3),
        ("METRIC größe.größte=3".encode(), "größe.größte", 3),
        (b"METRIC a.b.c=3", "a.b.c", 3),
        (b"METRIC 95=3", "95", 3),
    ],
)
def test_a_metric_is_taken_exactly(line: bytes, name: str, value: Any):
    read = parsed(b"noise\n" + line + b"\nMETRIC\n")
    assert read.found == {name: value} and read.warnings == ()
    assert type(read.found[name]) is type(value)
    assert parsed(line).found == {name: value}, "the last line may lack its newline"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"METRIC t=NaN", "no finite decimal"),
        (b"METRIC t=Infinity", "no finite decimal"),
        (b"METRIC t=-inf", "no finite decimal"),
        (b"METRIC t=0x10", "no finite decimal"),
        (b"METRIC t=1e999", "no finite decimal"),
        (b"METRIC t=" + b"9" * 400, "no finite decimal"),
        (b"METRIC t=1e-99999999999999999999", "no finite decimal"),
        (b"METRIC t=12ms", "no finite decimal"),
        (b"METRIC t=1,5", "no finite decimal"),
        (b"METRIC t=1_000", "no finite decimal"),
        ("METRIC t=\u0661\u0662".encode(), "no finite decimal"),
        (b"METRIC t=.", "no finite decimal"),
        (b"METRIC t=1e", "no finite decimal"),
        (b"METRIC t=--1", "no finite decimal"),
        (b"METRIC t=", "not of the form"),
        (b"METRIC t= 1", "not of the form"),
        (b"METRIC t =1", "not of the form"),
        (b"METRIC t=1 ms", "not of the form"),
        (b"METRIC t=1 u=2", "not of the form"),
        (b"METRIC t=1 METRIC u=2", "not of the form"),
        (b"METRIC =1", "not of the form"),
        (b"METRIC a-b=1", "not of the form"),
        (b"METRIC a b=1", "not of the form"),
        (b"METRIC ", "not of the form"),
        (b"METRIC t=1\x00", "no finite decimal"),
        (b"METRIC t=\xff", "not UTF-8"),
        (b"METRIC \xb5s=1", "not UTF-8"),
        (b"METRIC __proto__=1", "no metric may have this name"),
        (b"METRIC constructor=1", "no metric may have this name"),
        (b"METRIC t=1" + b" " * LINE_BYTES, "longer than"),
        (b"METRIC t=" + b"1" * LINE_BYTES, "longer than"),
    ],
)
def test_anything_else_is_refused_with_a_warning(line: bytes, problem: str):
    read = parsed(b"METRIC ok=1\n" + line + b"\nMETRIC ok=2\n")
    (warning,) = read.warnings
    assert read.found == {"ok": 2}
    assert problem in warning and len(warning) < 200
    assert warning.endswith("…") or line[:7].decode().strip() in warning


@pytest.mark.parametrize(
    "line", [b" METRIC t=1", b"xMETRIC t=1", b"METRICS t=1", b"METRIC", b"metric t=1", b"\rMETRIC t=1", b"METRIC=1"]
)
def test_only_the_word_at_the_start_of_a_line_counts(line: bytes):
    read = parsed(b"first\n", line, b"\n", b"last")
    assert (read.found, read.warnings) == ({}, ())


def test_the_last_of_a_name_wins_and_the_order_is_that_of_the_first():
    read = parsed(b"METRIC b=1\nMETRIC a=2\nMETRIC b=3\r\nMETRIC b=x\n")
    assert list(read.found.items()) == [("b", 3), ("a", 2)]
    assert len(read.warnings) == 1


def test_a_warning_shows_nothing_that_steers_a_terminal():
    (warning,) = parsed(b"METRIC t=\x1b[31mred\x1b]0;title\x07\x08\n").warnings
    assert warning.isprintable() and warning.endswith(": METRIC t=red")


def test_warnings_and_names_are_bounded():
    read = parsed(b"METRIC t=NaN\n" * 500)
    assert len(read.warnings) == WARNINGS + 1
    assert read.warnings[-1] == "480 more METRIC lines were refused"
    many = parsed(*(b"METRIC n%d=1\n" % i for i in range(NAMES + 5)), b"METRIC n0=2\n")
    assert len(many.found) == NAMES and many.found["n0"] == 2
    assert len(many.warnings) == 5


PIECES = st.sampled_from(
    [b"METRIC", b"METRIC ", b"MET", b"RIC a=1", b"\n", b"\r\n", b"a=1", b"b=2.5e1", b"=", b" ", b"x", b"\xff", b"\n\n",
     b"METRIC a=3\n", b"\nMETRIC b=NaN\n", b"z" * 50, b"METRIC a=" + b"0" * LINE_BYTES, "µ".encode()]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map(b"".join), st.data())
@example(b"METRIC a=1", None)
def test_any_chunking_gives_the_same(output: bytes, data: st.DataObject | None):
    places = st.lists(st.integers(0, len(output)), max_size=40)
    cuts = range(len(output) + 1) if data is None else sorted({0, len(output), *data.draw(places)})
    read, whole = parsed(*(output[start:end] for start, end in pairwise(cuts))), parsed(output)
    assert list(read.found.items()) == list(whole.found.items())
    assert read.warnings == whole.warnings


@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_it_finds_what_a_plain_reading_of_the_lines_finds(output: bytes):
    found: dict[str, object] = {}
    for line in output.split(b"\n"):
        words = line.split()
        if line.startswith((b"METRIC ", b"METRIC\t")) and len(words) == 2 and len(line) <= LINE_BYTES:
            name, _, value = words[1].partition(b"=")
            try:
                found[name.decode()] = number(value.decode())
            except ValueError:
                continue
    found.pop("", None)
    assert parsed(output).found == found


@given(st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_what_its_text_says(value: float):
    read = number(repr(value))
    assert Decimal(repr(read) if isinstance(read, float) else read) == Decimal(repr(value))


@pytest.mark.parametrize("text", ["", " 1", "1\n", "1 ", "0x1", "NaN", "1e400", "-" + "1" * 5000, "١"])
def test_another_text_is_no_number(text: str):
    with pytest.raises(ValueError, match="it is"):
        number(text)
    assert number("0" * 5000 + "7") == 7


@pytest.mark.parametrize("start", [b"", b"METRIC t=", b"METRIC t=1\nMETRICS"], ids=["noise", "metric", "word"])
def test_endless_output_takes_no_memory_and_little_time(start: bytes):
    chunk, read = random.Random(5).randbytes(1 << 16).replace(b"\n", b"x"), Metrics()
    tracemalloc.start()
    try:
        began = time.process_time()
        read.feed(start)
        for _ in range(1600):  # 100 MiB without a newline
            read.feed(chunk)
        took, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    read.close()
    assert peak < 1 << 20
    assert took < 2, "far from the speed of a pipe"
