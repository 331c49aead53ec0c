"""Hold the two ways of decoding a line to each other, and to what JSON and its text say."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.log.jsontext import MAX_DEPTH, Note, decode, decode_many, dump, keys, load

SPACE = st.sampled_from(["", "", "", " ", "\t", "  \r"])
NUMBERS = st.one_of(
    st.integers(-(10**25), 10**25).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["-0", "1.50", "1e5", "1E+2", "0.10000000000000000001", "1e999", "-1e400", "NaN", "-Infinity", "1" * 320]
    ),
    st.sampled_from([str(2**power + step) for power in (53, 63, 64) for step in (-1, 0, 1)]),
)
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=4).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.text(max_size=3).map(json.dumps),
    st.sampled_from(
        ['"a"', '"\\u0061"', '": "', '", "', '"\\u0000"', '"\\\\u0000"', '"\\ud83d"', '"\\ud83d\\ude00"', '"\\/"']
    ),
)


@st.composite
def objects(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    """Draw an object's text: keys may be equal once unescaped, and white space is anywhere it may be."""
    members = [
        f"{draw(SPACE)}{draw(TEXTS)}{draw(SPACE)}:{draw(SPACE)}{draw(values)}{draw(SPACE)}"
        for _ in range(draw(st.integers(0, 3)))
    ]
    return "{" + ",".join(members) + "}"


@st.composite
def arrays(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    """Draw an array's text, now and then nested too deep."""
    depth = draw(st.sampled_from([1, 1, 1, 250, 260, 1100]))
    return "[" * depth + ",".join(draw(st.lists(values, max_size=2))) + "]" * depth


VALUES = st.recursive(
    st.one_of(NUMBERS, TEXTS, st.sampled_from(["true", "false", "null"])),
    lambda inner: st.one_of(objects(inner), arrays(inner)),
    max_leaves=4,
)
LINES = st.tuples(SPACE, st.one_of(objects(VALUES), objects(VALUES), VALUES), SPACE).map("".join)
PIECES = st.one_of(LINES, st.tuples(LINES, st.sampled_from([",", "]", "[", "}", '{"a":1'])).map("".join))


def exact(value: Any) -> Any:
    """Give a value in a form in which equal means equal in type and digit, -0.0 and 0.0 apart."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return type(value), repr(value)


@given(st.lists(PIECES, min_size=1, max_size=5))
@example(['{"a":9223372036854776000}'])
@example(['{"q":1},{"a":"b,"},[1', '{"a":"b, "}', "2]"])
@example(['{"a":1', '"b":2},{"c":3}'])
def test_many_accepts_only_what_one_has_nothing_to_note_on(texts: list[str]) -> None:
    lines = [text.encode("utf-8", "surrogatepass") for text in texts]
    for line, value in zip(lines, decode_many(lines), strict=True):
        one = decode(line)
        if value is not None:
            assert one.notes == ()
            assert exact(value) == exact(one.value)


@pytest.mark.parametrize("indent", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("escaped", [True, False])
def test_many_accepts_what_common_writers_write(indent: tuple[str, str], escaped: bool) -> None:
    values = [{"run": 1, "metric": 1.5, "a, b": {"c": [1, 2, None, True]}}, {"é": "ü, \u2028", "t": 'x": y'}, {}]
    lines = [json.dumps(value, separators=indent, ensure_ascii=escaped).encode() for value in values]
    assert decode_many(lines) == values


def test_many_leaves_to_one_what_is_no_object() -> None:
    assert decode_many([b"[1]", b"1", b'{"a":1}', b"", b"{"]) == [None, None, {"a": 1}, None, None]


DEEP = b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}"


@pytest.mark.parametrize(
    ("line", "kind", "column"),
    [
        (b'{"a":"\xff"}', "encoding", 7),
        (b'{"\xc3\xa9":"\xed\xa0\x80"}', "encoding", 8),
        (b'\xef\xbb\xbf{"a":1}', "bom", 1),
        (b'{"a":}', "syntax", 6),
        ('{"é":}'.encode(), "syntax", 7),
        (b'{"a":1', "syntax", 7),
        (b"\x00", "syntax", 1),
        (b'{"a":1} x', "trailing", 9),
        ('{"é":1}  {"b":2}'.encode(), "trailing", 11),
        (b'{"a":NaN}', "constant", 6),
        (b'{"a":"NaN","b":-Infinity}', "constant", 16),
        (b'{"a":"1e999","b":1e999}', "overflow", 18),
        (b'{"b":' + b"9" * 320 + b"}", "overflow", 6),
        (b'{"a":1,"a":2}', "duplicate", 8),
        (b'{"a":1,"\\u0061" :2}', "duplicate", 8),
        (b'{"b":{"a":1},"a":2,"c":"a","a":3}', "duplicate", 28),
        (b'[{"a":1},{"a":2,"b":{"a":0},"a":3}]', "duplicate", 29),
        (DEEP, "depth", 5 + MAX_DEPTH),
        (b'{"a":"\\ud83d"}', "surrogate", 7),
        (b'{"a":"\\ud83d\\ude00 \\\\ud83d \\ude00"}', "surrogate", 28),
        (b'{"a":"\\ud83d\\ud83d\\ude00"}', "surrogate", 7),
        (b'{"a":"\\\\u0000 \\u0000"}', "nul", 15),
        (b'{"a":9223372036854775808}', "bigint", 6),
        (b'{"a":[-1,-9223372036854775809]}', "bigint", 10),
        (b'{"a":"x\ty"}', "control", 8),
        (b"<<<<<<< HEAD", "conflict", 1),
        (b">>>>>>> branch", "conflict", 1),
    ],
)
def test_a_note_names_its_column(line: bytes, kind: str, column: int) -> None:
    assert [(note.kind, note.column) for note in decode(line).notes] == [(kind, column)]


@pytest.mark.parametrize(
    "line",
    [
        *(b'{"a":"\\ud83d\\ude00"}', b'{"a":"\\\\ud83d"}', b'{"a":"\\\\u0000"}', b'{"a":-9223372036854775808}'),
        *(
            b'{"a":{"b":1},"b":{"a":1}}',
            b'{"a":"<<<<<<<"}',
            b' {"a":1}\t\r',
            b'{"a":1e308,"b":-0,"c":1.50}',
            DEEP[:5] + DEEP[6:-2] + b"}",
        ),
    ],
)
def test_nothing_to_note(line: bytes) -> None:
    assert decode(line).notes == ()


def test_a_record_behind_a_byte_order_mark_is_read_and_its_columns_count_the_mark() -> None:
    value, notes = decode(b'\xef\xbb\xbf{"a":1,"a":2}')
    assert value == {"a": 2}
    assert notes == (Note("bom", 1), Note("duplicate", 11, "a"))


def test_numbers_are_read_exactly() -> None:
    value = decode(b'{"a":[1.50,0.1,0.10000000000000000001,1e5,-0,-0.0,9007199254740993]}').value
    assert list(map(repr, value["a"])) == [
        "1.5",
        "0.1",
        "Decimal('0.10000000000000000001')",
        "100000.0",
        "0",
        "-0.0",
        "9007199254740993",
    ]


@given(st.binary(max_size=60))
def test_decoding_never_raises(line: bytes) -> None:
    decode(line)
    decode_many([line, line])
    list(keys(line))


def test_keys_tell_their_column_and_depth() -> None:
    found = [(name, column, depth) for name, column, depth, _ in keys(b'{"a":{"b" : "c:"},"\\u0064":["e",{"f":1}]}')]
    assert found == [("a", 2, 1), ("b", 7, 2), ("d", 19, 1), ("f", 34, 2 + 1)]


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.text(st.characters(codec="utf-8")),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(allow_nan=False, allow_infinity=False, places=25, min_value=-9, max_value=9).filter(
            lambda d: Decimal(repr(float(d))) != d
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_what_is_dumped_loads_as_exactly_the_same(value: Any) -> None:
    text = dump(value)
    assert exact(load(text)) == exact(value)
    assert "\n" not in text and dump(load(text)) == text


def test_deep_values_are_dumped_too() -> None:
    value = decode(DEEP[:5] + DEEP[6:-2] + b"}").value
    assert load(dump(value)) == value
